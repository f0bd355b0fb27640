"""Export of an evolved algorithm: one readable file that needs numpy and numba only, or a package of it."""

from dga2d.runtime.solver_export.export import Choice, Provenance, SolverExport, export_solver, solver_source
from dga2d.runtime.solver_export.package import write_package

__all__ = ["Choice", "Provenance", "SolverExport", "export_solver", "solver_source", "write_package"]
