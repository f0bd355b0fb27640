"""Where numba keeps what it compiles of a problem's file, which its author may import under another name.

Cached machine code names the module that it was compiled in. The program imports a problem's file under a
name of its own, so what it leaves behind would stop the author's next ``import`` of it, and vice versa.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba.core import config
from numba.core.caching import InTreeCacheLocator

_USUAL = (
    "UserProvidedCacheLocator,InTreeCacheLocator,UserWideCacheLocator,IPythonCacheLocator,ZipCacheLocator"
)
"""What numba asks where nothing else is configured."""
_problem_files = set[str]()


class ProblemCacheLocator(InTreeCacheLocator):
    """Keeps machine code of problems' files in ``__pycache__/dga2d`` beside them."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)  # type: ignore[no-untyped-call]
        self._cache_path = str(Path(py_file).parent / "__pycache__" / "dga2d")

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        """Return the locator of a function in a problem's file; ``None`` for others, and where nothing can be
        written.
        """
        if py_file not in _problem_files:
            return None
        return super().from_function(py_func, py_file)  # type: ignore[no-untyped-call]


@contextmanager
def machine_code_apart(file: Path) -> Iterator[None]:
    """Let functions that are decorated inside, in `file`, have their machine code apart."""
    settings: Any = config
    before = settings.CACHE_LOCATOR_CLASSES
    _problem_files.add(str(file))
    settings.CACHE_LOCATOR_CLASSES = f"{__name__}.{ProblemCacheLocator.__name__},{before or _USUAL}"
    try:
        yield
    finally:
        settings.CACHE_LOCATOR_CLASSES = before
