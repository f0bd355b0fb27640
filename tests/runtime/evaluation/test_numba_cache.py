"""Machine code that Python called in a preparation is there before the next evaluation calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dga2d.runtime.evaluation.launch import zygote_environment

SCRIPT = '''
import gc, json, sys
from dga2d.runtime.evaluation import numba_cache

numba_cache.cache_implementations()
numba_cache.use_memory()
numba_cache.link_late()
numba_cache.CompilerClock(lambda begins: None).watch()
PATH = "/dga2d/impl_0.py"
TEXT = """
import numba

@numba.njit
def inner(n):
    return n + 1

@numba.njit
def outer(n):
    return 2 * inner(n)

@numba.njit(cache=False)
def uncached(n):
    return n
"""
LINKING = TEXT + """
@numba.njit
def third(n):
    return 3 * inner(n)
"""
files = {}


def imported(text):
    names = {"__name__": "impl_0"}
    sys.modules["impl_0"] = type(sys)("impl_0")
    numba_cache.keep(PATH, files)
    exec(compile(text, PATH, "exec"), names)
    numba_cache.load_entries(PATH, names)
    return names, {name: len(names[name].overloads) for name in ("inner", "outer", "uncached")}


first, before = imported(TEXT)
values = [first["outer"](2), first["outer"](2.0), first["uncached"](1)]
again, loaded = imported(TEXT)
values += [again["outer"](2), again["outer"](2.0), again["uncached"](1)]
hits = sum(again["outer"].stats.cache_hits.values())
late, _ = imported(LINKING)
linked = late["third"](2)
compiled = [*late["outer"].overloads.values(), *late["inner"].overloads.values()]
unparsed = ["_unparsed" in vars(function.library) for function in compiled]
_, changed = imported(TEXT.replace("2 * inner", "n + inner"))
garbage = [gc.isenabled(), gc.get_freeze_count()]
print(json.dumps([before, loaded, changed, values, hits, linked, unparsed, *garbage]))
'''


@pytest.mark.slow
def test_what_python_calls_is_loaded_at_import_unless_it_would_be_compiled(tmp_path: Path) -> None:
    command, environment = [sys.executable, "-P", "-c", SCRIPT], zygote_environment(tmp_path)
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    before, loaded, changed, values, hits, linked, unparsed, collects, frozen = json.loads(out)
    nothing = {"inner": 0, "outer": 0, "uncached": 0}
    assert before == changed == nothing
    assert loaded == {**nothing, "outer": 2}
    assert values == [6, 6.0, 1] * 2
    assert hits == 2
    assert collects
    assert frozen > 10_000  # what the compiler left behind
    assert (linked, unparsed) == (9, [True, True, False])  # only what `third` links was parsed
