"""The agents of a run. Each reads the log, decides, performs effects through ports, and appends."""

if not __name__.startswith("dga2d."):
    raise ImportError("import dga2d.agents, not agents")
