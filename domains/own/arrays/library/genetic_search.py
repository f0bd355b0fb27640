"""Genetic search: a small population of solutions, children mixed of two and improved a little.

Method: POPULATION solutions, the given one and random ones, improved by STEPS random changes that do not
lose. Parents are the better of two random members; the child replaces the worst if it is better. Uses its
whole share.
Source: J. H. Holland, "Adaptation in natural and artificial systems" (1975); uniform crossover of G. Syswerda
(1989).
Complexity: STEPS scores per child. Work units: one per score.
"""

POPULATION = 8  # tunable: int 3..40
STEPS = 60  # tunable: int 0..1000


def improved(state, env_data, decode):
    """The state after random changes that do not lose, and its score."""
    score = decode(state)
    for _ in range(STEPS):
        if env_data["budget"].exhausted():
            break
        tried = env_data["solution_neighbour"](state, env_data["rng"])
        changed = decode(tried)
        if changed <= score:
            state, score = tried, changed
    return state, score


def better_of_two(members, rng):
    """The better of two random members."""
    first, second = rng.integers(len(members), size=2)
    return min(members[first], members[second], key=lambda one: one[1])[0]


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    members = [(state, calc_makespan_fn(state))]
    while len(members) < POPULATION and not budget.exhausted():
        members.append(improved(env_data["solution_random"](rng), env_data, calc_makespan_fn))
    while not budget.exhausted():
        parents = better_of_two(members, rng), better_of_two(members, rng)
        child = env_data["solution_crossed"](parents[0], parents[1], rng)
        child = env_data["solution_neighbour"](child, rng)
        child, score = improved(child, env_data, calc_makespan_fn)
        worst = max(range(len(members)), key=lambda k: members[k][1])
        if score < members[worst][1]:
            members[worst] = child, score
    return min(members, key=lambda one: one[1])[0]
