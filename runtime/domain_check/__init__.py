"""Domains of a user's own: the skeleton they begin with, and the check that proves one sound."""

from dga2d.runtime.domain_check.check import Finding, check_descriptions, check_domain
from dga2d.runtime.domain_check.skeleton import write_problem_file, write_skeleton

__all__ = ["Finding", "check_descriptions", "check_domain", "write_problem_file", "write_skeleton"]
