"""What several problems have in common: file formats, solvers, kernels and texts of operators."""
