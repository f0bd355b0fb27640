"""Versioned prompt templates, ``<name>@<version>.md``; a file that a run has used never changes again."""

if not __name__.startswith("dga2d."):
    raise ImportError("import dga2d.agents.prompts, not agents.prompts")
