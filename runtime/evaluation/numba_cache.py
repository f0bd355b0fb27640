"""numba's cache of implementations, kept in memory: machine code leaves a child in its answer only."""

from __future__ import annotations

import gc
import os
import pickle
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import llvmlite.binding  # type: ignore[import-untyped]
import numba
from numba.core import caching, codegen, event
from numba.core.dispatcher import Dispatcher

FILE_PREFIX = "impl_"
_ENTRIES = "entries"
"""Among the files of an implementation: the functions that Python called, with their argument types."""
Files = dict[str, bytes]
"""What numba would write to the folder of one implementation: content by file name."""


class ImplementationCacheLocator(caching._CacheLocator):
    """Names the implementation's own path as the place of its cache; nothing is read or written there."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        self._py_file = py_file
        self._line = py_func.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func: object, py_file: str) -> ImplementationCacheLocator | None:
        return cls(py_func, py_file) if _is_implementation(py_file) else None

    def ensure_cache_path(self) -> None:
        return

    def get_cache_path(self) -> str:
        return self._py_file

    def get_source_stamp(self) -> int:
        return 0

    def get_disambiguator(self) -> str:
        return str(self._line)


class MemoryCacheFile(caching.IndexDataCacheFile):
    """Index and machine code of one function, among the files of its implementation.

    The files are pickles: they are read in the sealed child of the very implementation they came from.
    """

    def __init__(self, files: Files, cache_path: str, filename_base: str, source_stamp: object) -> None:
        super().__init__(cache_path, filename_base, source_stamp)  # type: ignore[no-untyped-call]
        self._files = files

    def _load_index(self) -> Any:
        index = self._files.get(self._index_name)
        return {} if index is None else pickle.loads(index)

    def _save_index(self, overloads: object) -> None:
        self._files[self._index_name] = self._dump(overloads)  # type: ignore[no-untyped-call]

    def _load_data(self, name: str) -> Any:
        if name not in self._files:
            raise FileNotFoundError(name)
        return pickle.loads(self._files[name])

    def _save_data(self, name: str, data: object) -> None:
        self._files[name] = self._dump(data)  # type: ignore[no-untyped-call]


def cache_implementations() -> None:
    """Make ``@njit`` and ``@jit`` in implementations use the cache unless told otherwise; few ask for it.

    Functions that numba itself compiles this way, its merge sort for one, stay as they are: their callers
    keep their machine code.
    """
    for name in ("jit", "njit"):
        setattr(numba, name, _caching(getattr(numba, name)))


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


def link_late() -> None:
    """Let machine code be loaded without the intermediate code that lies beside it.

    What is compiled later may link that code, and numba parses it whenever it loads a function, which takes
    most of the time of loading. Here it is parsed when it is linked; the names it defines, which numba needs
    at once, lie beside it in what is kept from now on. What was kept before is loaded as ever.
    """
    library: Any = codegen.JITCodeLibrary
    serialize, unserialize = library.serialize_using_object_code, library._unserialize
    module_for_linking = library._get_module_for_linking

    def serialize_with_names(self: Any) -> tuple[str, str, Any]:
        name, kind, data = serialize(self)
        module = module_for_linking(self)
        defined = [
            value.name for value in (*module.functions, *module.global_variables) if not value.is_declaration
        ]
        return name, kind, (*data, defined)

    def unserialize_unparsed(cls: Any, generator: Any, state: tuple[str, str, Any]) -> Any:
        name, _, data = state
        if len(data) != 3:
            return unserialize(generator, state)
        loaded = generator.create_library(name)
        machine_code, loaded._unparsed, defined = data
        loaded.enable_object_caching()
        loaded._set_compiled_object(machine_code)
        loaded._finalize_final_module()
        generator._engine._defined_symbols.update(defined)
        return loaded

    def parsed_for_linking(self: Any) -> Any:
        unparsed = self.__dict__.pop("_unparsed", None)
        if unparsed is not None:
            self._shared_module = llvmlite.binding.parse_bitcode(unparsed)
        return module_for_linking(self)

    library.serialize_using_object_code = serialize_with_names
    library._unserialize = classmethod(unserialize_unparsed)
    library._get_module_for_linking = parsed_for_linking


def _is_implementation(path: str) -> bool:
    return os.path.basename(path).startswith(FILE_PREFIX)


def _caching(decorator: Callable[..., Any]) -> Callable[..., Any]:
    def decorate(*arguments: Any, **options: Any) -> Any:
        if _is_implementation(sys._getframe(1).f_code.co_filename):  # where the decorator stands
            options = {"cache": True, **options}
        return decorator(*arguments, **options)

    decorate.__name__ = decorator.__name__
    return decorate


_in_memory: dict[str, Files] = {}
"""Machine code of implementations by path."""


def use_memory() -> None:
    """Read and keep machine code of implementations in memory from now on; save no other machine code."""
    on_disk: Any = caching.IndexDataCacheFile
    load: Any = caching.Cache.load_overload
    save: Any = caching.Cache.save_overload

    def cache_file(cache_path: str, filename_base: str, source_stamp: object) -> Any:
        if cache_path in _in_memory:
            return MemoryCacheFile(_in_memory[cache_path], cache_path, filename_base, source_stamp)
        return on_disk(cache_path, filename_base, source_stamp)

    def save_overload(cache: Any, signature: object, data: object) -> None:
        if isinstance(cache._cache_file, MemoryCacheFile):
            save(cache, signature, data)

    def load_overload(cache: Any, signature: object, target: object) -> Any:
        try:
            return load(cache, signature, target)
        except OSError:  # sealed off: a cache of the program's own, not needed where decoders are warm
            return None

    replaced: Any = caching
    replaced.IndexDataCacheFile = cache_file
    replaced.Cache.save_overload = save_overload
    replaced.Cache.load_overload = load_overload


def keep(path: str, files: Files) -> None:
    """Take the machine code of the implementation at `path` from `files`, and put there what it compiles."""
    _in_memory[path] = files


def load_entries(path: str, names: Mapping[str, Any]) -> None:
    """Load the machine code that Python called in the preparation of the implementation at `path`.

    `names` are those of its module. Else the first call of each function loads it, when the clock runs, which
    has nothing to do with how good an algorithm is. Nothing is compiled here.

    Raises
    ------
    Exception
        Whatever reading the implementation's own pickles raises.
    """
    files = _in_memory.get(path, {})
    for name, signature in pickle.loads(files[_ENTRIES]) if _ENTRIES in files else ():
        function: Any = names.get(name)
        if isinstance(function, Dispatcher) and _is_compiled(function, signature):
            function.compile(signature)


def _is_compiled(function: Any, signature: object) -> bool:
    files = getattr(function._cache, "_cache_file", None)
    if not isinstance(files, MemoryCacheFile):
        return False
    return function._cache._index_key(signature, function.targetctx.codegen()) in files._load_index()


def _note_entry(function: Dispatcher, signature: object) -> None:
    """Note among the files of an implementation that Python called a function of it."""
    files = _in_memory.get(function.py_func.__code__.co_filename)
    if files is not None:
        known = pickle.loads(files[_ENTRIES]) if _ENTRIES in files else []
        files[_ENTRIES] = pickle.dumps([*known, (function.py_func.__name__, signature)])


def platform() -> str:
    """Return what machine code depends on besides its source: processor and versions, as text."""
    import llvmlite
    import numpy
    from numba.core.registry import cpu_target

    magic = cpu_target.target_context.codegen().magic_tuple()
    versions = (sys.version, numba.__version__, llvmlite.__version__, numpy.__version__)
    return repr((magic, versions, _ENTRIES, "names"))  # older code has neither


class CompilerClock(event.Listener):
    """Counts the processor seconds of numba's compiler; calls `mark` when it begins and when it ends.

    What the compiler leaves behind is not collected: it makes millions of small objects, and the process ends
    soon (decision 230).
    """

    def __init__(self, mark: Callable[[bool], None]) -> None:
        self._mark = mark
        self._depth = 0
        self._since = 0.0
        self._spent_s = 0.0

    def on_start(self, event: Any) -> None:
        """Note that the compiler begins, perhaps within another compilation."""
        if self._depth == 0:
            _note_entry(event.data["dispatcher"], event.data["args"])
            self._since = time.process_time()
            self._mark(True)
            gc.disable()
        self._depth += 1

    def on_end(self, event: object) -> None:
        """Note that the compiler has ended what it began last."""
        self._depth -= 1
        if self._depth == 0:
            gc.freeze()  # else the first collection, of all that, is on the clock of what was compiled
            gc.enable()
            self._spent_s += time.process_time() - self._since
            self._mark(False)

    def time_without_compiler(self) -> float:
        """Return the processor time of a clock that stands still while the compiler works; not for use inside
        it."""
        return time.process_time() - self._spent_s

    def watch(self) -> None:
        """Start listening."""
        event.register("numba:compile", self)  # type: ignore[no-untyped-call]
