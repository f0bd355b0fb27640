"""What the methods ask a model for, in our own words; the letters are those of EoH and MCTS-AHD.

References
----------
F. Liu et al., "Evolution of Heuristics: Towards Efficient Automatic Algorithm Design Using Large Language
Model", ICML 2024 (i1, e1, e2, m1, m2, m3). Z. Zheng et al., "Monte Carlo Tree Search for Comprehensive
Exploration in LLM-Based Automatic Heuristic Design", ICML 2025 (s1 and descriptions).
"""

from __future__ import annotations

from dga2d.agents.methods.contract import Variation

I1 = Variation("Write a program of your own for this problem. Choose the method freely.", shows_library=True)
E1 = Variation(
    "Write a program whose method has nothing of the form of those above: another way to construct, another "
    "neighbourhood, another strategy of search.",
    shows_library=True,
)
E2 = Variation(
    "Find the idea that the programs above have in common. Write a program that rests on this idea and is "
    "otherwise different from all of them.",
    shows_library=True,
)
M1 = Variation(
    "Write a modified version of the program above: a changed form of the same method that promises better "
    "solutions."
)
M2 = Variation(
    "Name to yourself the parameters of the program above. Write the same program with other settings of "
    "these parameters."
)
M3 = Variation(
    "Find the parts of the program above that are likely to fit the training instances and nothing else. "
    "Write a simpler program without them that holds on other instances, too."
)
