"""Domains that are not part of the program: packages below a folder, entry points of installed packages, and
problems in one file.

A package folder ``NAME`` whose ``__init__.py`` defines ``DOMAIN`` is found below the folders of the *domain
path* (``--domain-path``, else ``DGA2D_DOMAIN_PATH``); installed distributions name theirs in the entry point
group ``dga2d.domains``. A problem's file is named by its path (:func:`use_problem_file`) and called by the
file's name. A plug-in is trusted like the program itself: it decides what a valid solution is.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import keyword
import os
import re
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from dga2d.domains.core.contract import Domain
from dga2d.domains.core.errors import PluginClashError, PluginError

GROUP = "dga2d.domains"
"""Entry point group of installed domains."""
VARIABLE = "DGA2D_DOMAIN_PATH"
"""Environment variable: folders, separated as in ``PATH``."""
MODULE_PREFIX = "dga2d_plugin_"
"""A package from the domain path is imported under this and its name, whatever else is called like it."""
RESERVED = frozenset({"check", "new", "show"})
"""Words that ``dga2d domains`` gives another meaning."""
NOT_DIGESTED = frozenset({"__pycache__", "tests"})
"""Folders whose files cannot change what a domain does."""

_path: ContextVar[tuple[Path, ...] | None] = ContextVar("domain_path", default=None)


def use_domain_path(folders: Sequence[Path]) -> None:
    """Look for packages below `folders` instead of those of the environment variable."""
    _path.set(tuple(folders))


def domain_path() -> tuple[Path, ...]:
    """Return the folders that plug-ins are looked for in, absolute, each once.

    Raises
    ------
    PluginError
        One of them is no folder.
    """
    given = _path.get()
    if given is None:
        given = tuple(Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part)
    folders = dict.fromkeys(folder.expanduser().resolve() for folder in given)
    for folder in folders:
        if not folder.is_dir():
            raise PluginError(folder, None, "the domain path names a folder that is not there")
        if (folder / "__init__.py").is_file():
            raise PluginError(folder, None, "is a package itself; the domain path names the folder around it")
    return tuple(folders)


@dataclass(frozen=True)
class Plugin:
    """A domain that was found but not imported."""

    name: str
    module: str
    attribute: str
    folder: Path | None
    """The package's folder; ``None`` for an entry point, whose module is imported by its name."""
    where: str
    """Folder, file or distribution, for people."""
    file: Path | None = None
    """The file of a problem in one file (:mod:`dga2d.domains.own`)."""


@dataclass(frozen=True)
class LoadedPlugin:
    """A domain with the identity of its files."""

    plugin: Plugin
    domain: Domain
    files: Path
    """Folder of the package, or the file where the module is no package."""
    digest: str
    """SHA-256 over the files as they were when it was imported, 64 hex digits."""

    @property
    def package(self) -> str:
        """Name of its package: the plug-in's module, or the package around it; empty if there is none."""
        module = self.plugin.module
        return module if hasattr(sys.modules[module], "__path__") else module.rpartition(".")[0]

    def address(self) -> dict[str, str]:
        """Return what another process needs to load the same plug-in (:func:`load_again`)."""
        plugin = self.plugin
        return {
            "name": plugin.name,
            "module": plugin.module,
            "attribute": plugin.attribute,
            "folder": "" if plugin.folder is None else str(plugin.folder),
            "where": plugin.where,
            "file": "" if plugin.file is None else str(plugin.file),
            "root": str(self.files.parent),
            "digest": self.digest,
        }


def load_again(address: Mapping[str, str]) -> Domain:
    """Return the domain at an address that another process gave.

    Raises
    ------
    PluginError
        It cannot be imported, or its files are not those the other process had.
    """
    folder = Path(address["folder"]) if address["folder"] else None
    file = Path(address["file"]) if address["file"] else None
    plugin = Plugin(address["name"], address["module"], address["attribute"], folder, address["where"], file)
    if folder is None and file is None and address["root"] not in sys.path:
        sys.path.append(address["root"])
    loaded = load(plugin)
    if loaded.digest != address["digest"]:
        raise PluginError(loaded.files, None, f"the domain {plugin.name!r} was changed while it was in use")
    return loaded.domain


# -------------------------------------------------------------------- finding

_problem_files: dict[str, Path] = {}
"""Problems in one file that somebody named, by the name of their domain."""


def use_problem_file(path: Path) -> str:
    """Make the problem in a file known as a domain, as it stands there now; return the domain's name.

    Raises
    ------
    PluginError
        There is no such file, or its name makes no name for a domain.
    """
    path = path.expanduser().resolve()
    if not path.is_file():
        raise PluginError(path, None, "there is no such file")
    name = re.sub(r"\W", "_", path.stem.lower())
    fault = name_fault(name)
    if fault is not None:
        raise PluginError(path, None, f"{fault}; rename the file")
    _problem_files[name] = path
    known = _loaded.get(MODULE_PREFIX + name)
    if known is not None and known.plugin.file is not None and known.digest != digest_of(path):
        del _loaded[MODULE_PREFIX + name]
    return name


def plugin_names() -> tuple[str, ...]:
    """Return the names of all plug-ins, sorted; nothing is imported.

    Raises
    ------
    PluginError
        A name is not allowed, or two plug-ins have the same.
    """
    found: dict[str, Plugin] = {}
    for plugin in _all():
        if plugin.name in found:
            raise PluginClashError(plugin.name, found[plugin.name].where, plugin.where)
        fault = name_fault(plugin.name)
        if fault is not None:
            raise PluginError(plugin.where, None, fault)
        found[plugin.name] = plugin
    return tuple(sorted(found))


def find_plugin(name: str) -> Plugin | None:
    """Return the plug-in called `name`; ``None`` if there is none.

    Raises
    ------
    PluginClashError
        There are two.
    """
    found = [plugin for plugin in _all(name) if plugin.name == name]
    if len(found) > 1:
        raise PluginClashError(name, found[0].where, found[1].where)
    return found[0] if found else _recorded_plugin(name)


def name_fault(name: str) -> str | None:
    """Return why a domain cannot be called `name`; ``None`` if it can."""
    if re.fullmatch(r"[a-z][a-z0-9_]{0,30}", name) is None:
        return (
            f"{name!r} is no name for a domain: expected up to 31 lower-case letters, digits and '_', "
            "a letter first"
        )
    if keyword.iskeyword(name):
        return f"{name!r} is no name for a domain: it is a keyword of Python"
    if name in RESERVED:
        return f"{name!r} is no name for a domain: `dga2d domains {name}` means something else"
    return None


def _all(name: str | None = None) -> Iterator[Plugin]:
    """Yield entry points, then packages of the domain path; of the latter only `name` if it is given."""
    for point in _entry_points(tuple(sys.path)):
        module, _, attribute = point.value.partition("[")[0].strip().partition(":")
        where = f"entry point {point.name} of {_distribution(point)}"
        yield Plugin(point.name, module.strip(), attribute.strip() or "DOMAIN", None, where)
    for own, file in _problem_files.items():
        yield _of_file(own, file)
    for folder in domain_path():
        packages = sorted(folder.glob("*/__init__.py")) if name is None else [folder / name / "__init__.py"]
        for init in packages:
            if init.is_file() and _may_define_domain(init):
                yield _of_folder(init.parent)


def _of_folder(folder: Path) -> Plugin:
    return Plugin(folder.name, MODULE_PREFIX + folder.name, "DOMAIN", folder, str(folder))


@lru_cache(maxsize=4)
def _entry_points(path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return those of the distributions on `path`, which is ``sys.path``."""
    found = {(point.name, point.value): point for point in entry_points(group=GROUP)}
    return tuple(found[key] for key in sorted(found))


def _distribution(point: EntryPoint) -> str:
    return "an installed package" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def _may_define_domain(init: Path) -> bool:
    """Return whether a package is meant as a domain; one that cannot be parsed may be, importing it will
    tell.
    """
    try:
        tree = ast.parse(init.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return True
    return any(_binds_domain(node) for node in ast.walk(tree))


def _binds_domain(node: ast.AST) -> bool:
    if isinstance(node, ast.alias):
        return (node.asname or node.name) == "DOMAIN"
    return isinstance(node, ast.Name) and node.id == "DOMAIN" and isinstance(node.ctx, ast.Store)


_recorded: dict[str, tuple[Path, str]] = {}
"""Problems in one file with which logs began: file, and the beginning of its digest, by name."""


def recall_problem_file(name: str, path: Path, digest: str) -> None:
    """Let the problem `name` be the one that a log names, unless somebody names its file.

    It is imported only if it is asked for, and if the file is still what it was: `digest` is what its digest
    begins with.
    """
    _recorded[name] = path, digest


def _recorded_plugin(name: str) -> Plugin | None:
    if name not in _recorded:
        return None
    path, digest = _recorded[name]
    hint = f"with which the run began; say where it is: --domain-path {path.name}"
    if not path.is_file():
        raise PluginError(path, None, f"is not there any more, {hint}")
    if not digest or not digest_of(path).startswith(digest):
        raise PluginError(path, None, f"is not the file {hint} (a changed one, too)")
    if not _imports_program(path):  # a log that somebody sent must not run whatever it names
        raise PluginError(path, None, "is no problem's file: it does not import dga2d")
    return _of_file(name, path)


def _imports_program(path: Path) -> bool:
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return any(name.partition(".")[0] == "dga2d" for name in names)


def _of_file(name: str, file: Path) -> Plugin:
    return Plugin(name, MODULE_PREFIX + name, "DOMAIN", None, str(file), file)


def use_problem(problem: object) -> str:
    """Return the name of a domain: that of a name, of a file's path, or of a problem (its class, an object of
    it, or its decorated score).

    Raises
    ------
    PluginError
        The problem stands in no file and its text is not known, or its file asks for this while it is
        imported.
    """
    if isinstance(problem, str | Path):
        return use_problem_file(Path(problem)) if str(problem).endswith(".py") else str(problem)
    made = getattr(problem, "problem", problem)
    kind = made if isinstance(made, type) else type(made)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if file is None or file == "<stdin>":
        from dga2d.domains.own.cells import write_typed_problem

        return use_problem_file(write_typed_problem(problem, kind))
    if kind.__module__.startswith(MODULE_PREFIX):
        reason = 'the file starts a run when it is imported; put that below `if __name__ == "__main__":`'
        raise PluginError(file, None, reason)
    return use_problem_file(Path(file))


# -------------------------------------------------------------------- loading

_loaded: dict[str, LoadedPlugin] = {}
_loading = threading.RLock()


def load(plugin: Plugin) -> LoadedPlugin:
    """Import a plug-in, once in a process.

    Raises
    ------
    PluginError
        It cannot be imported, has another name, or lacks a part of the contract; the message names the file.
    """
    with _loading:
        known = _loaded.get(plugin.module)
        if known is None or known.plugin != plugin:
            known = _load(plugin)
            _loaded[plugin.module] = known
        return known


def load_folder(folder: Path) -> Domain:
    """Return the domain of a package folder, for its own tests; raises as :func:`load`."""
    return load(_of_folder(folder.resolve())).domain


def _load(plugin: Plugin) -> LoadedPlugin:
    place = plugin.folder or plugin.file
    before = None if place is None else digest_of(place)
    module = _import(plugin)
    files = place or _files_of(plugin)
    origin = getattr(module, "__file__", None) or plugin.where
    domain = getattr(module, plugin.attribute, None)
    if domain is None:
        raise PluginError(origin, None, f"defines no {plugin.attribute}")
    missing = sorted(name for name in vars(Domain) if not name.startswith("_") and not hasattr(domain, name))
    if missing:
        raise PluginError(origin, None, f"{plugin.attribute} has no {', '.join(missing)}")
    if domain.name != plugin.name:
        raise PluginError(origin, None, f"the domain calls itself {domain.name!r}, not {plugin.name!r}")
    return LoadedPlugin(plugin, cast("Domain", domain), files, before or digest_of(files))


def _import(plugin: Plugin) -> object:
    try:
        if plugin.file is not None:
            return _import_problem(plugin, plugin.file)
        if plugin.folder is None:
            return importlib.import_module(plugin.module)
        return _import_file(plugin.module, plugin.folder / "__init__.py")
    except PluginError:
        raise
    except (Exception, SystemExit) as error:  # whatever a package raises when it is imported
        if plugin.folder is not None or plugin.file is not None:
            _forget(plugin.module)
        path, line = _place(error, plugin)
        raise PluginError(path, line, f"cannot be imported: {type(error).__name__}: {error}") from error


def _import_problem(plugin: Plugin, file: Path) -> object:
    """Import a problem's file, which may import others beside it, and give it its ``DOMAIN``."""
    from dga2d.domains.own.loading import domain_of
    from dga2d.domains.own.output import printing_to_stderr

    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    if b"numba" in file.read_bytes():
        from dga2d.domains.core.machine_code import keep_machine_code_apart  # numba

        keep_machine_code_apart(file)
    with printing_to_stderr():
        module: Any = _import_file(plugin.module, file)
        module.DOMAIN = domain_of(module, plugin.name, str(file))
    return module


def _import_file(module: str, file: Path) -> ModuleType:
    _forget(module)
    spec = importlib.util.spec_from_file_location(module, file)
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[module] = package  # numba's on-disk cache finds a function's module by name
    spec.loader.exec_module(package)
    return package


def _forget(module: str) -> None:
    for name in [name for name in sys.modules if name == module or name.startswith(f"{module}.")]:
        del sys.modules[name]


def _place(error: BaseException, plugin: Plugin) -> tuple[str, int | None]:
    """Return the file and line of the fault: in the plug-in, as deep as it goes there."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno
    place = plugin.folder or plugin.file
    if place is not None:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if Path(frame.filename).is_relative_to(place)]
        first = place if plugin.folder is None else place / "__init__.py"
        return (own[-1].filename, own[-1].lineno) if own else (str(first), None)
    return plugin.where, None


def _files_of(plugin: Plugin) -> Path:
    """Return what an entry point's module is installed as: its top-level package's folder, or the one
    file.
    """
    top = sys.modules[plugin.module.partition(".")[0]]
    file = getattr(top, "__file__", None)
    if file is None:
        raise PluginError(plugin.where, None, f"{top.__name__} has no file of its own to take a digest of")
    path = Path(file).resolve()
    return path.parent if path.name == "__init__.py" else path


def digest_of(files: Path) -> str:
    """Return SHA-256 over names and contents of a file, or of all files below a folder but hidden ones,
    caches and tests.
    """
    digest = hashlib.sha256()
    root = files if files.is_dir() else files.parent
    for path in sorted(_files(files)) if files.is_dir() else [files]:
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name.startswith(".") or path.name in NOT_DIGESTED:
            continue
        if path.is_dir():
            yield from _files(path)
        elif path.is_file():
            yield path
