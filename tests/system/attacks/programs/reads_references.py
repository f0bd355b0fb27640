"""Looks for the program's own data and modules, wherever Python would look for them."""
# sandbox: none
# rules: forbidden

import os
import sys


def attack(env_data, state, calc_makespan_fn):
    found = []
    for folder in [*sys.path, "@PACKAGE@"]:
        for place, _, files in os.walk(folder):
            found += [
                os.path.join(place, name) for name in files if "dga2d" in place or name.endswith(".json")
            ]
    for name in ("domains.core.registry", "domains.tsp.suite", "domains.mis.domain", "runtime.page"):
        try:
            found.append(__import__("dga2d." + name))
        except ImportError:
            continue
    for path in ("@PACKAGE@/domains/tsp/references.json", "@PACKAGE@/__init__.py"):
        try:
            found.append(open(path).read())
        except OSError:
            continue
    if found:
        raise SystemExit(str(found)[:500])
    return state
