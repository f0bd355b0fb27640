"""Where numba keeps what it compiles of a problem's file, which its author may import under another name.

Cached machine code names the module that it was compiled in. The program imports a problem's file under a
name of its own, so what it leaves behind would stop the author's next ``import`` of it, and vice versa.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numba.core import caching, config
from numba.core.caching import InTreeCacheLocator

_USUAL = tuple(
    name
    for name in (f"{place}CacheLocator" for place in ("UserProvided", "InTree", "UserWide", "IPython", "Zip"))
    if hasattr(caching, name)
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


def keep_machine_code_apart(file: Path) -> None:
    """Let the functions of a problem's file have their machine code apart from now on, in this process."""
    settings: Any = config
    _problem_files.add(str(file))
    place = f"{__name__}.{ProblemCacheLocator.__name__}"
    asked = (settings.CACHE_LOCATOR_CLASSES or ",".join(_USUAL)).split(",")
    if place not in asked:
        settings.CACHE_LOCATOR_CLASSES = ",".join([place, *asked])
