"""The generated part of `docs/reference/domain-contract.md`, from `domains/core/contract.py`."""

from __future__ import annotations

import inspect
from dataclasses import Field, fields
from functools import cache
from typing import Any, Literal, get_origin

from sphinx.pycode import ModuleAnalyzer

from dga2d.domains.core import contract
from dga2d.domains.core.contract import (
    Card,
    Domain,
    Implementation,
    Instance,
    InstanceRef,
    Operator,
    PipelineStep,
    Reference,
    Verdict,
)
from reference_pages.field_types import type_words
from reference_pages.markdown import prose, table

VALUES = (Card, Operator, Implementation, PipelineStep, InstanceRef, Instance, Reference, Verdict)
"""What a domain hands out, in the order in which a reader meets it."""


def generated() -> str:
    """Members of `Domain` and the fields of the values they deal with.

    Raises
    ------
    ValueError
        A field has no docstring.
    """
    sections = ["## What a domain offers", prose(_head(Domain)), _members()]
    sections.append("## Values")
    for value in VALUES:
        rows = [_row(value, field) for field in fields(value)]
        sections += [f"### {value.__name__}", prose(_head(value)), table(("field", "type", "meaning"), rows)]
    return "\n\n".join(sections)


def _members() -> str:
    sections = []
    for name, member in vars(Domain).items():
        if isinstance(member, property):
            assert member.fget is not None
            returned = inspect.signature(member.fget).return_annotation
            sections.append(f"### Domain.{name}\n\n`{name}: {returned}`{_rest(member.__doc__)}")
        elif inspect.isfunction(member) and not name.startswith("_"):
            sections.append(f"### Domain.{name}\n\n`{name}{_signature(member)}`{_rest(member.__doc__)}")
    return "\n\n".join(sections)


def _signature(member: Any) -> str:
    """As it is called, without ``self``."""
    signature = inspect.signature(member)
    called = signature.replace(parameters=list(signature.parameters.values())[1:])
    return str(called).replace("'", "")


def _rest(docstring: str | None) -> str:
    """A member's docstring: words, then a list of the errors it may raise."""
    if docstring is None:
        return ""
    text, _, raised = inspect.cleandoc(docstring).partition("Raises\n------\n")
    words = "\n\n".join(prose(paragraph) for paragraph in text.strip().split("\n\n"))
    errors = [line for line in raised.splitlines() if line]
    items = [
        f"- raises `{name}`: {prose(reason)}" for name, reason in zip(errors[::2], errors[1::2], strict=True)
    ]
    return "\n\n".join(["", words, *(["\n".join(items)] if items else [])])


def _head(value: type[Any]) -> str:
    """A class's docstring up to its first section."""
    return inspect.cleandoc(value.__doc__ or "").partition("\n\nAttributes\n")[0]


def _row(value: type[Any], field: Field[Any]) -> tuple[str, str, str]:
    lines = _attribute_docs().get((value.__name__, field.name))
    if lines is None:
        raise ValueError(f"{value.__name__}.{field.name} has no docstring")
    named = getattr(contract, str(field.type), None)
    kind = type_words(named) if get_origin(named) is Literal else f"`{field.type}`"
    return f"`{field.name}`", kind, prose("\n".join(lines))


@cache
def _attribute_docs() -> dict[tuple[str, str], list[str]]:
    return ModuleAnalyzer.for_module(contract.__name__).find_attr_docs()
