"""Looks, when it is imported, for instances, answers and texts in what it inherited from the zygote."""
# sandbox: none
# rules: forbidden

import gc
import sys
from types import CodeType, FrameType, ModuleType

ONLY_SMOKE = 8
found = []
seen = set()
own = sys._getframe().f_code.co_filename


def look(value):
    if type(value) is dict:
        points = value.get("points")
        if hasattr(points, "__len__") and len(points) > ONLY_SMOKE:
            found.append("an instance")
        if "references" in value and "instances" in value:
            found.append("references")
    if isinstance(value, (bytes, bytearray)) and b"ONLY_SMOKE" not in value:
        if b'"kind":"solution"' in value or b'"points"' in value:
            found.append("an answer or an instance")
    if isinstance(value, str) and "def run(" in value and "ONLY_" + "SMOKE" not in value:
        found.append("a text")
    if isinstance(value, CodeType) and "impl_" in value.co_filename and value.co_filename != own:
        found.append("a code")


def walk(root, depth):
    if depth == 0 or id(root) in seen or isinstance(root, ModuleType):
        return
    seen.add(id(root))
    look(root)
    if isinstance(root, FrameType):
        children = list(root.f_locals.values())
    elif type(root) is dict:
        children = list(root.values())
    elif isinstance(root, (list, tuple, set, frozenset)):
        children = list(root)
    else:
        attributes = getattr(root, "__dict__", None)
        children = list(attributes.values()) if type(attributes) is dict else []
    for child in children[:2000]:
        if not callable(child):
            walk(child, depth - 1)


frame = sys._getframe(1)
while frame is not None:
    walk(frame, 6)
    frame = frame.f_back
for thing in gc.get_objects():
    look(thing)
for word in ("dga2d.domains.core.registry", "dga2d.domains.core.published", "dga2d.domains.core.library"):
    if word in sys.modules:
        found.append(word)


def attack(env_data, state, calc_makespan_fn):
    if found:
        raise SystemExit(", ".join(sorted(set(found))))
    return state
