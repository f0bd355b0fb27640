"""How numba caches candidates' machine code: in the implementation's own folder, filled by its preparation
and only read by evaluations.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba
from numba.core import caching, event

FILE_PREFIX = "impl_"


class ImplementationCacheLocator(caching.InTreeCacheLocator):
    """``__pycache__`` beside the implementation's file, whether or not it is writable."""

    @classmethod
    def from_function(cls, py_func: object, py_file: str) -> ImplementationCacheLocator | None:
        return cls(py_func, py_file) if _is_implementation(py_file) else None


def cache_implementations() -> None:
    """Make the ``@njit`` and ``@jit`` of implementations cache on disk unless told otherwise: they seldom ask
    for it. Those of numba itself (it compiles its merge sort by them) stay as they are: its folder cannot be
    written, and what calls them keeps their machine code.
    """
    for name in ("jit", "njit"):
        setattr(numba, name, _caching(getattr(numba, name)))


def has_machine_code(path: str) -> bool:
    """Whether numba has cached anything of the implementation at `path`."""
    return any(
        name.endswith(".nbc") for name in os.listdir(os.path.join(os.path.dirname(path), "__pycache__"))
    )


def shorten_slice_errors() -> None:
    """Let a slice assignment of the wrong size raise a plain message.

    The usual one names both shapes, for which numba compiles its string formatting into every function that
    assigns to a slice: a good part of an implementation's first compilation. This loads much of numba, so
    only processes that compile call it.
    """
    from numba.core.registry import cpu_target
    from numba.np import arrayobj

    named = getattr(arrayobj, "ol_raise_with_shape_context_cpu", None)
    plain = getattr(arrayobj, "ol_raise_with_shape_context_generic", None)
    if named is None or plain is None:  # another version of numba
        return
    cpu_target.typing_context.refresh()
    function: Any = cpu_target.typing_context.resolve_value_type(arrayobj.raise_with_shape_context)
    for template in function.templates:
        if getattr(template, "_overload_func", None) is named:
            template._overload_func = staticmethod(plain)


def _is_implementation(path: str) -> bool:
    return os.path.basename(path).startswith(FILE_PREFIX)


def _caching(decorator: Callable[..., Any]) -> Callable[..., Any]:
    def decorate(*arguments: Any, **options: Any) -> Any:
        if _is_implementation(sys._getframe(1).f_code.co_filename):  # where the decorator stands
            options = {"cache": True, **options}
        return decorator(*arguments, **options)

    decorate.__name__ = decorator.__name__
    return decorate


def guard(fills_own_cache: bool) -> None:
    """From now on save machine code of implementations only, and only if `fills_own_cache`."""
    save: Any = caching.Cache.save_overload
    load: Any = caching.Cache.load_overload

    def save_overload(cache: Any, signature: object, data: object) -> None:
        if fills_own_cache and isinstance(cache._impl.locator, ImplementationCacheLocator):
            with suppress(PermissionError):  # another position's folder: its own trial fills it
                save(cache, signature, data)

    def load_overload(cache: Any, signature: object, target: object) -> Any:
        try:
            return load(cache, signature, target)
        except OSError:  # sealed off: a cache of the program's own, not needed where decoders are warm
            return None

    for method in (save_overload, load_overload):
        setattr(caching.Cache, method.__name__, method)


class CompilerClock(event.Listener):
    """Seconds that numba's compiler has worked, and a word to `mark` when it begins and ends."""

    def __init__(self, mark: Callable[[bool], None]) -> None:
        self._mark = mark
        self._depth = 0
        self._since = 0.0
        self._spent_s = 0.0

    def on_start(self, event: object) -> None:
        """The compiler begins, perhaps inside itself."""
        if self._depth == 0:
            self._since = time.perf_counter()
            self._mark(True)
        self._depth += 1

    def on_end(self, event: object) -> None:
        """The compiler has ended what it began last."""
        self._depth -= 1
        if self._depth == 0:
            self._spent_s += time.perf_counter() - self._since
            self._mark(False)

    def time_without_compiler(self) -> float:
        """A clock that stands still while the compiler works; ask it outside of the compiler only."""
        return time.perf_counter() - self._spent_s

    def watch(self) -> None:
        """Hear of every compilation from now on."""
        event.register("numba:compile", self)  # type: ignore[no-untyped-call]
