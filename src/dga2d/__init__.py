"""DGA2D: automated algorithm design on a directed graph of operators, with an audited event log."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("dga2d")
except PackageNotFoundError:  # running from a checkout that was never installed
    __version__ = "0.0.0+checkout"

__all__ = ["__version__"]
