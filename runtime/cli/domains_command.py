"""``domains``: what problems there are, and how a new one is begun and proved sound."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from dga2d.runtime.cli.completion import complete_domains
from dga2d.runtime.cli.options import data_option, domain_path_option, json_option
from dga2d.runtime.cli.output import print_json, print_table
from dga2d.runtime.errors import ExitCode
from dga2d.runtime.shown_text import shown

if TYPE_CHECKING:
    from dga2d.runtime.plugins import Finding


class _DomainsOrCommands(click.Group):
    """``domains NAME`` shows a domain, unless NAME is one of the group's commands."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, args if args[0] in self.commands else ["show", *args])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [] if incomplete.startswith("-") else complete_domains(ctx, self.params[0], incomplete)
        return [*super().shell_complete(ctx, incomplete), *map(CompletionItem, names)]


@click.group(
    cls=_DomainsOrCommands,
    invoke_without_command=True,
    short_help="List, show, begin and check problem domains.",
    subcommand_metavar="[NAME | COMMAND]",
)
@data_option
@json_option
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
@click.argument("name", shell_complete=complete_domains)
@data_option
@json_option
@click.pass_obj
def show(given: tuple[Path | None, bool], name: str, data_dir: Path | None, as_json: bool) -> None:
    """Show a domain's card, instances and operators."""
    from dga2d.runtime.problem import Problem

    view = _domain_view(Problem.open(name, data_dir or given[0]))
    if as_json or given[1]:
        print_json(view)
    else:
        _print_domain(view)


@domains.command(short_help="Write the skeleton of a domain of your own.")
@click.argument("name")
@click.option(
    "--into",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("."),
    show_default="the working directory",
    metavar="DIR",
    help="Folder in which the package NAME is made.",
)
@domain_path_option
@json_option
def new(name: str, folder: Path, as_json: bool) -> None:
    """Write a domain that works at once, the 0/1 knapsack, into the folder NAME; its README says
    what to change.

    \b
    Examples:
      dga2d domains new knapsack
      dga2d evolve knapsack --domain-path . --generations 5 --work 2000
    """
    from dga2d.runtime.plugins import write_skeleton

    written = write_skeleton(name, folder)
    if as_json:
        print_json({"domain": name, "folder": str(folder / name), "files": [str(path) for path in written]})
        return
    for path in written:
        click.echo(path)
    click.echo(f"next: dga2d domains check {name} --domain-path {folder}")


@domains.command(short_help="Prove a domain sound, claim by claim.")
@click.argument("name", shell_complete=complete_domains)
@click.option("--evaluators", type=click.IntRange(1), help="Evaluation processes; one per core by default.")
@click.option("--sandbox", type=click.Choice(["strict", "best-effort", "off"]), default="best-effort")
@data_option
@json_option
def check(name: str, evaluators: int | None, sandbox: str, data_dir: Path | None, as_json: bool) -> int:
    """Try what every domain must keep: one line per claim, exit code 1 if one does not hold.

    Card and environment, library, source rules, baselines, instances and splits; every operator at work in
    the sandbox; decoder against verifier on solutions and broken states; a run of two generations and its
    replay.

    \b
    Examples:
      dga2d domains check knapsack --domain-path .
      dga2d domains check jsp
    """
    import anyio

    from dga2d.runtime.config import make_settings
    from dga2d.runtime.diagnostics import configure

    configure(0, as_json=False)
    settings = make_settings({}, {"evaluators": evaluators, "sandbox": sandbox})
    findings: list[Finding] = []

    async def follow() -> None:
        from dga2d.runtime.plugins import check_domain

        async for finding in check_domain(name, data_dir, settings):
            findings.append(finding)
            if not as_json:
                click.echo(_line(finding))

    anyio.run(follow)
    if as_json:
        print_json([{"claim": f.claim, "holds": f.holds, "detail": f.detail} for f in findings])
    return ExitCode.OK if all(finding.holds for finding in findings) else ExitCode.DIFFERENCE


_WORDS = {True: "ok", False: "FAILED", None: "-"}


def _line(finding: Finding) -> str:
    return f"{_WORDS[finding.holds]:<6}  {finding.claim}: {shown(finding.detail)}"


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
        click.echo(f"  {part}: {' '.join(keys)}")
    click.echo(f"safe baseline: {' → '.join(view['baseline'])}\n")
    print_table(
        ("operator", "tier", "category", "needs", "gives", "implementations", "source"),
        [
            (
                o["id"],
                o["tier"],
                o["category"],
                o["requires"],
                o["provides"],
                len(o["implementations"]),
                o["source"],
            )
            for o in view["operators"]
        ],
    )
