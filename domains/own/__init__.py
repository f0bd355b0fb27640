"""Problems in one file: a class with instances, a score and a built-in solution space becomes a domain.

`Problem` and the encodings are what ``import dga2d`` gives; the operators stand in the folders beside.
"""
