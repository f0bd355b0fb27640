"""Time and memory of the pipeline policy against the plain way, on the same model and machine.

    python benchmarks/policy.py                 # embedded model and a random model of the exact 0.5B shape
    python benchmarks/policy.py --quick         # embedded model only, few repetitions
    python benchmarks/policy.py --shape 0.5B --repetitions 1 --cold     # the shortest look at the large one
    python benchmarks/policy.py --accelerator   # ours alone, on the processor and on a GPU

The plain way is `generate` with a logits processor on N copies of the prompt, then one padded batch of N
sequences with the logits of the whole vocabulary and dense AdamW. Ours reads the prompt once, shares its
keys and values among all walks, scores alias tokens only and trains the vocabulary rows in use. Both start
from the same parameters and learn from the same walks; the losses printed must agree.

Every measurement runs in a process of its own. Times are medians after one warm-up, in which the first
update allocates the optimiser's moments (with `--cold` there is none); processor time is the one to read
where the machine has other work. Memory is the peak resident set over the resident set of the loaded model
plus the parameters themselves, so that neither the interpreter nor the construction of the model counts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from dga2d.agents.policy.contract import PolicyContext, PolicySettings
from dga2d.agents.policy.policies import UniformPolicy
from dga2d.events import OperatorId
from dga2d.replay.state.graph import END, START, OperatorGraph
from dga2d.replay.streams import stream

Walk = tuple[OperatorId, ...]
N_WALKS = 4
REWARDS = (1.3, -0.9, 0.4, -0.8)
ACCELERATED: tuple[tuple[Literal["cpu", "cuda"], Literal["float32", "bfloat16"]], ...] = (
    ("cpu", "float32"),
    ("cuda", "float32"),
    ("cuda", "bfloat16"),
)
STATUS = Path("/proc/self/status")
ROWS = {
    "sample_s": "sampling, s",
    "sample_cpu_s": "  processor, s",
    "update_s": "update, s",
    "update_cpu_s": "  processor, s",
    "peak_gb": "peak memory, GB",
}


def benchmark_context() -> PolicyContext:
    """16 operators, dense edges, L_max = 10; a prompt of the size that the job-shop domain gives."""
    starts = [f"construct_by_rule_{c}" for c in "abc"]
    others = [f"improve_schedule_{c}" for c in "abcdefghijklm"]
    edges = [(START, s) for s in starts] + [(s, o) for s in starts for o in others]
    edges += [(a, b) for a in others for b in others] + [(o, END) for o in others]
    names = [*starts, *others]
    line = "job_count=20; machine_count=15; durations 20x15; machines 20x15; releases 20; due_dates 20"
    return PolicyContext(
        graph=OperatorGraph(
            tuple(OperatorId(n) for n in sorted(names)),
            frozenset(OperatorId(s) for s in starts),
            frozenset((OperatorId(a), OperatorId(b)) for a, b in edges),
        ),
        max_length=10,
        temperature=0.7,
        domain_summary="Job-shop scheduling: order the operations of every machine. Minimise the makespan, "
        "the time at which the last operation ends; every job visits each machine in its own order.",
        instance_summary="\n".join([line] * 3),
        titles={
            OperatorId(n): f"{n.replace('_', ' ').capitalize()}, a method of the literature" for n in names
        },
    )


def make_model(shape: str) -> tuple[Any, Any]:
    """A random model and a tokenizer: ``embedded``, or ``0.5B`` with the shape of Qwen2.5-0.5B."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen2Config

    from dga2d.agents.policy.loading import code_tokenizer, random_model, small_qwen2_config

    if shape == "embedded":
        codes = code_tokenizer()
        return random_model(small_qwen2_config(len(codes)), 1), codes
    pairs = ["".join((a, b)) for a in "ABCDEFGHIJKLMNOP" for b in "ABCDEFGHIJKLMNOP"]
    context = benchmark_context()
    words = [context.domain_summary, context.instance_summary, *context.titles, *context.titles.values()]
    texts = [f" {p}" for p in pairs] * 3 + words * 2
    base = Tokenizer(models.BPE())
    base.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=3000, initial_alphabet=alphabet, special_tokens=["<|endoftext|>"], show_progress=False
    )
    base.train_from_iterator(texts, trainer)
    config = Qwen2Config(
        vocab_size=151936,
        hidden_size=896,
        intermediate_size=4864,
        num_hidden_layers=24,
        num_attention_heads=14,
        num_key_value_heads=2,
        max_position_embeddings=32768,
        tie_word_embeddings=True,
        rms_norm_eps=1e-6,
    )
    tokenizer: Any = PreTrainedTokenizerFast
    return random_model(config, 1), tokenizer(tokenizer_object=base, eos_token="<|endoftext|>")


class Ours:
    """The policy of this program."""

    def __init__(self, model: Any, tokenizer: Any, settings: PolicySettings | None = None) -> None:
        from dga2d.agents.policy.loading import build_policy

        settings = settings or PolicySettings(device="cpu")
        self.policy = build_policy("benchmark", model, tokenizer, 1, settings)

    def sample(self, context: PolicyContext, repetition: int) -> None:
        self.policy.sample(context, [stream(1, "pipeline", repetition, j) for j in range(N_WALKS)])

    def update(self, context: PolicyContext, walks: Sequence[Walk]) -> float:
        return self.policy.update(context, walks, REWARDS).loss


class Plain:
    """The same distribution and the same step by the ordinary means of transformers and torch."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        import torch

        ours = Ours(model, tokenizer).policy  # for prompt and aliases only
        self._tokenize = ours._tokenize
        self._model = model.requires_grad_(True)
        self._end_of_text = int(tokenizer.eos_token_id)
        self._optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.0)

    def sample(self, context: PolicyContext, repetition: int) -> None:
        import torch

        prompted = self._tokenize(context)
        prompt = torch.tensor([prompted.prompt])
        width = len(prompted.aliases[END])

        def restrict(ids: Any, scores: Any) -> Any:
            masked = torch.full_like(scores, -torch.inf)
            for row, tokens in enumerate(ids[:, prompt.shape[1] :].tolist()):
                allowed = self._allowed(context, prompted.aliases, tokens, width)
                masked[row, allowed] = scores[row, allowed]
            return masked

        torch.manual_seed(repetition)
        with torch.no_grad():
            self._model.generate(
                prompt,
                attention_mask=torch.ones_like(prompt),
                do_sample=True,
                temperature=context.temperature,
                top_k=0,
                top_p=1.0,
                num_return_sequences=N_WALKS,
                max_new_tokens=(context.max_length + 1) * width + 1,
                logits_processor=[restrict],
                eos_token_id=self._end_of_text,
                pad_token_id=self._end_of_text,
            )

    def update(self, context: PolicyContext, walks: Sequence[Walk]) -> float:
        import torch

        prompted = self._tokenize(context)
        length, width = len(prompted.prompt), len(prompted.aliases[END])
        written = [[t for o in (*walk, END) for t in prompted.aliases[o]] for walk in walks]
        longest = max(len(tokens) for tokens in written)
        ids = torch.full((len(walks), length + longest), self._end_of_text)
        attention = torch.zeros_like(ids)
        for row, tokens in enumerate(written):
            ids[row, : length + len(tokens)] = torch.tensor([*prompted.prompt, *tokens])
            attention[row, : length + len(tokens)] = 1
        self._optimizer.zero_grad()
        logits = self._model(input_ids=ids, attention_mask=attention, use_cache=False).logits
        totals = []
        for row, tokens in enumerate(written):
            scores = logits[row, length - 1 : length - 1 + len(tokens)] / context.temperature
            masked = torch.full_like(scores, -torch.inf)
            for place in range(len(tokens)):
                allowed = self._allowed(context, prompted.aliases, tokens[:place], width)
                masked[place, allowed] = scores[place, allowed]
            chosen = torch.tensor(tokens)[:, None]
            totals.append(masked.log_softmax(-1).gather(1, chosen).sum())
        loss = -(torch.stack(totals) @ torch.tensor(REWARDS)) / len(walks)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), 1.0)
        self._optimizer.step()
        return float(loss.detach())

    def _allowed(self, context: PolicyContext, aliases: Any, tokens: list[int], width: int) -> list[int]:
        """Token ids that may follow `tokens`, the part of a walk written so far."""
        operators = {alias: operator for operator, alias in aliases.items()}
        whole = len(tokens) // width * width
        history = [
            operators[tuple(tokens[i : i + width])] for i in range(0, whole, width) if self._is_open(tokens)
        ]
        if END in history or not self._is_open(tokens):
            return [self._end_of_text]
        begun = tuple(tokens[whole:])
        feasible = context.graph.feasible_actions(history, context.max_length)
        return sorted({aliases[o][len(begun)] for o in feasible if aliases[o][: len(begun)] == begun})

    def _is_open(self, tokens: list[int]) -> bool:
        return self._end_of_text not in tokens


def resident_bytes(field: str) -> int:
    """``VmRSS`` (now) or ``VmHWM`` (peak) of this process; Linux only."""
    line = next(row for row in STATUS.read_text(encoding="ascii").splitlines() if row.startswith(field))
    return int(line.split()[1]) * 1024


def timed(action: Callable[[int], Any], repetitions: int, is_cold: bool) -> tuple[float, float]:
    """Median wall-clock and processor seconds of a call, after a warm-up unless `is_cold`."""
    if not is_cold:
        action(0)
    wall, processor = [], []
    for repetition in range(1, repetitions + 1):
        start = time.perf_counter(), time.process_time()
        action(repetition)
        wall.append(time.perf_counter() - start[0])
        processor.append(time.process_time() - start[1])
    return statistics.median(wall), statistics.median(processor)


def work(way: str, shape: str, repetitions: int, threads: int, is_cold: bool) -> dict[str, Any]:
    """One measurement, in this process."""
    import torch

    torch.set_num_threads(threads)
    model, tokenizer = make_model(shape)
    context = benchmark_context()
    parameters = sum(p.numel() * p.element_size() for p in model.parameters())
    sampled = UniformPolicy().sample(context, [stream(2, "pipeline", 1, j) for j in range(N_WALKS)])
    walks = [walk.operators for walk in sampled]
    subject = (Ours if way == "ours" else Plain)(model, tokenizer)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak counts from here
    loaded = resident_bytes("VmRSS")
    sampling = timed(lambda r: subject.sample(context, r), repetitions, is_cold)
    losses: list[float] = []
    updating = timed(lambda r: losses.append(subject.update(context, walks)), repetitions, is_cold)
    return {
        "sample_s": sampling[0],
        "sample_cpu_s": sampling[1],
        "update_s": updating[0],
        "update_cpu_s": updating[1],
        "peak_gb": (resident_bytes("VmHWM") - loaded + parameters) / 1e9,
        "losses": losses[:2],
    }


def measured(way: str, shape: str, repetitions: int, threads: int, is_cold: bool) -> dict[str, Any]:
    """The same in a fresh process."""
    command = [sys.executable, "-P", __file__, "--worker", way, shape]
    command += ["--repetitions", str(repetitions), "--threads", str(threads)]
    command += ["--cold"] if is_cold else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{way} on {shape} failed ({done.returncode}):\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(f"{way}: {done.stdout.splitlines()[-1]}", file=sys.stderr, flush=True)
    return found


def report(shape: str, repetitions: int, threads: int, is_cold: bool) -> None:
    """Measure both ways and print a table."""
    ours, plain = (measured(way, shape, repetitions, threads, is_cold) for way in ("ours", "plain"))
    print(f"{shape} model, N = {N_WALKS}, {threads} threads, median of {repetitions}")
    print(f"{'':18}{'plain':>10}{'ours':>10}{'ratio':>10}")
    for key, label in ROWS.items():
        ratio = ours[key] / plain[key] if key == "peak_gb" else plain[key] / ours[key]
        shown = f"{100 * ratio:.0f} %" if key == "peak_gb" else f"{ratio:.1f} x"
        print(f"{label:18}{plain[key]:10.3f}{ours[key]:10.3f}{shown:>10}")
    for number, losses in enumerate(zip(plain["losses"], ours["losses"], strict=True), start=1):
        print(f"{f'loss {number}':18}{losses[0]:10.4f}{losses[1]:10.4f}")


def accelerated(shape: str, repetitions: int, is_cold: bool) -> None:
    """Print what our sampling and updates take on the processor and on the GPU.

    Both end with numbers that the processor needs, so nothing is still under way when the clock stops.
    """
    import torch

    if not torch.cuda.is_available():
        sys.exit("--accelerator: torch finds no GPU here; without the option the processor is measured")
    print(f"{shape} model, N = {N_WALKS}, median of {repetitions}; {torch.cuda.get_device_name()}\n")
    print("| device | format | sampling, s | update, s |")
    print("|---|---|--:|--:|")
    context = benchmark_context()
    sampled = UniformPolicy().sample(context, [stream(2, "pipeline", 1, j) for j in range(N_WALKS)])
    walks = [walk.operators for walk in sampled]
    for device, dtype in ACCELERATED:
        subject = Ours(*make_model(shape), PolicySettings(device=device, dtype=dtype))
        sampling, updating = stages(subject, context, walks, repetitions, is_cold)
        print(f"| {device} | {dtype} | {sampling:.3f} | {updating:.3f} |", flush=True)


def stages(
    subject: Ours, context: PolicyContext, walks: Sequence[Walk], repetitions: int, is_cold: bool
) -> tuple[float, float]:
    """Median wall-clock seconds of sampling and of an update."""
    sampling = timed(lambda repetition: subject.sample(context, repetition), repetitions, is_cold)
    updating = timed(lambda _: subject.update(context, walks), repetitions, is_cold)
    return sampling[0], updating[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="embedded model only, two repetitions")
    parser.add_argument("--shape", choices=("embedded", "0.5B"), help="one model only")
    parser.add_argument("--repetitions", type=int, help="timed repetitions; default 5, or 2 at 0.5B")
    parser.add_argument("--threads", type=int, help="threads of torch; default 1, or all at 0.5B")
    parser.add_argument("--cold", action="store_true", help="no warm-up")
    parser.add_argument("--accelerator", action="store_true", help="ours alone, beside a GPU")
    parser.add_argument("--worker", nargs=2, metavar=("WAY", "SHAPE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        way, shape = options.worker
        print(json.dumps(work(way, shape, options.repetitions, options.threads, options.cold)))
        return
    shapes = (options.shape,) if options.shape else ("embedded",) if options.quick else ("embedded", "0.5B")
    for shape in shapes:
        repetitions = options.repetitions or (2 if options.quick or shape == "0.5B" else 5)
        threads = options.threads or ((os.cpu_count() or 1) if shape == "0.5B" else 1)
        if options.accelerator:
            accelerated(shape, repetitions, options.cold)
        else:
            report(shape, repetitions, threads, options.cold)


if __name__ == "__main__":
    main()
