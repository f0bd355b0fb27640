"""What a run did, told from its log alone: one self-contained page, or Markdown."""

from dga2d.runtime.report.render import render_html, render_markdown
from dga2d.runtime.report.story import RunStory, read_story

__all__ = ["RunStory", "read_story", "render_html", "render_markdown"]
