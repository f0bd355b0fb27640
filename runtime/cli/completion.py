"""What a shell offers after Tab: names of domains, and of the runs in the database the command would use."""

from __future__ import annotations

import os

import click

from dga2d.domains.core.errors import DomainError
from dga2d.events import Dga2dError
from dga2d.store import DEFAULT_URL


def complete_domains(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Domains whose names begin with `incomplete`; none where a plug-in cannot be used."""
    from dga2d.domains.core.registry import domain_names

    try:
        return [name for name in domain_names() if name.startswith(incomplete)]
    except DomainError:
        return []


def complete_runs(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Runs whose names begin with `incomplete`, latest first; none where there is no database."""
    return _runs(context, incomplete, None)


def complete_runs_of_domain(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The same for an option of a command whose first argument is a domain: runs of that domain alone."""
    before_the_option = context.args  # unread, since the value the option needs is not there yet
    return _runs(context, incomplete, before_the_option[0] if before_the_option else None)


def _runs(context: click.Context, incomplete: str, domain: str | None) -> list[str]:
    import anyio

    url = context.params.get("url") or os.environ.get("DGA2D_STORE") or DEFAULT_URL
    try:
        names = anyio.run(_run_names, url, domain)
    except Dga2dError:
        return []
    return [name for name in reversed(names) if name.startswith(incomplete)]


async def _run_names(url: str, domain: str | None) -> list[str]:
    from dga2d.store import open_store

    async with open_store(url, create=False, read_only=True) as store:
        return [run.run_id for run in await store.runs() if domain is None or run.domain == domain]


run_argument = click.argument("run", shell_complete=complete_runs)
domain_argument = click.argument("domain", shell_complete=complete_domains)
