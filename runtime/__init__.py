"""Composition: configuration, supervisor, evaluator pool, command line, reports."""

if not __name__.startswith("dga2d."):
    raise ImportError("import dga2d.runtime, not runtime")
