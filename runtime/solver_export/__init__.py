"""Takes an evolved algorithm out of the program: one readable file that needs numpy and numba only."""

from dga2d.runtime.solver_export.export import Provenance, solver_source

__all__ = ["Provenance", "solver_source"]
