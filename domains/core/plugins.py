"""Domains that are not part of the program: packages below a folder, or entry points of installed packages.

A package folder ``NAME`` whose ``__init__.py`` defines ``DOMAIN`` is found below the folders of the *domain
path* (``--domain-path``, else ``DGA2D_DOMAIN_PATH``); installed distributions name theirs in the entry point
group ``dga2d.domains``. A plug-in is trusted like the program itself: it decides what a valid solution is.
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
from typing import cast

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
    """Folder or distribution, for people."""


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
    plugin = Plugin(address["name"], address["module"], address["attribute"], folder, address["where"])
    if folder is None and address["root"] not in sys.path:
        sys.path.append(address["root"])
    loaded = load(plugin)
    if loaded.digest != address["digest"]:
        raise PluginError(loaded.files, None, f"the domain {plugin.name!r} was changed while it was in use")
    return loaded.domain


# -------------------------------------------------------------------- finding


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
    return found[0] if found else None


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
    before = None if plugin.folder is None else digest_of(plugin.folder)
    module = _import(plugin)
    files = plugin.folder or _files_of(plugin)
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
        if plugin.folder is None:
            return importlib.import_module(plugin.module)
        return _import_folder(plugin.module, plugin.folder)
    except Exception as error:  # whatever a package raises when it is imported
        if plugin.folder is not None:
            _forget(plugin.module)
        path, line = _place(error, plugin)
        raise PluginError(path, line, f"cannot be imported: {type(error).__name__}: {error}") from error


def _import_folder(module: str, folder: Path) -> object:
    _forget(module)
    spec = importlib.util.spec_from_file_location(module, folder / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[module] = package  # numba's on-disk cache finds a function's module by name
    spec.loader.exec_module(package)
    return package


def _forget(module: str) -> None:
    for name in [name for name in sys.modules if name == module or name.startswith(f"{module}.")]:
        del sys.modules[name]


def _place(error: Exception, plugin: Plugin) -> tuple[str, int | None]:
    """Return the file and line of the fault: in the plug-in, as deep as it goes there."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno
    if plugin.folder is not None:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if Path(frame.filename).is_relative_to(plugin.folder)]
        return (own[-1].filename, own[-1].lineno) if own else (str(plugin.folder / "__init__.py"), None)
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
