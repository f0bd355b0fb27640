"""Writes the parts of the reference that follow from the code."""
