from __future__ import annotations

import hashlib

import numpy as np
import pytest

from dga2d.domains.core.contract import InstanceRef
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.rcpsp import DOMAIN
from dga2d.domains.rcpsp.progen import MAX_DEGREE, N_ENDS, Design, designs
from dga2d.domains.rcpsp.project import critical_path_length

every_size = pytest.mark.parametrize("group", ["progen30", "progen60", "progen90", "progen120", "scarce120"])


def of_group(group: str) -> list[Design]:
    return [design for design in designs() if design.group == group]


@every_size
def test_networks_have_the_complexity_and_the_degrees_asked_for(group: str) -> None:
    for design in of_group(group)[:12]:
        n, edges = design.n_activities + 2, design.project().edges
        assert len(edges) == round(design.complexity * n)
        assert (edges[:, 0] < edges[:, 1]).all()
        out_degree, in_degree = np.bincount(edges[:, 0], minlength=n), np.bincount(edges[:, 1], minlength=n)
        assert out_degree[0] == in_degree[-1] == N_ENDS
        assert out_degree[1:-1].max() <= MAX_DEGREE
        assert in_degree[1:-1].max() <= MAX_DEGREE


def test_no_arc_is_redundant() -> None:
    for design in of_group("progen30")[::9]:
        project = design.project()
        n = project.durations.size
        step = np.zeros((n, n), bool)
        step[project.edges[:, 0], project.edges[:, 1]] = True
        farther, reached = step @ step, np.zeros((n, n), bool)
        while farther.any():
            reached |= farther
            farther = farther @ step
        assert not (reached & step).any()


@every_size
def test_requests_follow_the_resource_factor_and_capacities_the_strength(group: str) -> None:
    for design in of_group(group)[:12]:
        project = design.project()
        requests = project.requests[1:-1]
        assert (requests > 0).sum() == round(design.factor * requests.size)
        assert (requests > 0).any(axis=1).all()
        assert project.durations[1:-1].min() >= 1
        assert max(requests.max(), project.durations.max()) <= 10
        assert (project.capacities >= requests.max(axis=0)).all()


def test_with_full_strength_the_longest_path_is_optimal() -> None:
    """Capacities then suffice for the earliest start schedule; the references say so too."""
    values = {ref.key: ref.reference for ref in DOMAIN.generated()}
    plentiful = [design for design in designs() if design.strength == 1.0]
    assert len(plentiful) == 12
    for design in plentiful:
        project, reference = design.project(), values[f"{design.group}/{design.name}"]
        assert reference is not None
        assert reference.value == critical_path_length(project.durations, project.edges)
        assert reference.kind == "optimal"


def test_references_lie_between_the_longest_path_and_the_sum_of_durations() -> None:
    for ref in DOMAIN.generated():
        data = DOMAIN.load(ref).data
        assert ref.reference is not None
        assert critical_path_length(data["durations"], data["edges"]) <= ref.reference.value
        assert ref.reference.value <= data["durations"].sum()


def test_the_generated_instances_keep_their_digest() -> None:
    digest = hashlib.sha256()
    refs = DOMAIN.generated()
    for ref in refs:
        data = DOMAIN.load(ref).data
        digest.update(f"{ref.key} {data['requests'].shape} {data['edges'].shape}".encode())
        for key in ("durations", "requests", "capacities", "edges"):
            digest.update(data[key].astype("<i4").tobytes())
    assert len(refs) == 102
    assert digest.hexdigest() == "380b3c1332f631cdb65639b146369d6543305fb1a9fbb0cbfbbacdde8d2789fc"


def test_an_unknown_generated_instance_is_refused() -> None:
    with pytest.raises(InstanceFormatError):
        DOMAIN.load(InstanceRef("rcpsp", "progen30", "p30_99", None))
