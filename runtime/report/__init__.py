"""What a run did, told from its log alone: one self-contained page, or Markdown."""

from dga2d.runtime.report.data import RunStory, read_story
from dga2d.runtime.report.render import render_html, render_markdown

__all__ = ["RunStory", "read_story", "render_html", "render_markdown"]
