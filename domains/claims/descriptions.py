"""Claims about what a domain says of itself: card, library, texts, baselines, instances. Nothing is run."""

from __future__ import annotations

import ast
import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import get_args

import numpy as np

from dga2d.domains.claims.examination import Claim, Contradictions
from dga2d.domains.claims.operators import are_equal
from dga2d.domains.core.contract import (
    GIVEN_TO_ALL,
    Domain,
    Implementation,
    InstanceRef,
    Operator,
    OperatorName,
    PipelineStep,
    SolutionKind,
    Tier,
)
from dga2d.domains.core.splits import split
from dga2d.domains.core.statements import parse_quietly, split_statements
from dga2d.domains.core.tunables import find_tunables, tunable_faults
from dga2d.domains.source_rules import check_source

CATEGORIES = ("initialisation", "local_search", "perturbation", "intensification", "recombination")
VALUE_TYPES = (int, float, str, np.ndarray)
CARD_TEXTS = ("title", "objective", "encoding", "decoder", "constraints")
BLOCK = re.compile(r"# exchangeable: ([\w-]+)$")


def implementations(domain: Domain) -> Iterator[Implementation]:
    """Yield every implementation of the library."""
    for operator in domain.operators():
        yield from operator.implementations


# -------------------------------------------------------------------- card and library


def environment_claim(domain: Domain) -> Contradictions:
    """The card says whether walks repeat; the environment has its keys, values of the allowed types, and
    fresh arrays."""
    for text in CARD_TEXTS:
        if not getattr(domain.card, text).strip():
            yield f"the card says nothing under {text!r}"
    instance = domain.smoke_instance()
    environment, again = domain.environment(instance), domain.environment(instance)
    told, given = set(domain.card.environment), set(environment)
    if given & GIVEN_TO_ALL:
        yield (
            f"the environment has {sorted(given & GIVEN_TO_ALL)}, under which operators find something else; "
            "use other names"
        )
    if told - given:
        yield f"the card promises {sorted(told - given)}, which the environment does not have"
    if given - told:
        yield f"the environment has {sorted(given - told)}, which the card does not mention"
    if told == given and domain.card.repeats != getattr(domain.decoder(environment), "repeats", False):
        yield "card and decoder differ in whether a walk repeats"
    for key, value in environment.items():
        if type(value) not in VALUE_TYPES:
            yield f"{key!r} is a {type(value).__name__}: no int, float, str or array"
        elif isinstance(value, np.ndarray):
            if not value.flags.writeable:
                yield f"the array {key!r} is read-only; operators may write into theirs"
            if np.shares_memory(value, again[key]):
                yield f"the array {key!r} is shared by two environments; give out copies"
    return f"{len(environment)} keys"


def library_claim(domain: Domain) -> Contradictions:
    """The operators are described completely, sorted, and their implementations differ."""
    operators = domain.operators()
    ids = [str(operator.id) for operator in operators]
    if len(ids) < 2:
        yield f"the library has {len(ids)} operators; an initialiser and one more are needed"
    if ids != sorted(set(ids)):
        yield "the operators are not sorted by id, or two have one id"
    for operator in operators:
        yield from _operator(operator)
    digests = [i.digest for operator in operators for i in operator.implementations]
    if len(set(digests)) != len(digests):
        yield "two implementations have the same text"
    return f"{len(ids)} operators, {len(digests)} implementations"


def _operator(operator: Operator) -> Iterator[str]:
    name = operator.id
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        yield f"{name!r} is no operator id: lower-case words joined by '_'"
    if operator.category not in CATEGORIES:
        yield f"{name}: category {operator.category!r} is none of {CATEGORIES}"
    if operator.requires not in get_args(SolutionKind):
        yield f"{name}: requires {operator.requires!r}"
    if operator.provides not in ("partial", "complete"):
        yield f"{name}: provides {operator.provides!r}"
    if operator.tier not in get_args(Tier):
        yield f"{name}: tier {operator.tier!r} is not basic or advanced"
    if (operator.category == "initialisation") is not operator.is_initialiser:
        yield f"{name}: requires = 'none' and category = 'initialisation' go together"
    if not operator.implementations:
        yield f"{name} has no implementation"
    for text in ("title", "summary", "complexity", "source"):
        if not getattr(operator, text).strip():
            yield f"{name} has no {text}"
    for implementation in operator.implementations:
        if implementation.operator != name:
            yield f"{implementation.origin} belongs to another operator than {name}"


# -------------------------------------------------------------------- texts


def sources_claim(domain: Domain) -> Contradictions:
    """Every implementation obeys the source rules, and its marks are well formed."""
    blocks: dict[str, str] = {}
    count = 0
    for implementation in implementations(domain):
        count += 1
        violations = check_source(implementation.source)
        for violation in violations:
            yield f"{implementation.origin}:{violation.line}: {violation.message}"
        if any(violation.rule == "syntax" for violation in violations):
            continue
        yield from _tunable_faults(implementation)
        found = exchangeable_blocks(implementation)
        if implementation.source.count("# exchangeable: ") != len(found):
            yield f"{implementation.origin}: a mark '# exchangeable: NAME' stands above no function"
        for block, function in found.items():
            arguments = ast.unparse(function.args)
            known = blocks.setdefault(block, arguments)
            if known != arguments:
                yield (
                    f"{implementation.origin}: block {block!r} takes ({arguments}), "
                    f"elsewhere it takes ({known})"
                )
    return f"{count} texts, {len(blocks)} exchangeable blocks"


def _tunable_faults(implementation: Implementation) -> Iterator[str]:
    source, faults = implementation.source, tunable_faults(implementation.source)
    for line, message in faults:
        yield f"{implementation.origin}:{line}: {message}"
    if source.count("# tunable") != len(faults) + len(find_tunables(source)):
        yield f"{implementation.origin}: a mark '# tunable: …' stands behind no constant of the top level"


def exchangeable_blocks(implementation: Implementation) -> dict[str, ast.FunctionDef]:
    """Return the functions below a mark ``# exchangeable: NAME``, by that name."""
    blocks = {}
    for statement in split_statements(implementation.source, parse_quietly(implementation.source)):
        match = BLOCK.match(statement.above[-1]) if statement.above else None
        if match and isinstance(statement.node, ast.FunctionDef):
            blocks[match[1]] = statement.node
    return blocks


# -------------------------------------------------------------------- baselines


def baselines_claim(domain: Domain) -> Contradictions:
    """Each baseline is made of the library and begins with its only initialiser."""
    operators = {operator.id: operator for operator in domain.operators()}
    named = {
        "safe_baseline": domain.safe_baseline(),
        "basic_baseline": domain.basic_baseline(),
        "ils_baseline": domain.ils_baseline(),
    }
    for name, steps in named.items():
        yield from _baseline(name, steps, operators)
    tiers = {operators[step.operator].tier for step in named["basic_baseline"] if step.operator in operators}
    if tiers != {"basic"}:
        yield "basic_baseline uses an operator that is not of the basic tier"
    basic = [operator for operator in operators.values() if operator.tier == "basic"]
    if all(operator.is_initialiser for operator in basic):
        yield ("the basic tier has nothing but initialisers, so `--library basic` cannot improve anything")
    return ", ".join(f"{name.removesuffix('_baseline')} {len(steps)} steps" for name, steps in named.items())


def _baseline(
    name: str, steps: tuple[PipelineStep, ...], operators: Mapping[OperatorName, Operator]
) -> Iterator[str]:
    if not steps:
        yield f"{name} is empty"
    for position, step in enumerate(steps):
        known = operators.get(step.operator)
        if known is None or step.implementation not in known.implementations:
            yield f"{name}: {step.operator} is not of the library"
        elif known.is_initialiser is not (position == 0):
            yield f"{name}: an initialiser belongs at its first place and nowhere else"


# -------------------------------------------------------------------- instances


def instances_claim(domain: Domain, refs: Iterable[InstanceRef]) -> Contradictions:
    """Every instance can be had, twice alike, and a reference says where it comes from."""
    listed = [ref.key for ref in domain.generated()]
    if listed != sorted(set(listed)):
        yield "the generated instances are not sorted by key, or two have one key"
    refs = tuple(refs)
    contents = dict[str, bytes]()
    for ref in refs:
        yield from _instance(domain, ref, contents)
    unknown = sum(ref.reference is None for ref in refs)
    without = f", {unknown} without a reference: gaps will be to the baseline" if unknown else ""
    parts = split(refs)
    seen = {contents[ref.key] for ref in (*parts.train, *parts.validation)}
    known = sum(contents[ref.key] in seen for ref in parts.test)
    twins = f"; {known} of the test in training or validation, too: no test of them" if known else ""
    return f"{len(refs)} instances in {len({ref.group for ref in refs})} groups{without}{twins}"


def _content(environment: Mapping[str, object]) -> bytes:
    """Return a digest of what operators see of an instance."""
    digest = hashlib.sha256()
    for key, value in sorted(environment.items()):
        array = np.asarray(value)
        digest.update(f"{key} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.digest()


def _instance(domain: Domain, ref: InstanceRef, contents: dict[str, bytes]) -> Iterator[str]:
    if ref.domain != domain.name:
        yield f"{ref.key} says it belongs to {ref.domain!r}"
    reference = ref.reference
    if reference is not None:
        if not math.isfinite(reference.value):
            yield f"{ref.key}: the reference value is no finite number"
        if not reference.source.strip():
            yield f"{ref.key}: the reference does not say where it comes from"
    first, second = (domain.environment(domain.load(ref)) for _ in range(2))
    contents[ref.key] = _content(first)
    differing = [key for key in first if not are_equal(first[key], second[key])]
    if differing:
        yield f"{ref.key} differs from one time to the next in {differing}"


def splits_claim(refs: Iterable[InstanceRef]) -> Contradictions:
    """Training, validation and test have something each."""
    parts = split(refs)
    for name, part in parts._asdict().items():
        if not part:
            yield f"the {name} split is empty; a group of 5 instances or more has something for each"
    return f"{len(parts.train)} training, {len(parts.validation)} validation, {len(parts.test)} test"


def published_claim(domain: Domain, empty: Path) -> Contradictions:
    """An empty data folder has no instances."""
    if domain.published(empty) != ():
        yield "published() finds instances in an empty folder"
    return "an empty folder has none"


LIBRARY_TITLE = "the library is described completely"
BASELINES_TITLE = "baselines are made of the library"
DESCRIPTION_CLAIMS = (
    Claim("the environment has the keys of the card", environment_claim),
    Claim(LIBRARY_TITLE, library_claim),
    Claim("operators obey the source rules", sources_claim),
    Claim(BASELINES_TITLE, baselines_claim),
)
"""Claims about what a domain says; each takes the domain alone."""
