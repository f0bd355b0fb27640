"""A causal language model of transformers on this machine (``--llm local:PATH``)."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import numpy as np

from dga2d.agents.proposing.errors import CallLostError, ModelUnavailableError
from dga2d.agents.proposing.models import Completion, CompletionRequest, Quote
from dga2d.replay.settings import RunSettings
from dga2d.runtime.errors import SettingsError
from dga2d.runtime.gateway.protocols import split_thoughts

FAILURES = 3
"""Calls in a row in which the model raised an error until all further ones are taken for hopeless."""


class LocalModel:
    """`LanguageModel` that costs time only; answers are drawn one at a time, each from a stream of its own.

    A model that fails loses the call; after `FAILURES` in a row, or when a step has not come back a whole
    ``llm_timeout`` after its call was given up, the model is unavailable.

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
        self._last: _Call | None = None
        self._failures = 0

    async def ready(self) -> None:
        """Wait until the model is free again after a call that was given up."""
        if self._last is None or not self._last.is_given_up:
            return
        with anyio.move_on_after(self._settings.llm_timeout):
            await self._last.over.wait()
            return
        raise ModelUnavailableError(
            f"{self.name} is still at a call that was given up more than {self._settings.llm_timeout:g} s ago"
        )

    def quote(self, request: CompletionRequest) -> Quote:
        """Return the prompt's tokens and the longest answer; raises ModelUnavailableError if none is read."""
        try:
            return Quote(len(self._encode(request)) + self._settings.llm_max_tokens, 0.0)
        except Exception as error:  # a model's own template and tokeniser may raise anything
            raise ModelUnavailableError(f"{self.name} cannot read a prompt: {_words(error)}") from error

    async def complete(self, request: CompletionRequest) -> Completion:
        async with self._turn:
            await self.ready()
            self._last = call = _Call()
            completion = await self._drawn_in_a_thread(request, call)
            self._failures = 0
            return completion

    async def _drawn_in_a_thread(self, request: CompletionRequest, call: _Call) -> Completion:
        """Return the answer, drawn in a thread that is abandoned at the deadline or on cancellation."""
        loop = anyio.lowlevel.current_token()

        def draw() -> None:
            try:
                call.result = self._write(request, call)
            except BaseException as error:
                call.result = error
            finally:
                with suppress(RuntimeError):  # nobody waits any more
                    anyio.from_thread.run_sync(call.over.set, token=loop)

        # A daemon: a step that never comes back must not keep the program from ending.
        threading.Thread(target=draw, name="local model", daemon=True).start()
        try:
            with anyio.fail_after(self._settings.llm_timeout):
                await call.over.wait()
        except TimeoutError:
            raise self._too_late() from None
        finally:
            call.is_given_up = True
        if isinstance(call.result, Completion):
            return call.result
        if isinstance(call.result, CallLostError):
            raise call.result
        raise self._failure(call.result)

    def _too_late(self) -> CallLostError:
        return CallLostError(f"no complete answer within {self._settings.llm_timeout:g} s")

    def _failure(self, error: BaseException | None) -> CallLostError | ModelUnavailableError:
        self._failures += 1
        reason = f"{self.name} failed: {_words(error)}"
        if self._failures < FAILURES:
            return CallLostError(reason)
        return ModelUnavailableError(f"{reason}, {FAILURES} times in a row")

    def _encode(self, request: CompletionRequest) -> list[int]:
        text = request.prompt.text
        if self._tokenizer.chat_template:
            messages = [{"role": "user", "content": text}]
            text = self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return list(self._tokenizer(text)["input_ids"])

    def _write(self, request: CompletionRequest, call: _Call) -> Completion:
        """Return the answer; raises CallLostError when it is not finished within ``llm_timeout``."""
        prompt = self._encode(request)
        room = self._room(len(prompt))
        call.deadline = time.monotonic() + self._settings.llm_timeout
        tokens = self._sample(prompt, room, _stream(request), call)
        reasoning, text = split_thoughts(self._tokenizer.decode(tokens, skip_special_tokens=True))
        return Completion(text, len(prompt), len(tokens), False, 0.0, reasoning=reasoning)

    def _room(self, prompt_tokens: int) -> int:
        """Return the most tokens of the answer to a prompt of that length."""
        context = getattr(self._model.config, "max_position_embeddings", None)
        most = self._settings.llm_max_tokens
        room = most if context is None else min(most, context - prompt_tokens)
        if room < 1:
            raise CallLostError(f"the prompt has {prompt_tokens} tokens, the model takes {context}")
        return room

    def _sample(self, prompt: list[int], room: int, rng: np.random.Generator, call: _Call) -> list[int]:
        import torch

        ends = self._model.generation_config.eos_token_id
        stops = set(ends if isinstance(ends, list) else [ends])
        device, cache, tokens = self._model.device, None, list[int]()
        inputs = torch.tensor([prompt], device=device)
        with torch.inference_mode():
            while len(tokens) < room:
                if call.is_given_up or time.monotonic() > call.deadline:
                    raise self._too_late()
                output = self._model(inputs, past_key_values=cache, use_cache=True)
                cache = output.past_key_values
                token = self._draw(output.logits[0, -1].double().cpu().numpy(), rng)
                if token in stops:
                    break
                tokens.append(token)
                inputs = torch.tensor([[token]], device=device)
        return tokens

    def _draw(self, logits: np.ndarray[Any, Any], rng: np.random.Generator) -> int:
        """Return the next token at the set temperature (1 if none is); the likeliest at temperature 0."""
        if not np.isfinite(logits.max()):
            raise FloatingPointError("its logits are no finite numbers")
        temperature = 1.0 if self._settings.llm_temperature is None else self._settings.llm_temperature
        if temperature == 0.0:
            return int(logits.argmax())
        weights = np.exp((logits - logits.max()) / temperature).cumsum()
        return int(np.searchsorted(weights, rng.random() * weights[-1], side="right"))


class _Call:
    """One answer in the making; the event loop and the thread that draws it share this."""

    def __init__(self) -> None:
        self.over = anyio.Event()
        """The thread has ended."""
        self.result: Completion | BaseException | None = None
        self.is_given_up = False
        self.deadline = 0.0


def _words(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {error}"[:200] if str(error) else type(error).__name__


def _stream(request: CompletionRequest) -> np.random.Generator:
    """Return the random stream of a call; each attempt has its own."""
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
        model = model.to(device)
    except Exception as error:  # what reads the many formats of weights and tokenisers raises anything
        line = " ".join(str(error).split())[:200]
        if not Path(path).is_dir():
            line = f"it is no folder, and as a name in the local cache of models: {line}"
        raise SettingsError(f"setting llm = 'local:{path}': cannot be loaded ({line})") from error
    model.requires_grad_(False)
    model.train(False)
    return tokenizer, model
