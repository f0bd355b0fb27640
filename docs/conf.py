"""Sphinx: the Markdown pages of the repository as one site, `make docs`.

The source folder is the repository's root, so that links between README and pages are those of the files.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

project = "DGA2D"
project_copyright = "The DGA2D authors"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["README.md", "BENCHMARKS.md", "docs/**.md"]
exclude_patterns = [path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "docs"]

myst_heading_anchors = 3
myst_links_external_new_tab = False
suppress_warnings: list[str] = []
nitpicky = True

html_theme = "furo"
html_title = "DGA2D"
html_extra_path = ["site"]
html_copy_source = False
html_show_sphinx = False
