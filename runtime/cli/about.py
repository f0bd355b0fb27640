"""``domains`` and ``doctor``: what there is, and what works on this machine."""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import Any

import click

from dga2d import __version__
from dga2d.runtime.cli.options import data_option, json_option, store_option
from dga2d.runtime.cli.output import print_json, print_table
from dga2d.runtime.errors import ExitCode


@click.command(short_help="List the problem domains, or show one.")
@click.argument("name", required=False)
@data_option
@json_option
def domains(name: str | None, data_dir: Path | None, as_json: bool) -> None:
    """Without NAME list the domains; with NAME show its card, instances and operators."""
    from dga2d.domains.registry import domain_names, get_domain
    from dga2d.runtime.problem import Problem

    if name is None:
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
        return
    view = _domain_view(Problem.open(name, data_dir))
    if as_json:
        print_json(view)
    else:
        _print_domain(view)


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


@click.command(short_help="Say what works on this machine.")
@store_option
@json_option
def doctor(url: str, as_json: bool) -> int:
    """Check Python, packages, the sandbox's layers and the database."""
    from importlib.metadata import version

    from dga2d.runtime.doctor import examine

    report = examine(url)
    view = {
        "dga2d": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "executable": sys.executable,
        "packages": {
            name: version(name) for name in ("torch", "transformers", "numba", "numpy", "sqlalchemy")
        },
        **report,
    }
    if as_json:
        print_json(view)
    else:
        _print_doctor(view)
    return ExitCode.OK if view["is_database_usable"] else ExitCode.DIFFERENCE


def _print_doctor(view: dict[str, Any]) -> None:
    click.echo(f"dga2d {view['dga2d']}, Python {view['python']}, {view['platform']}")
    click.echo(", ".join(f"{name} {number}" for name, number in view["packages"].items()))
    click.echo(f"cores {view['cores']}, memory {view['memory_gib']:.1f} GiB, cache {view['cache']}")
    click.echo(f"database {view['store']}: {view['database']}")
    print_table(("sandbox layer", "state"), list(view["sandbox"].items()))


COMMANDS = (domains, doctor)
