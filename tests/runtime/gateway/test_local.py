"""A tiny transformer on this machine as a language model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.agents.made_up_library import CARD
from tests.fakes.conversation import LIBRARY

from dga2d.agents.proposing import (
    CallLostError,
    CompletionRequest,
    HBounds,
    InitializeTask,
    LanguageModel,
    OperatorContract,
    Prompt,
)
from dga2d.replay.settings import RunSettings
from dga2d.runtime.gateway import OutageRecorder, open_model


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
