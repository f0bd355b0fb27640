"""A PostgreSQL server of the tests' own: a cluster in a temporary folder, reached by a socket in it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, make_url

USER = "tests"
CLUSTER_OPTIONS = ("--auth=trust", f"--username={USER}", "--encoding=UTF8", "--no-locale", "--no-sync")
SERVER_OPTIONS = {
    "listen_addresses": "",
    "fsync": "off",  # servers are killed here, machines are not
    "max_connections": "200",
    "shared_buffers": "16MB",
    "autovacuum_naptime": "10s",
}


def find_binaries() -> Path | None:
    """Return the folder of ``initdb`` and ``postgres``, the newest version there is."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    on_path = shutil.which("initdb")
    return next(
        (
            folder
            for folder in [*reversed(folders), *([Path(on_path).parent] if on_path else [])]
            if (folder / "postgres").exists()
        ),
        None,
    )


class PostgresServer:
    """The server; may be stopped, killed and started again."""

    def __init__(self, binaries: Path, folder: Path, options: dict[str, str]) -> None:
        self.folder = folder
        self._binaries = binaries
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = count()
        # The server refuses to run as root.
        self._identity: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            self._identity = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        command = [str(binaries / "initdb"), "-D", str(folder / "data"), *CLUSTER_OPTIONS]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, **self._identity)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        settings = [f"--{name}={value}" for name, value in self._options.items()]
        command = [str(self._binaries / "postgres"), "-D", f"{self.folder}/data", "-k", str(self.folder)]
        with (self.folder / "server.log").open("ab") as log:
            process: subprocess.Popen[bytes] = subprocess.Popen(
                [*command, *settings], stdout=log, stderr=log, cwd=self.folder, **self._identity
            )
        self._process = process
        deadline = time.monotonic() + 60
        while (
            subprocess.run([self._binaries / "pg_isready", "-q", "-h", self.folder, "-U", USER]).returncode
            != 0
        ):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self.folder / "server.log").read_text())
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the server: ``SIGINT`` cuts all connections, ``SIGQUIT`` is a crash that recovers from the log,
        ``SIGKILL`` gives it no time to tell anybody."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process = None
            self._wait_for_backends()

    def restart(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop and start."""
        self.stop(how)
        self.start()

    def _wait_for_backends(self) -> None:
        """Backends of a killed server notice by themselves; until then a new one will not start."""
        pid_file = self.folder / "data" / "postmaster.pid"
        if pid_file.exists():  # killed
            time.sleep(0.2)
            pid_file.unlink()

    def new_url(self) -> str:
        """Return the URL of a schema that is not there yet."""
        return self.url(schema=f"log_{next(self._numbers)}")

    def url(self, database: str = "postgres", **options: str) -> str:
        """Return the URL of a database, or a schema of it."""
        query = {"host": str(self.folder), **options}
        return str(URL.create("postgresql+asyncpg", USER, database=database, query=query))

    def sql(self, statement: str, url: str | None = None) -> str:
        """Run statements as any program may; returns the rows, columns apart by ``|``."""
        command = [str(self._binaries / "psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", str(self.folder)]
        parts = make_url(url or self.url())
        schema = parts.query.get("schema", "public")
        done = subprocess.run(
            [*command, "-U", USER, "-d", str(parts.database), "-c", statement],
            capture_output=True,
            text=True,
            env={**os.environ, "PGOPTIONS": f"-c search_path={schema}"},
        )
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()

    def copy_database(self, source: str, target: str) -> None:
        """Copy by ``pg_dump`` and ``pg_restore`` into an empty database."""
        where = ["-h", str(self.folder), "-U", USER]
        dump = subprocess.run(
            [str(self._binaries / "pg_dump"), *where, "-Fc", source], capture_output=True, check=True
        )
        restore = [str(self._binaries / "pg_restore"), *where, "--exit-on-error", "-d", target]
        subprocess.run(restore, input=dump.stdout, check=True)


@contextmanager
def running_server(options: dict[str, str] | None = None) -> Iterator[PostgresServer]:
    """Start a server for the length of the block; skips the test where there is none to start, unless
    ``DGA2D_NEEDS_POSTGRES`` is set."""
    binaries = find_binaries()
    if binaries is None:
        reason = "no PostgreSQL server is installed (Debian: apt-get install postgresql)"
        if os.environ.get("DGA2D_NEEDS_POSTGRES"):
            pytest.fail(reason)
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="dga2d-pg-"))
    try:
        server = PostgresServer(binaries, folder, {**SERVER_OPTIONS, **(options or {})})
        server.start()
        try:
            yield server
        finally:
            server.stop(signal.SIGQUIT)
    finally:
        shutil.rmtree(folder)
