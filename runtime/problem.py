"""A domain with its instances: generated ones, or the published ones below a data folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dga2d.domains.core.contract import Domain, Instance, InstanceRef
from dga2d.domains.core.registry import get_domain
from dga2d.domains.core.splits import Splits, split
from dga2d.events import InstanceKey
from dga2d.events.payloads import InstanceEntry, SplitManifest
from dga2d.runtime.errors import UsageError


class Problem:
    """Instances of one domain by key, loaded when they are first needed (implements ``InstanceSource``)."""

    def __init__(self, domain: Domain, refs: Sequence[InstanceRef]) -> None:
        self.domain = domain
        self.splits: Splits = split(refs)
        ordered = [ref for part in self.splits for ref in part]
        self._refs = {ref.key: ref for ref in ordered}
        self._index = {ref.key: number for number, ref in enumerate(ordered)}
        self._loaded: dict[str, Instance] = {}

    @classmethod
    def open(cls, domain_name: str, data_dir: Path | None) -> Problem:
        """The problem called `domain_name` with its generated or published instances.

        Raises
        ------
        UnknownDomainError
            There is no such domain.
        UsageError
            The data folder holds no instance of the domain.
        InstanceFormatError
            A table of best-known values is malformed.
        """
        domain = get_domain(domain_name)
        if data_dir is None:
            return cls(domain, domain.generated())
        refs = domain.published(data_dir)
        if not refs:
            raise UsageError(f"{data_dir / domain_name}: no {domain_name} instances found below --data")
        return cls(domain, [ref for ref in refs if ref.reference is not None])

    def instance(self, key: str) -> Instance:
        """The instance called `key`.

        Raises
        ------
        UsageError
            There is none; the message says where it was looked for.
        """
        if key not in self._loaded:
            self._loaded[key] = self.domain.load(self.ref(key))
        return self._loaded[key]

    def ref(self, key: str) -> InstanceRef:
        """Where the instance called `key`, or by its bare name, can be had."""
        if key in self._refs:
            return self._refs[key]
        named = [ref for ref in self._refs.values() if ref.name == key]
        if len(named) == 1:
            return named[0]
        raise UsageError(
            f"{self.domain.name} has no instance {key!r}; "
            f"`dga2d domains {self.domain.name}` lists them, a file path works too"
        )

    def smoke_instance(self) -> Instance:
        """The domain's small instance for trial runs."""
        return self.domain.smoke_instance()

    def index(self, key: str) -> int:
        """Position in the manifest: training, validation, test."""
        return self._index[key]

    def manifest(self) -> SplitManifest:
        """The splits as the log records them."""
        return SplitManifest(
            train=_entries(self.splits.train),
            validation=_entries(self.splits.validation),
            test=_entries(self.splits.test),
            digest=self.splits.digest(),
        )


def _entries(refs: Sequence[InstanceRef]) -> tuple[InstanceEntry, ...]:
    entries = []
    for ref in refs:
        if ref.reference is None:
            raise UsageError(f"instance {ref.key} has no reference value, so its gap cannot be measured")
        entries.append(InstanceEntry(key=InstanceKey(ref.key), reference=ref.reference.value))
    return tuple(entries)
