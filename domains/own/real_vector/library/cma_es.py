"""Covariance matrix adaptation: samples of a normal distribution that learns the shape of the landscape.

Method: CMA-ES with rank-one and rank-mu updates and cumulative step-size control; samples beyond a bound are
scored at the bound and drawn back. It begins around the vector with FIRST of the ranges, and anew, with twice
the population, when the steps are below FINEST. Uses its whole share; gives the best vector met.
Source: N. Hansen, "The CMA evolution strategy: a tutorial" (2016); A. Auger, N. Hansen, "A restart CMA
evolution strategy with increasing population size" (2005).
Complexity: O(n²) and one score per sample, O(n³) now and then. Work units: one per score.
"""

import math

import numpy as np

FIRST = 0.1  # tunable: float 0.001..0.5
GROWTH = 2.0  # tunable: float 1.0..4.0
FINEST = 1e-8


class Distribution:
    """Mean, step and covariance in units of the ranges, and the strategy's constants."""

    def __init__(self, mean, population):
        n = mean.size
        mu = population // 2
        weights = math.log(mu + 0.5) - np.log(np.arange(1, mu + 1))
        self.weights = weights / weights.sum()
        self.mass = 1.0 / float((self.weights**2).sum())
        self.mean, self.step, self.population = mean.copy(), FIRST, population
        self.path, self.step_path = np.zeros(n), np.zeros(n)
        self.covariance, self.basis, self.scales = np.eye(n), np.eye(n), np.ones(n)
        self.path_rate = (4.0 + self.mass / n) / (n + 4.0 + 2.0 * self.mass / n)
        self.step_rate = (self.mass + 2.0) / (n + self.mass + 5.0)
        self.one_rate = 2.0 / ((n + 1.3) ** 2 + self.mass)
        mu_rate = 2.0 * (self.mass - 2.0 + 1.0 / self.mass) / ((n + 2.0) ** 2 + self.mass)
        self.mu_rate = min(1.0 - self.one_rate, mu_rate)
        self.damping = 1.0 + 2.0 * max(0.0, math.sqrt((self.mass - 1.0) / (n + 1.0)) - 1.0) + self.step_rate
        self.usual = math.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n))
        self.count, self.decomposed = 0, 0

    def learn(self, points):
        """Take in the better half of a sample, best first."""
        n = self.mean.size
        change = (self.weights @ points - self.mean) / self.step
        rate = self.step_rate
        whitened = self.basis @ ((self.basis.T @ change) / self.scales)
        self.step_path = (1.0 - rate) * self.step_path + math.sqrt(rate * (2.0 - rate) * self.mass) * whitened
        length = float(np.linalg.norm(self.step_path))
        self.count += 1
        is_calm = (
            length / math.sqrt(1.0 - (1.0 - rate) ** (2 * self.count)) < (1.4 + 2.0 / (n + 1)) * self.usual
        )
        rate = self.path_rate
        pull = math.sqrt(rate * (2.0 - rate) * self.mass) * change if is_calm else 0.0
        self.path = (1.0 - rate) * self.path + pull
        steps = (points - self.mean) / self.step
        self.covariance = (
            (1.0 - self.one_rate - self.mu_rate) * self.covariance
            + self.one_rate * np.outer(self.path, self.path)
            + self.mu_rate * (steps.T * self.weights) @ steps
        )
        self.mean = self.mean + self.step * change
        self.step *= math.exp(min((self.step_rate / self.damping) * (length / self.usual - 1.0), 1.0))
        if (self.count - self.decomposed) * (self.one_rate + self.mu_rate) * n * 10.0 > 1.0:
            self.decompose()

    def decompose(self):
        """Find the axes of the covariance."""
        self.decomposed = self.count
        self.covariance = (self.covariance + self.covariance.T) / 2.0
        values, self.basis = np.linalg.eigh(self.covariance)
        self.scales = np.sqrt(np.maximum(values, 1e-20))


def run(env_data, state, calc_makespan_fn):
    rng, budget = env_data["rng"], env_data["budget"]
    low, high = env_data["solution_low"], env_data["solution_high"]
    span = np.where(high > low, high - low, 1.0)
    best = np.clip(np.array(state.metadata["x"], dtype=np.float64), low, high)
    best_score, n = calc_makespan_fn(state), best.size
    population = 4 + int(3 * math.log(n))
    while not budget.exhausted():
        known = Distribution((best - low) / span, population)
        while FINEST < known.step < 1e3 and not budget.exhausted():
            points, scores = [], []
            for _ in range(known.population):
                point = known.mean + known.step * (known.basis @ (known.scales * rng.normal(size=n)))
                inside = np.clip(point, 0.0, 1.0)
                state.metadata["x"] = np.clip(low + span * inside, low, high)
                score = calc_makespan_fn(state)
                if score < best_score:
                    best, best_score = state.metadata["x"], score
                points.append(inside)
                scores.append(score)
                if budget.exhausted():
                    break
            if len(points) < known.population:
                break
            order = np.argsort(np.array(scores), kind="stable")[: known.weights.size]
            known.learn(np.array(points)[order])
        population = min(int(GROWTH * population) + 1, 40 * n)
    state.metadata["x"] = best.copy()
    return state
