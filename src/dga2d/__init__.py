"""DGA2D: automated algorithm design on a directed graph of operators, with an audited event log."""

__version__ = "0.1.0"

__all__ = ["__version__"]
