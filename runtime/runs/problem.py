"""A domain with its instances, generated ones or the published ones below a data folder."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from dga2d.agents.spreading import spread
from dga2d.domains.core.contract import Domain, Instance, InstanceRef, Part, own_score_of, settings_of
from dga2d.domains.core.errors import DomainError
from dga2d.domains.core.paper_suite import paper_refs
from dga2d.domains.core.registry import domain_names, get_domain
from dga2d.domains.core.splits import Splits, split
from dga2d.events import InstanceKey
from dga2d.events.payloads import InstanceEntry, SplitManifest
from dga2d.replay.settings import RunSettings
from dga2d.runtime.errors import SettingsError, UsageError
from dga2d.runtime.runs.config import make_settings

EVERY_GROUP = "all"
MOST_SIZE_CHARS = 300
"""Characters in which an instance says how large it is; twice as many with ranges of values."""
MOST_SIZED = 16
"""Training instances that say it: reading or generating one takes up to half a second."""


class Problem:
    """Instances of one domain by key, loaded when first needed (implements ``InstanceSource``).

    `others` are in no split; they can be had by their keys.
    """

    def __init__(
        self, domain: Domain, refs: Sequence[InstanceRef], others: Sequence[InstanceRef] = ()
    ) -> None:
        self.domain = domain
        self.splits: Splits = split(refs)
        self.others = tuple(others)
        ordered = [ref for part in self.splits for ref in part]
        self._refs = {ref.key: ref for ref in (*ordered, *others)}
        self._index = {ref.key: number for number, ref in enumerate(ordered)}
        self._loaded: dict[str, Instance] = {}
        self._sizes: dict[str, int] = {}

    @classmethod
    def open(
        cls,
        domain_name: str,
        data_dir: Path | None,
        group: str = EVERY_GROUP,
        suite: str = "any",
        test_group: str = "",
    ) -> Problem:
        """Open the domain called `domain_name` with its generated or published instances, or with those of
        the paper where the `suite` is that; of a `group` or of several, divided by commas. The held-out
        instances are of `test_group`, where one is named.

        Raises
        ------
        UnknownDomainError
            There is no such domain.
        UsageError
            The data folder holds no instance of the domain, there is no such group, or none is held out.
        InstanceFormatError
            A table of best-known values is malformed.
        NoSuiteError, IncompleteSuiteError
            The paper has no instances of the domain, or files of them are missing.
        """
        domain = get_domain(domain_name)
        refs = _found_refs(domain, data_dir, suite)
        own = _of_group(domain_name, refs, group)
        if not test_group:
            chosen = {ref.key for ref in own}
            return cls(domain, own, [ref for ref in refs if ref.only_named and ref.key not in chosen])
        parts = split(own)
        kept = (*_in_part(parts.train, "train"), *_in_part(parts.validation, "validation"))
        used = {ref.key for ref in kept}
        tested = {
            ref.key: ref
            for name in test_group.split(",")  # each by itself, so that the same names are held out in all
            for ref in split(_of_group(domain_name, refs, name.strip())).test
            if ref.key not in used
        }
        if not tested:
            raise UsageError(f"{domain_name}: the run itself uses all held-out instances of {test_group}")
        return cls(domain, (*kept, *_in_part(tested.values(), "test")))

    def recorded(self, manifest: SplitManifest) -> Problem:
        """Return the problem with the splits of a log: those of `manifest`, whatever was added since.

        Raises
        ------
        UsageError
            Instances of the log are not there any more.
        """
        if self.splits.digest() == manifest.digest:
            return self
        parts = {name: [entry.key for entry in getattr(manifest, name)] for name in Splits._fields}
        missing = [key for keys in parts.values() for key in keys if key not in self._refs]
        if missing:
            several = f"{missing[0]!r} and {len(missing) - 1} more" if missing[1:] else repr(missing[0])
            raise UsageError(f"{self.domain.name} has no instance {several}")
        train, validation, test = ([self._refs[key] for key in keys] for keys in parts.values())
        used = {key for keys in parts.values() for key in keys}
        return Problem(
            self.domain,
            (*_in_part(train, "train"), *_in_part(validation, "validation"), *_in_part(test, "test")),
            [ref for key, ref in self._refs.items() if key not in used],
        )

    def instance(self, key: str) -> Instance:
        """Return the instance called `key`.

        Raises
        ------
        UsageError
            There is none; the message says where to look for one.
        """
        if key not in self._loaded:
            self._loaded[key] = self.domain.load(self.ref(key))
        return self._loaded[key]

    def ref(self, key: str) -> InstanceRef:
        """Return where to find the instance called `key`, or with that bare name. Raises as `instance`."""
        if key in self._refs:
            return self._refs[key]
        named = [ref for ref in self._refs.values() if ref.name == key]
        if len(named) == 1:
            return named[0]
        known = [*self._refs, *(ref.name for ref in self._refs.values())]
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(
            f"{self.domain.name} has no instance {key!r}; {hint}"
            f"`dga2d domains {self.domain.name} --json` lists them, a file path works too"
        )

    def smoke_instance(self) -> Instance:
        """Return the domain's small instance for trial runs."""
        return self.domain.smoke_instance()

    def index(self, key: str) -> int:
        """Return the position in the manifest: training, validation, test."""
        return self._index[key]

    def size(self, key: str) -> int:
        """Return how many numbers the environment of the instance called `key` holds, at least 1."""
        if key not in self._sizes:
            environment = self.domain.environment(self.instance(key))
            self._sizes[key] = sum(int(np.size(value)) for value in environment.values())
        return self._sizes[key]

    def size_in_words(self, key: str, *, with_values: bool = False) -> str:
        """Return scalars and shapes of arrays of the environment of the instance called `key`; `with_values`
        also between which values the finite entries of each array lie."""
        environment = self.domain.environment(self.instance(key))
        parts = []
        for name in sorted(environment):
            shape = np.shape(environment[name])
            is_plain = isinstance(environment[name], int | float | np.number)
            if shape:
                told = f"{name} {'x'.join(map(str, shape))}"
                parts.append(told + (_range_in_words(environment[name]) if with_values else ""))
            elif is_plain:
                parts.append(f"{name} = {environment[name]}")
        return ", ".join(parts)[: MOST_SIZE_CHARS * (1 + with_values)]

    def manifest(
        self,
        measured: Mapping[str, InstanceEntry],
        *,
        tells_sizes: bool = False,
        tells_values: bool = False,
    ) -> SplitManifest:
        """Return the splits as the log records them; `measured` has an entry for each without a reference.

        With `tells_sizes` some of training, evenly spread, say how large they are, for prompts, with
        `tells_values` also between which values their entries lie.
        """
        parts = {name: _entries(part, measured) for name, part in self.splits._asdict().items()}
        if tells_sizes:
            told = spread([entry.key for entry in parts["train"]], MOST_SIZED)
            sizes = {key: self.size_in_words(key, with_values=tells_values) for key in told}
            parts["train"] = tuple(
                entry.model_copy(update={"size": sizes.get(entry.key)}) for entry in parts["train"]
            )
        return SplitManifest(**parts, digest=self.splits.digest())


def _range_in_words(array: Any) -> str:
    """Return between which values the finite entries of an array lie; empty for what holds no numbers."""
    values = np.asarray(array)
    if values.dtype.kind not in "biuf":
        return ""
    finite = values[np.isfinite(values)]
    return f" of {finite.min():g} to {finite.max():g}" if finite.size else ""


def _found_refs(domain: Domain, data_dir: Path | None, suite: str) -> Sequence[InstanceRef]:
    if suite == "paper":
        return paper_refs(domain, data_dir)
    if data_dir is None:
        return domain.generated()
    refs = domain.published(data_dir)
    if not refs:
        raise UsageError(f"{data_dir / domain.name}: no {domain.name} instances found below --data")
    return [ref for ref in refs if ref.reference is not None] or refs


def _in_part(refs: Iterable[InstanceRef], part: Part) -> list[InstanceRef]:
    """Return `refs` as instances that say themselves to which part they belong."""
    return [replace(ref, part=part) for ref in refs]


def _of_group(domain_name: str, refs: Sequence[InstanceRef], group: str) -> Sequence[InstanceRef]:
    if group == EVERY_GROUP:
        return [ref for ref in refs if not ref.only_named]
    wanted, known = {name.strip() for name in group.split(",")}, {ref.group for ref in refs}
    if unmatched := sorted(name for name in wanted if "/" in name and not _matching(refs, name)):
        raise UsageError(f"{domain_name} has no instance that {unmatched[0]!r} matches")
    if unknown := sorted(name for name in wanted - known if "/" not in name):
        near = difflib.get_close_matches(unknown[0], known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(
            f"{domain_name} has no group {unknown[0]!r}; {hint}it has {', '.join(sorted(known))}"
        )
    chosen = {ref.key for name in wanted for ref in _matching(refs, name)}
    return [ref for ref in refs if ref.key in chosen]


def _matching(refs: Iterable[InstanceRef], name: str) -> list[InstanceRef]:
    return [ref for ref in refs if is_of_group(ref.key, name)]


def is_of_group(key: str, name: str) -> bool:
    """Return whether the instance called `key` is of the group `name`, or matches ``GROUP/PATTERN``."""
    return fnmatchcase(key, name) if "/" in name else key.rpartition("/")[0] == name


def _entries(refs: Sequence[InstanceRef], measured: Mapping[str, InstanceEntry]) -> tuple[InstanceEntry, ...]:
    return tuple(
        measured[ref.key]
        if ref.key in measured or ref.reference is None
        else InstanceEntry(key=InstanceKey(ref.key), reference=ref.reference.value)
        for ref in refs
    )


def settings_for(
    domain_name: str, file_values: Mapping[str, Any], flag_values: Mapping[str, Any]
) -> RunSettings:
    """Return the effective settings of a run on a domain, which may have defaults of its own.

    A domain with a score of its own trains on one instance of each group if not told otherwise.

    Raises
    ------
    SettingsError, UnknownDomainError, UsageError
        A setting cannot be used; there is no such domain or group.
    """
    domain = get_domain(domain_name)
    values = settings_of(domain)
    given = {**file_values, **{k: v for k, v in flag_values.items() if v is not None}}
    if None not in (given.get("work"), given.get("work_seconds")):
        raise SettingsError("work and work_seconds are two ways to give one budget: leave one of them out")
    if own_score_of(domain) is not None:
        group = str(given.get("group", EVERY_GROUP))
        refs = _of_group(domain_name, domain.generated(), group)
        values = {"batch_size": len({ref.group for ref in refs}), **values}
    return make_settings(file_values, flag_values, values)


def inventory(data_dir: Path | None) -> list[dict[str, Any]]:
    """Return one row per domain and group: sizes of its splits and kinds of its references.

    With `data_dir` these are the published instances found there, without it those the program generates.

    Raises
    ------
    UsageError
        `data_dir` does not exist.
    """
    _require_folder(data_dir)
    return [row for name in domain_names() for row in _rows(get_domain(name), data_dir)]


def _require_folder(data_dir: Path | None) -> None:
    if data_dir is not None and not data_dir.is_dir():
        raise UsageError(f"--data {data_dir}: there is no such folder")


def _refs(domain: Domain, data_dir: Path | None) -> tuple[InstanceRef, ...]:
    return domain.generated() if data_dir is None else domain.published(data_dir)


def _rows(domain: Domain, data_dir: Path | None) -> list[dict[str, Any]]:
    refs = _refs(domain, data_dir)
    parts = split(refs)
    groups = sorted({ref.group for ref in refs})
    return [
        {
            "domain": domain.name,
            "group": group,
            "instances": sum(ref.group == group for ref in refs),
            **{
                part: sum(ref.group == group for ref in getattr(parts, part))
                for part in ("train", "validation", "test")
            },
            "references": _reference_kinds(ref for ref in refs if ref.group == group),
            "only_named": any(ref.only_named for ref in refs if ref.group == group),
        }
        for group in groups
    ]


def _reference_kinds(refs: Iterable[InstanceRef]) -> dict[str, int]:
    kinds = Counter(ref.reference.kind if ref.reference is not None else "none" for ref in refs)
    return dict(sorted(kinds.items()))


def check_instances(
    data_dir: Path | None, names: Iterable[str] = (), progress: Callable[[str], None] = lambda text: None
) -> list[dict[str, Any]]:
    """Read or generate every instance and build its environment; return one row per domain with what failed.

    Raises
    ------
    UsageError
        `data_dir` does not exist.
    """
    _require_folder(data_dir)
    report = []
    for name in names or domain_names():
        domain = get_domain(name)
        refs = _refs(domain, data_dir)
        faults = []
        for ref in refs:
            progress(f"{name} {ref.key}")
            try:
                domain.environment(domain.load(ref))
            except DomainError as error:
                faults.append({"instance": ref.key, "error": str(error)})
        report.append({"domain": name, "instances": len(refs), "faults": faults})
    return report
