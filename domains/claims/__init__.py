"""What every domain must keep, written once and for any domain.

A claim is a function that looks at a domain and yields what contradicts it, sentence by sentence; what it
returns at last says how much was tried. ``dga2d domains check`` tries all claims on any domain, the tests of
this project try them on the twelve it ships, and whoever publishes a domain can do the same in tests of their
own, whatever the test framework::

    from dga2d.domains.claims import DESCRIPTION_CLAIMS, examine

    def test_the_domain_describes_itself():
        for claim in DESCRIPTION_CLAIMS:
            assert examine(claim.check, DOMAIN).contradictions == ()

Claims about operators at work take :class:`Trial`: two runs of an operator, by whatever ran them. The check
runs operators in the sandbox.
"""

from dga2d.domains.claims.conduct import conduct_faults, watch_run
from dga2d.domains.claims.descriptions import (
    BASELINES_TITLE,
    DESCRIPTION_CLAIMS,
    LIBRARY_TITLE,
    instances_claim,
    published_claim,
    splits_claim,
)
from dga2d.domains.claims.examination import Claim, Contradictions, Examination, examine
from dga2d.domains.claims.leftovers import leftovers_claim, skeleton_texts
from dga2d.domains.claims.operators import OPERATOR_CLAIMS, Trial, TrialOutcome
from dga2d.domains.claims.outputs import cp_sat_claim, picture_claim, solver_functions_claim, writing_claim
from dga2d.domains.claims.scoring import measured_claim, scoring_claim

__all__ = [
    "BASELINES_TITLE",
    "DESCRIPTION_CLAIMS",
    "LIBRARY_TITLE",
    "OPERATOR_CLAIMS",
    "Claim",
    "Contradictions",
    "Examination",
    "Trial",
    "TrialOutcome",
    "conduct_faults",
    "cp_sat_claim",
    "examine",
    "instances_claim",
    "leftovers_claim",
    "measured_claim",
    "picture_claim",
    "published_claim",
    "scoring_claim",
    "skeleton_texts",
    "solver_functions_claim",
    "splits_claim",
    "watch_run",
    "writing_claim",
]
