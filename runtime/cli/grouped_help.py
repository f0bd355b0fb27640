"""Help in groups: first the options that people need first, then all others by what they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

FIRST = (
    *("generations", "time_limit", "work", "llm", "llm_calls"),
    *("seed", "and_test", "max_hours", "notify", "data_dir"),
)
GROUPS: Mapping[str, Sequence[str]] = {
    "What people need first": FIRST,
    "The run and its settings": ("run_id", "config_file", "assignments", "url", "domain_path"),
    "What is shown and written": (
        *("report_file", "no_report", "quiet", "as_json", "verbose", "log_json", "help"),
    ),
    "Going on": ("accept_code_change", "rebuild_policy"),
}
"""Title → parameters, in their order."""
BY_PREFIX: Mapping[str, Sequence[str]] = {
    "Language model": ("llm", "bank"),
    "Policy": (
        "policy",
        "learning_rate",
        "max_gradient_norm",
        "lora",
        "gradient_checkpointing",
        "prior",
        "entropy",
    ),
    "Validation and test": ("validation", "checkpoint", "test", "beam"),
    "Racing": ("race",),
    "Evaluation and sandbox": (
        *("evaluators", "sandbox", "memory_", "cpu_", "grace_", "work", "import_", "compile_", "process_"),
        *("open_file", "file_size", "answer_", "calibration"),
    ),
}
"""Title → beginnings of the names of settings; what fits nowhere is the method's."""
METHOD = "Method"


class GroupedCommand(click.Command):
    """A command whose help shows its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows: dict[str, list[tuple[int, tuple[str, str]]]] = {}
        for number, parameter in enumerate(self.get_params(ctx)):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                title, place = _place(parameter.name or "", number)
                rows.setdefault(title, []).append((place, record))
        for title in (*GROUPS, METHOD, *BY_PREFIX):
            if title in rows:
                with formatter.section(title):
                    formatter.write_dl([record for _, record in sorted(rows[title], key=lambda row: row[0])])


def _place(name: str, number: int) -> tuple[str, int]:
    """Return the group of a parameter and its place there."""
    for title, names in GROUPS.items():
        if name in names:
            return title, names.index(name)
    for title, prefixes in BY_PREFIX.items():
        if name.startswith(tuple(prefixes)):
            return title, number
    return METHOD, number
