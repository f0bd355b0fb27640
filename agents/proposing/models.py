"""The port to a language model: one request, one completed answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dga2d.agents.proposing.prompts import Prompt
from dga2d.agents.proposing.tasks import Task


@dataclass(frozen=True)
class CompletionRequest:
    """A call that has already been charged."""

    prompt: Prompt
    task: Task
    """What the prompt was rendered from; a remote model sees only the text."""
    seed: tuple[int, ...]
    """``(run seed, *spawn key)`` of the call's random stream."""


@dataclass(frozen=True)
class Completion:
    """An answer and what it cost."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    is_estimated: bool
    """The token counts are ours, not the provider's."""
    cost_usd: float


class LanguageModel(Protocol):
    """A source of answers.

    `complete` may be awaited many times at once. It never retries on its own account: the caller owns
    the retry layer and the deadline. Cancellation is re-raised. Calls are not deduplicated.
    """

    @property
    def name(self) -> str:
        """How reports and ledgers name the model, e.g. ``openai:gpt-x`` or ``offline``."""
        ...

    async def complete(self, request: CompletionRequest) -> Completion: ...
