"""A tiny transformer on this machine as a language model."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tests.agents.made_up_library import CARD
from tests.fakes.conversation import LIBRARY
from tests.system.conftest import SMALL, Program

from dga2d.agents.proposing.errors import CallLostError
from dga2d.agents.proposing.models import CompletionRequest, LanguageModel
from dga2d.agents.proposing.prompts import Prompt
from dga2d.agents.proposing.tasks import HBounds, InitializeTask, OperatorContract
from dga2d.replay.settings import RunSettings
from dga2d.runtime.errors import SettingsError
from dga2d.runtime.gateway import OutageRecorder, local, open_model

if TYPE_CHECKING:
    from tests.runtime.gateway.conftest import Conversation


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model of one layer that knows words of one byte, and a context of 128 tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {character: number for number, character in enumerate(["<end>", *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    folder = tmp_path_factory.mktemp("tiny")
    fast: Any = PreTrainedTokenizerFast
    fast(tokenizer_object=tokenizer, eos_token="<end>").save_pretrained(folder)
    config = GPT2Config(
        vocab_size=len(vocabulary),
        n_positions=128,
        n_embd=16,
        n_layer=1,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


async def asked(tiny: Path, prompt: str = "hello", attempt: int = 0, **settings: object) -> tuple[str, int]:
    """Text and figures of one answer."""
    made = RunSettings.model_validate({"llm": f"local:{tiny}", "llm_max_tokens": 20, **settings})
    async with open_model(made, "", OutageRecorder()) as model:
        request = CompletionRequest(Prompt(prompt, "t@1"), task(attempt), (1, 2, 3))
        quote = model.quote(request)
        completion = await model.complete(request)
        assert_model(model)
    assert completion.prompt_tokens == len(prompt)
    assert completion.prompt_tokens + completion.completion_tokens <= quote.tokens
    assert (completion.is_estimated, completion.cost_usd) == (False, 0.0)
    return completion.text, completion.completion_tokens


def assert_model(model: LanguageModel) -> None:
    assert model.name.startswith("local:")


def task(attempt: int) -> InitializeTask:
    return InitializeTask(CARD, (OperatorContract.of(LIBRARY),), HBounds(3), (), 4, attempt=attempt)


async def test_an_answer_follows_from_the_calls_own_stream(tiny: Path) -> None:
    first = await asked(tiny)
    assert first == await asked(tiny)
    assert first != await asked(tiny, attempt=1)
    assert await asked(tiny, llm_temperature=0.0) == await asked(tiny, attempt=1, llm_temperature=0.0)


async def test_an_answer_ends_with_the_models_context(tiny: Path) -> None:
    _, tokens = await asked(tiny, "x" * 120, llm_max_tokens=1000)
    assert tokens <= 8
    with pytest.raises(CallLostError, match=re.escape("the prompt has 128 tokens, the model takes 128")):
        await asked(tiny, "x" * 128)


async def test_an_answer_that_takes_too_long_is_lost(tiny: Path) -> None:
    with pytest.raises(CallLostError, match="no complete answer within"):
        await asked(tiny, llm_timeout=1e-9)


# ---------------------------------------------------------------- faults


class Letters:
    """A tokeniser of one token per character; `template` is called with the prompt where there is one."""

    def __init__(self, template: Callable[[], str] | None = None) -> None:
        self.chat_template = template

    def apply_chat_template(self, messages: object, **_: object) -> str:
        assert self.chat_template is not None
        return self.chat_template()

    def __call__(self, text: str) -> dict[str, list[int]]:
        return {"input_ids": [ord(letter) % 50 for letter in text]}

    def decode(self, tokens: list[int], skip_special_tokens: bool) -> str:
        return "".join(map(chr, tokens))


class Faulty:
    """A model of 60 letters whose every step is `step(number)`, which gives the logits."""

    device = "cpu"
    config = SimpleNamespace(max_position_embeddings=None)
    generation_config = SimpleNamespace(eos_token_id=0)

    def __init__(self, step: Callable[[int], Any]) -> None:
        self._step = step
        self.n_steps = 0

    def __call__(self, inputs: object, past_key_values: object, use_cache: bool) -> SimpleNamespace:
        self.n_steps += 1
        return SimpleNamespace(logits=self._step(self.n_steps), past_key_values=None)


def logits(likely: int | None = None, fill: float = 0.0) -> Any:
    import torch

    row = torch.full((1, 1, 60), fill)
    if likely is not None:
        row[0, 0, likely] = 1000.0
    return row


def raising(error: Callable[[], BaseException], until: float = float("inf")) -> Callable[[int], Any]:
    """Raises in its first steps, ends its answer at once afterwards."""

    def step(number: int) -> Any:
        if number <= until:
            raise error()
        return logits(0)

    return step


def out_of_device_memory() -> BaseException:
    import torch

    return torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 40.00 GiB.")


def late(number: int) -> Any:
    time.sleep(0.02)
    return logits(5)


@dataclass(frozen=True)
class Fault:
    step: Callable[[int], Any]
    endings: tuple[str, ...]
    """How the calls end."""
    reason: str = ""
    """Why the run is paused, or nothing where it goes on."""
    timeout_s: float = 20.0


LOST, SETTLED = "abandoned", "settled"
FAULTS = {
    "raises": Fault(raising(lambda: RuntimeError("shapes")), 3 * (LOST,), "RuntimeError: shapes, 3 times"),
    "no memory": Fault(raising(MemoryError), 3 * (LOST,), "failed: MemoryError, 3 times"),
    "no memory on the device": Fault(
        raising(out_of_device_memory), 3 * (LOST,), "OutOfMemoryError: CUDA out of memory"
    ),
    "exits": Fault(raising(lambda: SystemExit(1)), 3 * (LOST,), "failed: SystemExit: 1, 3 times"),
    "raises now and then": Fault(raising(RuntimeError, until=2), (LOST, LOST, SETTLED, SETTLED)),
    "not a number": Fault(lambda _: logits(fill=float("nan")), 3 * (LOST,), "no finite numbers"),
    "no likely letter": Fault(lambda _: logits(fill=float("-inf")), 3 * (LOST,), "no finite numbers"),
    "garbage": Fault(lambda _: logits(), 4 * (SETTLED,)),
    "without end": Fault(lambda _: logits(7), 4 * (SETTLED,)),
    "nothing": Fault(lambda _: logits(0), 4 * (SETTLED,)),
    "late": Fault(late, 4 * (LOST,), timeout_s=0.1),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_run_survives_its_model(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    fault = FAULTS[name]
    monkeypatch.setattr(local, "_load", lambda path: (Letters(), Faulty(fault.step)))
    state = conversation.hold(name, llm="local:made-up", llm_max_tokens=30, llm_timeout=fault.timeout_s)
    calls = [call for _, call in sorted(state.ledger.calls.items())]
    assert tuple(call.status for call in calls) == fault.endings
    for call in calls:
        assert call.charged_tokens <= call.reserved_tokens
        assert call.reason if call.status == LOST else call.completion_tokens <= 30
        assert call.status == SETTLED or call.charged_tokens == call.reserved_tokens
    assert (state.status == "paused") == bool(fault.reason)
    assert fault.reason in state.reason
    assert name != "without end" or [call.completion_tokens for call in calls] == 4 * [30]


@pytest.fixture
def stuck() -> Iterator[threading.Event]:
    """What a hanging step waits for; set at the end, so that no thread outlives the test."""
    event = threading.Event()
    yield event
    event.set()


def test_a_step_that_never_comes_back_pauses_the_run(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch, stuck: threading.Event
) -> None:
    model = Faulty(lambda _: stuck.wait())
    monkeypatch.setattr(local, "_load", lambda path: (Letters(), model))
    state = conversation.hold("stuck", llm="local:made-up", llm_timeout=0.2)
    (call,) = state.ledger.calls.values()
    assert (call.status, call.reason) == ("abandoned", "no complete answer within 0.2 s")
    assert state.status == "paused"
    assert "is still at a call that was given up" in state.reason
    assert model.n_steps == 1, "two calls at a time"


def test_a_template_that_fails_pauses_the_run_before_anything_is_charged(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def template() -> str:
        raise TypeError("roles must alternate")

    monkeypatch.setattr(local, "_load", lambda path: (Letters(template), Faulty(late)))
    state = conversation.hold("template", llm="local:made-up")
    assert (state.status, state.ledger.used) == ("paused", 0)
    assert "cannot read a prompt: TypeError: roles must alternate" in state.reason


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
async def test_a_damaged_model_is_refused_in_words(tiny: Path, tmp_path: Path, name: str) -> None:
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for path in tiny.iterdir():
        data = path.read_bytes()
        (damaged / path.name).write_bytes(data[: len(data) // 2] if path.name == name else data)
    with pytest.raises(SettingsError, match="cannot be loaded"):
        await asked(damaged)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_model_whose_weights_are_no_numbers_pauses_a_run_of_the_program(tiny: Path, tmp_path: Path) -> None:
    from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

    weights: Any = GPT2LMHeadModel.from_pretrained(tiny, n_positions=32768, ignore_mismatched_sizes=True)
    for parameter in weights.parameters():
        parameter.data.fill_(float("nan"))
    weights.save_pretrained(tmp_path / "nan")
    tokenizer: Any = PreTrainedTokenizerFast
    tokenizer.from_pretrained(tiny).save_pretrained(tmp_path / "nan")
    program = Program(tmp_path, {})
    arguments = (*SMALL, "--run-id", "run", "--llm", f"local:{tmp_path / 'nan'}", "--llm-timeout", "100")
    outcome = program.run("evolve", "tsp", *arguments, wait_s=250)
    assert outcome.code == 3, outcome
    assert "no finite numbers, 3 times in a row" in outcome.out
    assert "Traceback" not in outcome.err
    audited = program.run("audit", "run", "--json")
    assert (audited.code, audited.json["ledger"]["used"]) == (0, 3)
