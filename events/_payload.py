"""The declaration of an event type, and the checks that every declaration is complete."""

from __future__ import annotations

from collections.abc import Iterator
from string import Formatter
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from dga2d.events._errors import DeclarationError
from dga2d.events._names import AGENT_NAMES, AgentName


class Model(BaseModel):
    """Base of all recorded models: immutable, closed, finite numbers only."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    left_out: ClassVar[frozenset[str]] = frozenset()
    """Fields that came later and are not written while they are ``None``: old bytes stay what they were."""


class Payload(Model):
    """Base of the payloads. A type is declared by its class alone:

    ``class GenerationStarted(Payload, owner="conductor", operation="generation-started/{generation}")``.

    Subclasses inherit what they do not declare. Blobs are named by the fields annotated with `BlobDigest`.

    Parameters
    ----------
    owner
        The agent that may write events of this type; a tuple where several may.
    operation
        Name of the operation that an event completes, with fields of the payload in braces. The store refuses
        a second event of the same name in a run. Without one, events of this type may repeat.
    completes_if
        A boolean field without which the operation stays open.
    is_frequent
        Events of this type fill a log: a replay decodes them without their models (`decode_fields`).
    """

    version: ClassVar[int] = 1
    """Rises when a field changes; an upcaster then joins the codec."""
    owners: ClassVar[tuple[AgentName, ...]] = ()
    operation_template: ClassVar[str | None] = None
    completes_if: ClassVar[str | None] = None
    is_frequent: ClassVar[bool] = False

    def __init_subclass__(
        cls,
        *,
        owner: AgentName | tuple[AgentName, ...] | None = None,
        operation: str | None = None,
        completes_if: str | None = None,
        is_frequent: bool = False,
        **options: Any,
    ) -> None:
        super().__init_subclass__(**options)
        if owner is not None:
            cls.owners = owner if isinstance(owner, tuple) else (owner,)
        if operation is not None:
            cls.operation_template = operation
        if completes_if is not None:
            cls.completes_if = completes_if
        cls.is_frequent = is_frequent

    def operation(self) -> str | None:
        """Return the name of the operation this event completes, unique within a run; ``None`` if it
        completes none."""
        template, condition = self.operation_template, self.completes_if
        if template is None or (condition is not None and not getattr(self, condition)):
            return None
        return template.format_map(self.__dict__)


def collect_types(base: type[Payload]) -> dict[str, type[Payload]]:
    """Return the event types below `base` by name: its subclasses that have none themselves.

    Raises
    ------
    DeclarationError
        A type has no owner or one that is no agent, its operation names what is no field, or two types have
        the same name.
    """
    found: dict[str, type[Payload]] = {}
    for model in _leaves(base):
        if model.__name__ in found:
            raise DeclarationError(model.__name__, "is declared twice")
        _check_declaration(model)
        found[model.__name__] = model
    return found


def _leaves(model: type[Payload]) -> Iterator[type[Payload]]:
    for child in model.__subclasses__():
        if child.__subclasses__():
            yield from _leaves(child)
        else:
            yield child


def _check_declaration(model: type[Payload]) -> None:
    name = model.__name__
    if not model.owners:
        raise DeclarationError(name, 'has no owner; declare it with owner="…"')
    if strangers := set(model.owners) - set(AGENT_NAMES):
        raise DeclarationError(name, f"is owned by {', '.join(sorted(strangers))}, which is no agent")
    needed = {part[1] for part in Formatter().parse(model.operation_template or "") if part[1] is not None}
    if model.completes_if is not None:
        needed.add(model.completes_if)
        if model.operation_template is None:
            raise DeclarationError(name, f"has no operation that {model.completes_if} could complete")
    if unknown := needed - set(model.model_fields):
        raise DeclarationError(name, f"has no field {', '.join(sorted(unknown))} for its operation")
