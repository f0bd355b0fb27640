"""Parameters of the tests that domains inherit, and the folder of published instances."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

for claims in ("library_claims", "scoring_claims", "reading_claims"):
    pytest.register_assert_rewrite(f"tests.domains.{claims}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests of ``library_claims`` per implementation, those of ``reading_claims`` per malformed text.

    There are hundreds of texts, so every third is run each time, the others if slow. What is slow anyway, the
    compiler above all, is done for every sixth one, for the others if long.
    """
    specimen = getattr(metafunc.cls, "specimen", None)
    if specimen is None:
        return
    if "implementation" in metafunc.fixturenames:
        is_slow = metafunc.definition.get_closest_marker("slow") is not None
        is_run = "plain" in metafunc.fixturenames
        step, rest = (6, pytest.mark.long) if is_slow else (3, pytest.mark.slow if is_run else ())
        cases = [
            pytest.param(
                *case,
                id=case[1].origin.removeprefix("library:"),
                marks=rest if number % step else (),
            )
            for number, case in enumerate(specimen.cases)
        ]
        metafunc.parametrize(("operator", "implementation"), cases)
    if "malformed" in metafunc.fixturenames:
        metafunc.parametrize("malformed", specimen.malformed.values(), ids=specimen.malformed.keys())


@pytest.fixture
def data_dir(request: pytest.FixtureRequest) -> Path:
    """Folder of published instances, with those of the domain whose tests ask.

    It is named by DGA2D_DATA, else it is ``shared/benchmarks`` beside the repository. The instances belong
    to others and cannot be part of the repository: where they are not, the test is skipped.
    """
    domain = request.path.parent.name
    root = Path(__file__).resolve().parents[2]
    folder = Path(os.environ.get("DGA2D_TEST_DATA", root.parent / "shared" / "benchmarks"))
    if not (folder / domain).is_dir():
        pytest.skip(f"no published instances of {domain} below {folder} (set DGA2D_DATA)")
    return folder
