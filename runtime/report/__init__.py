"""What a run did, from its log alone: one self-contained page, Markdown, or figures for a paper."""

from dga2d.runtime.report.data import ReportData, read_report_data
from dga2d.runtime.report.render import render_html, render_markdown

__all__ = ["ReportData", "read_report_data", "render_html", "render_markdown"]
