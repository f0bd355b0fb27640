"""How numba caches candidates' machine code: in the implementation's own folder, filled by its preparation
and only read by evaluations.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numba
from numba.core import caching

LOCATORS = f"{__name__}.ImplementationCacheLocator,InTreeCacheLocator,UserWideCacheLocator"
"""Value of ``NUMBA_CACHE_LOCATOR_CLASSES`` for zygotes."""
FILE_PREFIX = "impl_"


class ImplementationCacheLocator(caching.InTreeCacheLocator):
    """``__pycache__`` beside the implementation's file, whether or not it is writable."""

    @classmethod
    def from_function(cls, py_func: object, py_file: str) -> ImplementationCacheLocator | None:
        if not os.path.basename(py_file).startswith(FILE_PREFIX):
            return None
        return cls(py_func, py_file)


def cache_everything() -> None:
    """Make ``@njit`` and ``@jit`` cache on disk unless told otherwise: candidates seldom ask for it."""
    for name in ("jit", "njit"):
        setattr(numba, name, _caching(getattr(numba, name)))


def shorten_slice_errors() -> None:
    """Let a slice assignment of the wrong size raise a plain message.

    The usual one names both shapes, for which numba compiles its string formatting into every function that
    assigns to a slice: two to three seconds of an implementation's first compilation.
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


def _caching(decorator: Callable[..., Any]) -> Callable[..., Any]:
    def decorate(*arguments: Any, **options: Any) -> Any:
        return decorator(*arguments, **{"cache": True, **options})

    decorate.__name__ = decorator.__name__
    return decorate


class Guard:
    """Keeps the caches of a child as they are, but for those it may fill, and counts what was not there."""

    def __init__(self) -> None:
        self.misses = 0
        """Functions that were compiled and not saved."""

    def install(self, fills_own_cache: bool) -> None:
        """From now on save machine code of implementations only, and only if `fills_own_cache`."""
        save: Any = caching.Cache.save_overload
        load: Any = caching.Cache.load_overload

        def save_overload(cache: Any, signature: object, data: object) -> None:
            if fills_own_cache and isinstance(cache._impl.locator, ImplementationCacheLocator):
                save(cache, signature, data)
            else:
                self.misses += 1

        def load_overload(cache: Any, signature: object, target: object) -> Any:
            try:
                return load(cache, signature, target)
            except OSError:  # sealed off: a cache of the program's own, not needed where decoders are warm
                return None

        for method in (save_overload, load_overload):
            setattr(caching.Cache, method.__name__, method)
