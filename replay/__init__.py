"""What a log means: the fold from events to state, random streams, settings, verification."""

if not __name__.startswith("dga2d."):
    raise ImportError("import dga2d.replay, not replay")
