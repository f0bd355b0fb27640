"""What sampling for several runs in one batch could save at most, on the policy's model.

    python benchmarks/policy_batches.py                     # embedded model and the 0.5B shape, 1 to 4 runs
    python benchmarks/policy_batches.py --shape embedded --runs 1 2 4 8
    python benchmarks/policy_batches.py --device cuda --dtype bfloat16

Two calls make up sampling: reading a prompt, and steps in which every walk gets a token. Each row compares as
many calls as there are runs with one call on all of their rows. All rows go through the same weights, as
those of runs do before their first update alone; from then on each run has parameters of its own, and one
batch would have to multiply each row by other matrices. So a ratio is a bound from above.

Times are medians after one warm-up.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from policy import N_WALKS, Ours, benchmark_context, make_model

SHAPES = ("embedded", "0.5B")


def median_s(action: Callable[[], Any], repetitions: int, device: str) -> float:
    """Return the median wall-clock seconds of a call."""
    taken = []
    for _ in range(1 + repetitions):
        start = time.perf_counter()
        action()
        if device == "cuda":
            torch.cuda.synchronize()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken[1:])


@torch.no_grad()
def measure(model: Any, prompt: torch.Tensor, runs: int, repetitions: int) -> dict[str, tuple[float, float]]:
    """Return, for reading and for a step, seconds of a call for each run and of one call for all."""
    device = prompt.device.type
    together = prompt.expand(runs, -1)

    def reading(rows: torch.Tensor) -> Any:
        return model.model(input_ids=rows, use_cache=True).past_key_values

    def step(rows: int) -> Callable[[], Any]:
        """Return a call that adds a token to `rows` walks, and takes it back."""
        cache = reading(prompt.expand(rows, -1))
        token = prompt[:, -1:].expand(rows, -1)

        def one_step() -> None:
            model.model(input_ids=token, past_key_values=cache, use_cache=True)
            cache.crop(-1)

        return one_step

    apart, joined = step(N_WALKS), step(N_WALKS * runs)
    return {
        "reading a prompt": (
            median_s(lambda: [reading(prompt) for _ in range(runs)], repetitions, device),
            median_s(lambda: reading(together), repetitions, device),
        ),
        f"a token for {N_WALKS} walks": (
            median_s(lambda: [apart() for _ in range(runs)], repetitions, device),
            median_s(joined, repetitions, device),
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, help="one model only")
    parser.add_argument("--runs", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0, help="threads of torch; 0: as many as there are")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    print(f"{options.device}, {options.dtype}, {torch.get_num_threads()} threads\n")
    print("| model | call | runs | each for itself, s | in one batch, s | ratio |")
    print("|---|---|--:|--:|--:|--:|")
    for shape in (options.shape,) if options.shape else SHAPES:
        model, tokenizer = make_model(shape)
        tokens = Ours(model, tokenizer).policy._tokenize(benchmark_context()).prompt
        model = model.to(options.device, getattr(torch, options.dtype)).eval()
        prompt = torch.tensor([tokens], device=options.device)
        for runs in options.runs:
            for call, (apart, joined) in measure(model, prompt, runs, options.repetitions).items():
                row = f"{runs} | {apart:.4f} | {joined:.4f} | {apart / joined:.2f}"
                print(f"| {shape} | {call}, {len(tokens)} tokens before | {row} |", flush=True)


if __name__ == "__main__":
    main()
