"""Export of an evolved algorithm: one readable file that needs numpy and numba only."""

from dga2d.runtime.solver_export.export import Provenance, SolverExport, export_solver, solver_source

__all__ = ["Provenance", "SolverExport", "export_solver", "solver_source"]
