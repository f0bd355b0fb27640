"""The 0/1 knapsack problem, the smallest complete domain: what `dga2d domains new --package` writes.

``DOMAIN`` is what the program looks for. README.md says what to change in which file.
"""

from dga2d.domains.skeleton.domain import Problem

DOMAIN = Problem()
