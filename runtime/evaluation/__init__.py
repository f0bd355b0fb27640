"""Isolated evaluation of untrusted candidate programs.

A pool of *zygotes* (warm interpreters started by exec with a clean environment) forks one sealed child per
evaluation. The child returns a solution as plain bytes; the parent verifies it with the domain's independent
verifier and computes the objective itself.

The zygotes import this package too; what belongs to the parent (anyio, the domains) stays out of it.
"""
