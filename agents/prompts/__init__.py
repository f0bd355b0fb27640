"""Versioned prompt templates, ``<name>@<version>.md``; a file that a run has used never changes again."""
