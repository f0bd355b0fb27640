"""Runs as single files: written, read and verified in constant memory (`docs/reference/export-format.md`)."""
