"""Methods that evolve complete programs: what one decides, those that are shipped, how one is found."""

from dga2d.agents.methods.contract import Ask, Method, Plan, Population, Search, Variation
from dga2d.agents.methods.search import (
    MethodError,
    get_method,
    library_operators,
    method_end,
    method_names,
    next_plan,
    search_of,
    seeds_of,
)

__all__ = [
    "Ask",
    "Method",
    "MethodError",
    "Plan",
    "Population",
    "Search",
    "Variation",
    "get_method",
    "library_operators",
    "method_end",
    "method_names",
    "next_plan",
    "search_of",
    "seeds_of",
]
