"""The command line: one module per group of commands; everything heavy is imported where it is used."""

from dga2d.runtime.cli.app import main

__all__ = ["main"]
