-- A log as dga2d wrote it on PostgreSQL while its schema had number 3: pg_dump --no-owner --inserts, four events.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE FUNCTION public.dga2d_charges_only_once() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO '$user', 'public'
    AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM added a JOIN lineages l ON l.run_id = a.run_id
             JOIN charges p ON p.run_id = l.ancestor AND p.kind = a.kind AND p.number = a.number
             AND p.seq <= l.until_seq) THEN
    RAISE EXCEPTION 'charges are append-only' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END$$;
CREATE FUNCTION public.dga2d_charges_within_quota() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO '$user', 'public'
    AS $$
DECLARE
  charged record;
  total numeric;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'charges are inserted under READ COMMITTED'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  FOR charged IN SELECT run_id, kind, min(quota) AS quota FROM added WHERE quota IS NOT NULL
                 GROUP BY run_id, kind ORDER BY run_id, kind LOOP
    PERFORM 1 FROM runs WHERE run_id = charged.run_id FOR NO KEY UPDATE;
    SELECT coalesce(sum(coalesce(s.amount, c.amount)), 0) INTO total
      FROM charges c LEFT JOIN settlements s USING (run_id, kind, number)
      WHERE c.run_id = charged.run_id AND c.kind = charged.kind;
    SELECT total + coalesce(sum(coalesce(s.amount, c.amount)), 0) INTO total
      FROM lineages l
      JOIN charges c ON c.run_id = l.ancestor AND c.kind = charged.kind AND c.seq <= l.until_seq
      LEFT JOIN settlements s ON s.run_id = c.run_id AND s.kind = c.kind AND s.number = c.number
        AND s.seq <= l.until_seq
      WHERE l.run_id = charged.run_id;
    IF total > charged.quota THEN
      RAISE EXCEPTION 'the quota is reached' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
  END LOOP;
  RETURN NULL;
END$$;
CREATE FUNCTION public.dga2d_events_only_at_the_end() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO '$user', 'public'
    AS $$
DECLARE
  run record;
  inherited bigint;
  previous bigint;
BEGIN
  FOR run IN SELECT run_id, min(seq) AS first, max(seq) AS last, count(*) AS n FROM added GROUP BY run_id LOOP
    SELECT max(until_seq) INTO inherited FROM lineages WHERE run_id = run.run_id;
    SELECT seq INTO previous FROM events WHERE run_id = run.run_id AND seq < run.first
      ORDER BY seq DESC LIMIT 1;
    IF run.last - run.first + 1 <> run.n OR run.first <> 1 + coalesce(previous, inherited, 0)
       OR inherited IS NOT NULL AND EXISTS (
         SELECT 1 FROM added a JOIN lineages l ON l.run_id = a.run_id
         JOIN events e ON e.run_id = l.ancestor AND e.operation = a.operation AND e.seq <= l.until_seq
         WHERE a.run_id = run.run_id) THEN
      RAISE EXCEPTION 'events are append-only' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
  END LOOP;
  RETURN NULL;
END$$;
CREATE FUNCTION public.dga2d_lineages_only_of_new_runs() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO '$user', 'public'
    AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM added a JOIN events e ON e.run_id = a.run_id) THEN
    RAISE EXCEPTION 'lineages are append-only' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END$$;
CREATE FUNCTION public.dga2d_refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO '$user', 'public'
    AS $$
BEGIN
  RAISE EXCEPTION '% are append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END$$;
CREATE FUNCTION public.dga2d_reservations_only_once() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO '$user', 'public'
    AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM added a JOIN lineages l ON l.run_id = a.run_id
             JOIN reservations p ON p.run_id = l.ancestor AND p.kind = a.kind AND p.number = a.number
             AND p.seq <= l.until_seq) THEN
    RAISE EXCEPTION 'reservations are append-only' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END$$;
CREATE FUNCTION public.dga2d_settlements_only_once() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO '$user', 'public'
    AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM added a JOIN lineages l ON l.run_id = a.run_id
             JOIN settlements p ON p.run_id = l.ancestor AND p.kind = a.kind AND p.number = a.number
             AND p.seq <= l.until_seq) THEN
    RAISE EXCEPTION 'settlements are append-only' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END$$;
CREATE FUNCTION public.dga2d_settlements_within_charge() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO '$user', 'public'
    AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM added a JOIN charges c USING (run_id, kind, number) WHERE a.amount > c.amount) THEN
    RAISE EXCEPTION 'more than was charged' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END$$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.blobs (
    digest character varying NOT NULL,
    data bytea NOT NULL,
    size bigint NOT NULL
);
CREATE TABLE public.charges (
    run_id character varying NOT NULL,
    kind character varying NOT NULL,
    number bigint NOT NULL,
    amount bigint NOT NULL,
    quota bigint,
    seq bigint NOT NULL,
    CONSTRAINT charges_amount_check CHECK ((amount >= 0))
);
CREATE TABLE public.events (
    run_id character varying NOT NULL,
    seq bigint NOT NULL,
    event_id character varying NOT NULL,
    type character varying NOT NULL,
    version integer NOT NULL,
    agent character varying NOT NULL,
    generation bigint,
    caused_by bigint,
    recorded_at bigint NOT NULL,
    operation character varying,
    payload bytea NOT NULL,
    prev_hash bytea NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT events_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT events_seq_check CHECK ((seq >= 1))
);
CREATE TABLE public.leases (
    run_id character varying NOT NULL,
    epoch bigint NOT NULL,
    holder character varying NOT NULL,
    host character varying NOT NULL,
    pid bigint NOT NULL,
    process_started bigint NOT NULL,
    expires_at bigint NOT NULL
);
CREATE TABLE public.lineages (
    run_id character varying NOT NULL,
    ancestor character varying NOT NULL,
    until_seq bigint NOT NULL
);
CREATE TABLE public.quotas (
    run_id character varying NOT NULL,
    kind character varying NOT NULL,
    amount bigint NOT NULL
);
CREATE TABLE public.reservations (
    run_id character varying NOT NULL,
    kind character varying NOT NULL,
    number bigint NOT NULL,
    quota bigint NOT NULL,
    seq bigint NOT NULL,
    CONSTRAINT reservations_check CHECK (((number >= 1) AND (number <= quota)))
);
CREATE TABLE public.runs (
    run_id character varying NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE public.schema_version (
    version integer NOT NULL
);
COMMENT ON TABLE public.schema_version IS 'event logs of dga2d';
CREATE TABLE public.settlements (
    run_id character varying NOT NULL,
    kind character varying NOT NULL,
    number bigint NOT NULL,
    amount bigint NOT NULL,
    seq bigint NOT NULL,
    CONSTRAINT settlements_amount_check CHECK ((amount >= 0))
);
CREATE TABLE public.snapshots (
    run_id character varying NOT NULL,
    seq bigint NOT NULL,
    event_hash bytea NOT NULL,
    digest character varying NOT NULL,
    data bytea NOT NULL
);
INSERT INTO public.blobs VALUES ('fa2c8cc4f28176bbeed4b736df569a34c79cd3723e9ec42f9674b4d46ac6b8b8', '\x626c6f62', 4);
INSERT INTO public.charges VALUES ('run-1', 'llm-token', 1, 0, 100, 4);
INSERT INTO public.charges VALUES ('run-1', 'llm-microusd', 1, 0, NULL, 4);
INSERT INTO public.events VALUES ('run-1', 1, '01a207bf-1d49-7b61-8d4b-11351d665e97', 'RunPaused', 1, 'conductor', NULL, NULL, 1795426295113114, NULL, '\x7b22726561736f6e223a2230227d', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xc92197eaeb46b7d640a1b5d28a91d0179a85964295da92045a5647f01c55e760');
INSERT INTO public.events VALUES ('run-1', 2, '01a207bf-1d49-7b61-8d4b-11351d665e98', 'RunPaused', 1, 'conductor', NULL, NULL, 1795426295113114, NULL, '\x7b22726561736f6e223a2231227d', '\xc92197eaeb46b7d640a1b5d28a91d0179a85964295da92045a5647f01c55e760', '\x72076af9b8df9739c940625f126e97359cd5222f8847e5dfca8696a1a6e2a1e8');
INSERT INTO public.events VALUES ('run-1', 3, '01a207bf-1d49-7b61-8d4b-11351d665e99', 'RunPaused', 1, 'conductor', NULL, NULL, 1795426295113114, NULL, '\x7b22726561736f6e223a2232227d', '\x72076af9b8df9739c940625f126e97359cd5222f8847e5dfca8696a1a6e2a1e8', '\x00163bb9eb211899a91d04fbb953e5e647d5d1e9ba4c4311c37dbc07d7f6ec3d');
INSERT INTO public.events VALUES ('run-1', 4, '01a207bf-1d6c-7759-89f2-5e158cfbc54c', 'LLMCallReserved', 1, 'initializer', NULL, NULL, 1795426295148364, 'llm-call/1', '\x7b22617474656d7074223a312c2263616c6c223a312c226d6f64656c223a226d222c2270726f6d7074223a2230303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030222c22707572706f7365223a22696e697469616c697a65222c2272657365727665645f6d6963726f757364223a302c2272657365727665645f746f6b656e73223a302c227375626a656374223a22696e697469616c697a65222c2274656d706c617465223a22742f31227d', '\x00163bb9eb211899a91d04fbb953e5e647d5d1e9ba4c4311c37dbc07d7f6ec3d', '\xed1ec812939072a97dd460b7749c310a86436b33192639ba523fc89dd31f831d');
INSERT INTO public.leases VALUES ('run-1', 1, '', 'machine', 1, 1, 0);
INSERT INTO public.quotas VALUES ('run-1', 'llm-call', 9);
INSERT INTO public.quotas VALUES ('run-1', 'llm-token', 100);
INSERT INTO public.reservations VALUES ('run-1', 'llm-call', 1, 9, 4);
INSERT INTO public.runs VALUES ('run-1', 1795426295050667);
INSERT INTO public.schema_version VALUES (3);
ALTER TABLE ONLY public.blobs
    ADD CONSTRAINT blobs_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY public.charges
    ADD CONSTRAINT charges_pkey PRIMARY KEY (run_id, kind, number);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_event_id_key UNIQUE (event_id);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (run_id, seq);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_run_id_operation_key UNIQUE (run_id, operation);
ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (run_id);
ALTER TABLE ONLY public.lineages
    ADD CONSTRAINT lineages_pkey PRIMARY KEY (run_id, ancestor);
ALTER TABLE ONLY public.quotas
    ADD CONSTRAINT quotas_pkey PRIMARY KEY (run_id, kind, amount);
ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT reservations_pkey PRIMARY KEY (run_id, kind, number);
ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (run_id);
ALTER TABLE ONLY public.settlements
    ADD CONSTRAINT settlements_pkey PRIMARY KEY (run_id, kind, number);
ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT snapshots_pkey PRIMARY KEY (run_id, seq);
CREATE TRIGGER blobs_refuse_truncate BEFORE TRUNCATE ON public.blobs FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER blobs_refuse_update BEFORE UPDATE ON public.blobs FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER charges_only_once AFTER INSERT ON public.charges REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_charges_only_once();
CREATE TRIGGER charges_refuse_delete BEFORE DELETE ON public.charges FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER charges_refuse_truncate BEFORE TRUNCATE ON public.charges FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER charges_refuse_update BEFORE UPDATE ON public.charges FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER charges_within_quota AFTER INSERT ON public.charges REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_charges_within_quota();
CREATE TRIGGER events_only_at_the_end AFTER INSERT ON public.events REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_events_only_at_the_end();
CREATE TRIGGER events_refuse_delete BEFORE DELETE ON public.events FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER events_refuse_truncate BEFORE TRUNCATE ON public.events FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER events_refuse_update BEFORE UPDATE ON public.events FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER lineages_only_of_new_runs AFTER INSERT ON public.lineages REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_lineages_only_of_new_runs();
CREATE TRIGGER lineages_refuse_delete BEFORE DELETE ON public.lineages FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER lineages_refuse_truncate BEFORE TRUNCATE ON public.lineages FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER lineages_refuse_update BEFORE UPDATE ON public.lineages FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER quotas_refuse_delete BEFORE DELETE ON public.quotas FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER quotas_refuse_truncate BEFORE TRUNCATE ON public.quotas FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER quotas_refuse_update BEFORE UPDATE ON public.quotas FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER reservations_only_once AFTER INSERT ON public.reservations REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_reservations_only_once();
CREATE TRIGGER reservations_refuse_delete BEFORE DELETE ON public.reservations FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER reservations_refuse_truncate BEFORE TRUNCATE ON public.reservations FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER reservations_refuse_update BEFORE UPDATE ON public.reservations FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER runs_refuse_delete BEFORE DELETE ON public.runs FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER runs_refuse_truncate BEFORE TRUNCATE ON public.runs FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER runs_refuse_update BEFORE UPDATE ON public.runs FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER settlements_only_once AFTER INSERT ON public.settlements REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_settlements_only_once();
CREATE TRIGGER settlements_refuse_delete BEFORE DELETE ON public.settlements FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER settlements_refuse_truncate BEFORE TRUNCATE ON public.settlements FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER settlements_refuse_update BEFORE UPDATE ON public.settlements FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_refuse_change();
CREATE TRIGGER settlements_within_charge AFTER INSERT ON public.settlements REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.dga2d_settlements_within_charge();
ALTER TABLE ONLY public.charges
    ADD CONSTRAINT charges_run_id_kind_quota_fkey FOREIGN KEY (run_id, kind, quota) REFERENCES public.quotas(run_id, kind, amount);
ALTER TABLE ONLY public.charges
    ADD CONSTRAINT charges_run_id_seq_fkey FOREIGN KEY (run_id, seq) REFERENCES public.events(run_id, seq);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(run_id);
ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(run_id);
ALTER TABLE ONLY public.lineages
    ADD CONSTRAINT lineages_ancestor_until_seq_fkey FOREIGN KEY (ancestor, until_seq) REFERENCES public.events(run_id, seq);
ALTER TABLE ONLY public.lineages
    ADD CONSTRAINT lineages_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(run_id);
ALTER TABLE ONLY public.quotas
    ADD CONSTRAINT quotas_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(run_id);
ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT reservations_run_id_kind_quota_fkey FOREIGN KEY (run_id, kind, quota) REFERENCES public.quotas(run_id, kind, amount);
ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT reservations_run_id_seq_fkey FOREIGN KEY (run_id, seq) REFERENCES public.events(run_id, seq);
ALTER TABLE ONLY public.settlements
    ADD CONSTRAINT settlements_run_id_kind_number_fkey FOREIGN KEY (run_id, kind, number) REFERENCES public.charges(run_id, kind, number);
ALTER TABLE ONLY public.settlements
    ADD CONSTRAINT settlements_run_id_seq_fkey FOREIGN KEY (run_id, seq) REFERENCES public.events(run_id, seq);
ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT snapshots_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.runs(run_id);
