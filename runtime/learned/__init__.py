"""Learned solvers: networks that build solutions, trained here, as baselines beside the evolved ones."""
