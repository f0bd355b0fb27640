"""``domains``, ``data`` and ``prompt``: the problems, their instances, and the prompts about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from click.shell_completion import CompletionItem

from dga2d.runtime.cli import options
from dga2d.runtime.errors import ExitCode
from dga2d.runtime.terminal.output import print_json, print_table, printable, status_line

if TYPE_CHECKING:
    from dga2d.runtime.domain_check import Finding
    from dga2d.runtime.runs.prompt_preview import Kind


class _DomainsOrCommands(click.Group):
    """``domains NAME`` shows a domain, unless NAME is one of the group's commands."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, args if args[0] in self.commands else ["show", *args])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = (
            [] if incomplete.startswith("-") else options.complete_domains(ctx, self.params[0], incomplete)
        )
        return [*super().shell_complete(ctx, incomplete), *map(CompletionItem, names)]


@click.group(
    cls=_DomainsOrCommands,
    invoke_without_command=True,
    short_help="List, show, begin and check problem domains.",
    subcommand_metavar="[NAME | COMMAND]",
)
@options.data_option
@options.json_option
@click.pass_context
def domains(context: click.Context, data_dir: Path | None, as_json: bool) -> None:
    """Without NAME list the domains; with NAME show its card, instances and operators.

    \b
    Examples:
      dga2d domains jsp
      dga2d domains new knapsack
      dga2d domains check knapsack --domain-path .
    """
    if context.invoked_subcommand is not None:
        context.obj = (data_dir, as_json)
        return
    from dga2d.domains.core.registry import domain_names, get_domain

    rows = [
        {"domain": n, "title": get_domain(n).card.title, "operators": len(get_domain(n).operators())}
        for n in domain_names()
    ]
    if as_json:
        print_json(rows)
    else:
        print_table(
            ("domain", "operators", "title"), [(r["domain"], r["operators"], r["title"]) for r in rows]
        )


@domains.command(hidden=True)
@click.argument("name", shell_complete=options.complete_domains, callback=options.domain_name)
@options.data_option
@options.json_option
@click.pass_obj
def show(given: tuple[Path | None, bool], name: str, data_dir: Path | None, as_json: bool) -> None:
    """Show a domain's card, instances and operators."""
    from dga2d.runtime.runs.problem import Problem

    view = _domain_view(Problem.open(name, data_dir or given[0]))
    if as_json or given[1]:
        print_json(view)
    else:
        _print_domain(view)


@domains.command(short_help="Write the beginning of a problem of your own.")
@click.argument("name")
@click.option("--package", is_flag=True, help="A package with files of its own for all parts, for experts.")
@click.option(
    "--into",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("."),
    show_default="the working directory",
    metavar="DIR",
    help="Folder in which NAME.py, or the package NAME, is made.",
)
@options.domain_path_option
@options.json_option
def new(name: str, package: bool, folder: Path, as_json: bool) -> None:
    """Write a problem that works at once into the file NAME.py, whose text says what to change; with
    --package the 0/1 knapsack into the folder NAME, where a README says it.

    \b
    Examples:
      dga2d domains new trips
      dga2d evolve trips.py --generations 5 --work 2000
      dga2d domains new knapsack --package
    """
    from dga2d.runtime.domain_check import write_problem_file, write_skeleton

    written = write_skeleton(name, folder) if package else write_problem_file(name, folder)
    place = str(folder / name if package else folder)
    if as_json:
        print_json({"domain": name, "folder": place, "files": [str(path) for path in written]})
        return
    for path in written:
        click.echo(path)
    check = f"{name} --domain-path {folder}" if package else str(folder / f"{name}.py")
    click.echo(f"next: dga2d domains check {check}")


@domains.command(short_help="Prove a domain sound, claim by claim.")
@click.argument("name", shell_complete=options.complete_domains, callback=options.domain_name)
@click.option("--evaluators", type=click.IntRange(1), help="Evaluation workers; one per core by default.")
@click.option("--sandbox", type=click.Choice(["strict", "best-effort", "off"]), default="best-effort")
@options.data_option
@options.json_option
def check(name: str, evaluators: int | None, sandbox: str, data_dir: Path | None, as_json: bool) -> int:
    """Try what every domain must keep: a line per claim and per contradiction, exit code 1 if there is one.

    Card and environment, library, source rules, baselines, instances and splits; every operator and every
    baseline at work in the sandbox; decoder against verifier on solutions and broken states; solution file,
    picture and OR-Tools' solution; what a copy of the skeleton has left of it; a run of two generations and
    its replay.

    \b
    Examples:
      dga2d domains check knapsack --domain-path .
      dga2d domains check jsp
    """
    from dga2d.runtime.runs.config import make_settings
    from dga2d.runtime.terminal.diagnostics import configure

    configure(0, as_json=False)
    settings = make_settings({}, {"evaluators": evaluators, "sandbox": sandbox})
    findings: list[Finding] = []

    async def follow() -> None:
        from dga2d.runtime.domain_check import check_domain

        async for finding in check_domain(name, data_dir, settings):
            findings.append(finding)
            if not as_json:
                click.echo("\n".join(_lines(finding)))

    options.run_async(follow)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    return ExitCode.OK if all(finding.holds for finding in findings) else ExitCode.DIFFERENCE


_WORDS = {True: "ok", False: "FAILED", None: "-"}


_MOST_SHOWN = 12
"""Contradictions of one claim that are printed; ``--json`` has them all."""


def _lines(finding: Finding) -> Iterator[str]:
    yield f"{_WORDS[finding.holds]:<6}  {finding.claim}: {printable(finding.detail)}"
    more = finding.contradictions[1:]
    for contradiction in more[: _MOST_SHOWN - 1]:
        yield f"        {printable(contradiction)}"
    if len(more) >= _MOST_SHOWN:
        yield f"        and {len(more) - _MOST_SHOWN + 1} more"


def _domain_view(problem: Any) -> dict[str, Any]:
    domain = problem.domain
    card = domain.card
    return {
        "domain": domain.name,
        "title": card.title,
        "objective": card.objective,
        "encoding": card.encoding,
        "decoder": card.decoder,
        "environment": dict(card.environment),
        "constraints": card.constraints,
        "instances": {
            part: [ref.key for ref in getattr(problem.splits, part)]
            for part in ("train", "validation", "test")
        },
        "only_named": [ref.key for ref in problem.others],
        "baseline": [step.operator for step in domain.safe_baseline()],
        "operators": [
            {
                "id": op.id,
                "title": op.title,
                "category": op.category,
                "tier": op.tier,
                "requires": op.requires,
                "provides": op.provides,
                "implementations": [i.id for i in op.implementations],
                "source": op.source,
            }
            for op in domain.operators()
        ],
    }


_NAMES_SHOWN = 40
"""Instances of a part that are named in the text; ``--json`` has all."""


def _some_of(keys: list[str]) -> str:
    """Return the keys on a line; of many the first ones and how many there are besides."""
    more = len(keys) - _NAMES_SHOWN
    return " ".join(keys[:_NAMES_SHOWN]) + (f" and {more} more (--json names all)" if more > 0 else "")


def _print_domain(view: dict[str, Any]) -> None:
    click.echo(f"{view['title']} ({view['domain']})")
    for key in ("objective", "encoding", "decoder", "constraints"):
        click.echo(f"\n{key}: {view[key]}")
    click.echo("\nenvironment:")
    for key, text in view["environment"].items():
        click.echo(f"  {key}: {text}")
    sizes = {part: len(keys) for part, keys in view["instances"].items()}
    click.echo(
        f"\ninstances: {sizes['train']} training, {sizes['validation']} validation, {sizes['test']} test"
    )
    for part, keys in view["instances"].items():
        click.echo(f"  {part}: {_some_of(keys)}")
    if view["only_named"]:
        click.echo(f"  where their group is named, too: {_some_of(view['only_named'])}")
    click.echo(f"safe baseline: {' → '.join(view['baseline'])}\n")
    columns = ("id", "tier", "category", "requires", "provides")
    print_table(
        ("operator", "tier", "category", "needs", "gives", "implementations", "source"),
        [(*(o[key] for key in columns), len(o["implementations"]), o["source"]) for o in view["operators"]],
    )


@click.group(invoke_without_command=True, short_help="List and check benchmark instances.")
@options.data_option
@options.json_option
@click.pass_context
def data(context: click.Context, data_dir: Path | None, as_json: bool) -> None:
    """List the instances of all domains by group: generated ones, or with --data the published ones there.

    \b
    Examples:
      dga2d data
      dga2d data --data benchmarks/
      dga2d data check --data benchmarks/ jsp
    """
    if context.invoked_subcommand is not None:
        return
    from dga2d.runtime.runs.problem import inventory

    rows = inventory(data_dir)
    if as_json:
        print_json(rows)
        return
    print_table(
        ("domain", "group", "instances", "training", "validation", "test", "references"),
        [
            (
                *(row[key] for key in ("domain", "group", "instances", "train", "validation", "test")),
                ", ".join(f"{count} {kind}" for kind, count in row["references"].items())
                + (" (only where the group is named)" if row["only_named"] else ""),
            )
            for row in rows
        ],
    )


@data.command(name="check", short_help="Read or generate every instance.")
@click.argument("domains", nargs=-1, shell_complete=options.complete_domains)
@options.data_option
@options.json_option
def check_data(domains: tuple[str, ...], data_dir: Path | None, as_json: bool) -> int:
    """Read, or without --data generate, every instance of DOMAINS (all by default).

    The exit code is 1 if any cannot be had; each fault is named on stderr with its file and line.
    """
    from dga2d.runtime.runs.problem import check_instances

    report = check_instances(data_dir, domains, status_line())
    if as_json:
        print_json(report)
    else:
        for row in report:
            click.echo(f"{row['domain']}: {row['instances']} instances, {len(row['faults'])} faults")
            for fault in row["faults"]:
                click.echo(f"error: {fault['error']}", err=True)
    is_sound = not any(row["faults"] for row in report)
    return ExitCode.OK if is_sound else ExitCode.DIFFERENCE


KINDS = ("initialize", "implement-add", "implement-replace", "connect-replace", "connect-delta")


@click.command(short_help="Print a prompt as a run would send it.")
@options.domain_argument
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--operator", metavar="NAME", help="Operator whose implementation is asked for.")
@click.option("--refused", metavar="TEXT", help="Diagnostic of a refused answer: prints the repair.")
@options.domain_path_option
@options.json_option
def prompt(domain: str, kind: str, operator: str | None, refused: str | None, as_json: bool) -> None:
    """Print the prompt of KIND for DOMAIN, for the library's own graph and pools.

    \b
    Examples:
      dga2d prompt jsp implement-add --operator tabu_search_n7
      dga2d prompt tsp connect-replace --refused "the edge is in the graph already"
    """
    from dga2d.agents.proposing.prompts import answer_schema, render
    from dga2d.domains.core.registry import get_domain
    from dga2d.replay.settings import RunSettings
    from dga2d.runtime.runs.prompt_preview import preview_task

    named = cast("Kind", kind)
    task = preview_task(get_domain(domain), named, operator, refused, RunSettings())
    rendered = render(task)
    if as_json:
        print_json({"template": rendered.template, "text": rendered.text, "schema": answer_schema(task)})
    else:
        click.echo(rendered.text, nl=False)
