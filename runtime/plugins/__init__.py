"""Domains of a user's own: the skeleton they begin with, and the proof that one is sound."""

from dga2d.runtime.plugins.findings import Finding
from dga2d.runtime.plugins.skeleton import write_skeleton
from dga2d.runtime.plugins.soundness import check_domain

__all__ = ["Finding", "check_domain", "write_skeleton"]
