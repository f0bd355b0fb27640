"""Weighted tardiness on a single machine: an order of jobs, scored in plain numpy.

dga2d evolve examples/tardiness.py --work 20000 --generations 8 --test
"""

import numpy as np

import dga2d


class WeightedTardiness(dga2d.Problem):
    """Total weighted tardiness of jobs on a single machine.

    The jobs are done one after the other in the order of the solution. A job that ends after its due date is
    late; the score is the sum of the lateness of all jobs, each times the weight of the job.
    """

    fields = {
        "times": "time that each job takes",
        "weights": "weight of each job's lateness",
        "due": "due date of each job",
    }

    def instances(self):
        """Jobs drawn like those of the OR-Library: due dates around 1 - TF of all work, RDD of it apart."""
        found = {}
        for tightness in (0.4, 0.6, 0.8):
            for spread in (0.2, 0.4, 0.6, 0.8):
                for number in range(3):
                    rng = np.random.default_rng([int(10 * tightness), int(10 * spread), number])
                    times = rng.integers(1, 101, 50)
                    work = int(times.sum())
                    middle = 1.0 - tightness
                    low, high = max(middle - spread / 2, 0.0) * work, (middle + spread / 2) * work
                    found[f"tf{tightness}-rdd{spread}-{number}"] = {
                        "times": times,
                        "weights": rng.integers(1, 11, 50),
                        "due": rng.integers(int(low), int(high) + 1, 50),
                    }
        return found

    def encoding(self, instance):
        """The solution is an order of the jobs."""
        return dga2d.Permutation(len(instance.times))

    def score(self, instance, order):
        """Total weighted tardiness, to be small."""
        ends = np.cumsum(instance.times[order])
        late = np.maximum(ends - instance.due[order], 0)
        return (late * instance.weights[order]).sum()
