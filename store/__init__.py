"""PLACEHOLDER"""

if not __name__.startswith("dga2d."):
    raise ImportError("import dga2d.store, not store")
