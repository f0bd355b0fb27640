"""A domain's decoder and oracle without the domain: no instances, references or generators come with them."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from dga2d.domains.core.errors import PluginError
from dga2d.domains.core.plugins import digest_of, load_again

if TYPE_CHECKING:
    from dga2d.domains.core.contract import Domain
    from dga2d.runtime.evaluation.child import MakeDecoder
    from dga2d.runtime.evaluation.oracle_process import MakeOracle

_FUNCTION = "make_decoder"
_ORACLE = "make_oracle"


def decoder_address(domain: str, domain_file: Path | None) -> dict[str, Any]:
    """Return what another process needs to load the decoder of `domain` (:func:`load_make_decoder`).

    Raises
    ------
    UnknownDomainError, PluginError
        There is no such domain.
    """
    from dga2d.domains.core.registry import loaded_plugin, solver_entries

    if domain_file is not None:
        return {"file": str(domain_file)}
    plugin = loaded_plugin(domain)
    if plugin is not None and plugin.plugin.file is not None:
        return {"plugin": plugin.address()}
    module = next(module for module, function in solver_entries(domain) if function == _FUNCTION)
    if plugin is None:
        return {"module": module}
    if importlib.util.find_spec(module) is None:  # it makes decoders elsewhere: the domain itself must tell
        return {"plugin": plugin.address()}
    package = sys.modules[module.rpartition(".")[0]]
    return {
        "module": module,
        "folders": list(package.__path__),
        "name": domain,
        "files": str(plugin.files),
        "digest": plugin.digest,
    }


def load_make_decoder(address: Mapping[str, Any]) -> MakeDecoder | None:
    """Import the decoder at an address that another process gave; return ``None`` for an empty one.

    Raises
    ------
    ImportError, PluginError
        It cannot be imported, or a plug-in's files are not those the other process had.
    """
    if "file" in address:
        path = Path(address["file"])
        load_domain_file(path)
        return cast("MakeDecoder", getattr(sys.modules[f"dga2d_domain_{path.stem}"], _FUNCTION))
    if "plugin" in address:
        return cast("MakeDecoder", load_again(address["plugin"]).decoder)
    if not address:
        return None
    module = address["module"]
    if "folders" in address:
        _check_plugin(address)
        folders = address["folders"]
    else:
        parent = importlib.import_module("dga2d.domains")
        folders = [str(Path(folder) / module.split(".")[-2]) for folder in parent.__path__]
    _stand_in(module.rpartition(".")[0], folders)
    return cast("MakeDecoder", getattr(importlib.import_module(module), _FUNCTION))


def load_make_oracle(address: Mapping[str, Any]) -> MakeOracle | None:
    """Import the oracle beside the decoder that was loaded from `address`; ``None`` where there is none.

    Raises ImportError where it cannot be imported.
    """
    if "file" in address:
        module = sys.modules[f"dga2d_domain_{Path(address['file']).stem}"]
    elif "module" not in address or importlib.util.find_spec(_beside(address["module"])) is None:
        return None
    else:
        module = importlib.import_module(_beside(address["module"]))
    return cast("MakeOracle | None", getattr(module, _ORACLE, None))


def _beside(module: str) -> str:
    """Return the name of the module of oracles in the package of a decoder's `module`."""
    return f"{module.rpartition('.')[0]}.oracle"


def _check_plugin(address: Mapping[str, Any]) -> None:
    files = Path(address["files"])
    if digest_of(files) != address["digest"]:
        raise PluginError(files, None, f"the domain {address['name']!r} was changed while it was in use")
    if str(files.parent) not in sys.path:
        sys.path.append(str(files.parent))


def _stand_in(package: str, folders: list[str]) -> None:
    """Put an empty package in place of `package`, whose own code would import the whole domain."""
    empty = ModuleType(package)
    empty.__path__ = folders
    sys.modules[package] = empty


def load_domain_file(path: Path) -> Domain:
    """Execute the trusted Python file at `path` and return its ``DOMAIN``.

    Raises
    ------
    ImportError
        There is no such file, or it defines no ``DOMAIN``.
    """
    name = f"dga2d_domain_{path.stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise ImportError(f"no Python file at {path}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    domain = getattr(sys.modules[name], "DOMAIN", None)
    if domain is None:
        raise ImportError(f"{path} defines no DOMAIN")
    return cast("Domain", domain)
