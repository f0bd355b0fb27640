"""Every attribute and listed name that Python, numpy and numba have was judged by the source rules."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dga2d.domains.source_rules import tables


def _compiled() -> Any:
    import numba

    return numba.njit(lambda x: x)


SENSITIVE: dict[str, Callable[[], Any]] = {
    "function": lambda: _compiled,
    "code": lambda: _compiled.__code__,
    "frame": lambda: sys._getframe(),
    "generator": lambda: (i for i in (1,)),
    "exception": ValueError,
    "missing attribute": AttributeError,
    "missing import": ImportError,
    "class": lambda: type,
    "compiled function": _compiled,
    "partial": lambda: functools.partial(len),
    "random numbers": lambda: np.random.default_rng(1),
    "bits": lambda: np.random.default_rng(1).bit_generator,
    "array": lambda: np.zeros(1),
    "ufunc": lambda: np.add,
}
HARMLESS = frozenset(
    [
        "args",
        "name",
        "obj",
        "path",
        "msg",
        "name_from",
        "code",
        "close",
        "gi_running",
        "gi_suspended",
        "func",
        "keywords",
        "f",
        "bytes",
        "spawn",
        "noncentral_chisquare",
        "noncentral_f",
        "logseries",
        "wald",
        "hypergeometric",
        "multivariate_hypergeometric",
        "negative_binomial",
        "state",
        "seed_seq",
        "random_raw",
        "jumped",
        "advance",
        "base",
        "byteswap",
        "data",
        "device",
        "flags",
        "getfield",
        "mT",
        "setfield",
        "setflags",
        "to_device",
        "identity",
        "nargs",
        "nin",
        "nout",
        "ntypes",
        "resolve_dtypes",
        "signature",
        "types",
        "compile",
        "doc",
        "is_compiling",
        "locals",
        "signatures",
        "stats",
        "clear",
        "replace",
        "co_argcount",
        "co_exceptiontable",
        "co_firstlineno",
        "co_flags",
        "co_kwonlyargcount",
        "co_linetable",
        "co_lnotab",
        "co_name",
        "co_nlocals",
        "co_posonlyargcount",
        "co_qualname",
        "co_stacksize",
    ]
)
"""Attributes that only a class of the text makes known, and that tell or do no more than a candidate may."""


@pytest.mark.parametrize("name", SENSITIVE)
def test_every_public_attribute_of_a_sensitive_object_was_judged(name: str) -> None:
    """A new Python, numpy or numba that brings another attribute is looked at before it may be declared."""
    public = {attribute for attribute in dir(SENSITIVE[name]()) if not attribute.startswith("_")}
    assert public - tables.ATTRIBUTES - tables.FORBIDDEN_ATTRIBUTES - HARMLESS == set()


def test_no_attribute_is_both_allowed_and_forbidden() -> None:
    assert set() == tables.ATTRIBUTES & tables.FORBIDDEN_ATTRIBUTES
    assert set() == tables.BUILTINS & (tables.FORBIDDEN_NAMES | tables.FIXED_FORMS)


@pytest.mark.parametrize("module", sorted(tables.PUBLIC_NAMES.keys() - {"__future__"}))
def test_a_listed_name_is_no_module_unless_that_may_be_imported(module: str) -> None:
    loaded = importlib.import_module(module)
    values = {name: getattr(loaded, name, None) for name in tables.PUBLIC_NAMES[module]}
    modules = {f"{module}.{name}" for name, value in values.items() if isinstance(value, ModuleType)}
    assert modules <= tables.ALLOWED_IMPORTS
    assert sum(value is not None for value in values.values()) > 0.9 * len(values)
