"""A causal language model of transformers on this machine (``--llm local:PATH``)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import numpy as np

from dga2d.agents.proposing import CallLostError, Completion, CompletionRequest, Quote
from dga2d.replay.settings import RunSettings
from dga2d.runtime.errors import SettingsError
from dga2d.runtime.gateway.protocols import split_thoughts


class LocalModel:
    """`LanguageModel` that costs time only; answers are drawn one at a time, each from a stream of its own.

    Raises
    ------
    SettingsError
        Nothing at `path` (a folder, or a Hugging Face id in the local cache) can be loaded.
    """

    def __init__(self, settings: RunSettings, path: str) -> None:
        self.name = f"local:{path}"
        self._settings = settings
        self._tokenizer, self._model = _load(path)
        self._turn = anyio.Lock()

    async def ready(self) -> None:
        """Always."""

    def quote(self, request: CompletionRequest) -> Quote:
        """The prompt's tokens, and the longest answer."""
        return Quote(len(self._encoded(request)) + self._settings.llm_max_tokens, 0.0)

    async def complete(self, request: CompletionRequest) -> Completion:
        async with self._turn:
            return await anyio.to_thread.run_sync(self._write, request)

    def _encoded(self, request: CompletionRequest) -> list[int]:
        text = request.prompt.text
        if self._tokenizer.chat_template:
            messages = [{"role": "user", "content": text}]
            text = self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return list(self._tokenizer(text)["input_ids"])

    def _write(self, request: CompletionRequest) -> Completion:
        """The answer; raises CallLostError when it is not finished within ``llm_timeout``."""
        prompt = self._encoded(request)
        room = self._room(len(prompt))
        tokens = self._sampled(prompt, room, _stream(request), time.monotonic() + self._settings.llm_timeout)
        reasoning, text = split_thoughts(self._tokenizer.decode(tokens, skip_special_tokens=True))
        return Completion(text, len(prompt), len(tokens), False, 0.0, reasoning=reasoning)

    def _room(self, prompt_tokens: int) -> int:
        """Most tokens of the answer to a prompt of that length."""
        context = getattr(self._model.config, "max_position_embeddings", None)
        most = self._settings.llm_max_tokens
        room = most if context is None else min(most, context - prompt_tokens)
        if room < 1:
            raise CallLostError(f"the prompt has {prompt_tokens} tokens, the model takes {context}")
        return room

    def _sampled(self, prompt: list[int], room: int, rng: np.random.Generator, deadline: float) -> list[int]:
        import torch

        ends = self._model.generation_config.eos_token_id
        stops = set(ends if isinstance(ends, list) else [ends])
        device, cache, tokens = self._model.device, None, list[int]()
        inputs = torch.tensor([prompt], device=device)
        with torch.inference_mode():
            while len(tokens) < room:
                if time.monotonic() > deadline:
                    raise CallLostError(f"no complete answer within {self._settings.llm_timeout:g} s")
                output = self._model(inputs, past_key_values=cache, use_cache=True)
                cache = output.past_key_values
                token = self._drawn(output.logits[0, -1].double().cpu().numpy(), rng)
                if token in stops:
                    break
                tokens.append(token)
                inputs = torch.tensor([[token]], device=device)
        return tokens

    def _drawn(self, logits: np.ndarray[Any, Any], rng: np.random.Generator) -> int:
        """The next token at the set temperature (1 if none is); the likeliest at temperature 0."""
        temperature = 1.0 if self._settings.llm_temperature is None else self._settings.llm_temperature
        if temperature == 0.0:
            return int(logits.argmax())
        weights = np.exp((logits - logits.max()) / temperature).cumsum()
        return int(np.searchsorted(weights, rng.random() * weights[-1], side="right"))


def _stream(request: CompletionRequest) -> np.random.Generator:
    """The random stream of a call; each attempt has its own."""
    seed, *key = request.seed
    sequence = np.random.SeedSequence(seed, spawn_key=(*key, request.task.attempt))
    return np.random.Generator(np.random.Philox(sequence))


def _load(path: str) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any
    model: Any

    device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
        model = AutoModelForCausalLM.from_pretrained(path, local_files_only=True, dtype="auto")
    except (OSError, ValueError) as error:
        line = " ".join(str(error).split())[:200]
        if not Path(path).is_dir():
            line = f"it is no folder, and as a name in the local cache of models: {line}"
        raise SettingsError(f"setting llm = 'local:{path}': cannot be loaded ({line})") from error
    model.requires_grad_(False)
    model.train(False)
    return tokenizer, model.to(device)
