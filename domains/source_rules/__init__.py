"""Static rules for implementations: what a text may contain, checked before anything of it runs.

The rules are closed lists (:mod:`dga2d.domains.source_rules.tables`) of kinds of syntax, names, attributes,
keywords and strings that Python would read as code. They keep honest proposers on the contract and say early
and clearly what is wrong. They are a filter and not the barrier: that is the sandbox, which trusts no text,
checked or not.
"""

from dga2d.domains.source_rules.expressions import SourceViolation
from dga2d.domains.source_rules.tables import ALLOWED_IMPORTS
from dga2d.domains.source_rules.text import MAX_SOURCE_BYTES, SIGNATURE, check_source

__all__ = ["ALLOWED_IMPORTS", "MAX_SOURCE_BYTES", "SIGNATURE", "SourceViolation", "check_source"]
