"""A language model behind an endpoint: `LanguageModel` over any chat protocol.

Where OpenTelemetry is installed, a span covers each call with all its attempts. Prompts and answers are never
in it.

References
----------
OpenTelemetry, "Semantic conventions for generative client AI spans" (status: development).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx

from dga2d.agents.proposing.errors import CallLostError, ModelError, ModelUnavailableError
from dga2d.agents.proposing.models import Completion, CompletionRequest, Quote
from dga2d.agents.proposing.prompts import answer_schema
from dga2d.replay.settings import RunSettings
from dga2d.runtime.gateway.endpoint import Endpoint
from dga2d.runtime.gateway.protocols import ChatAnswer, ChatRequest, JsonMode
from dga2d.runtime.gateway.retries import (
    CircuitBreaker,
    EndpointStatusError,
    OutageListener,
    RateLimiter,
    RetryPolicy,
)
from dga2d.runtime.gateway.transport import Transport, new_client

try:
    from opentelemetry import trace
except ImportError:
    trace = None  # type: ignore[assignment]


class CallSpan:
    """Takes what is known of a call when it ends; `span` is ``None`` without OpenTelemetry."""

    def __init__(self, span: Any) -> None:
        self._span = span

    def record_answer(self, answer: ChatAnswer, prompt_tokens: int, completion_tokens: int) -> None:
        """Note the answer's figures."""
        if self._span is None:
            return
        self._span.set_attribute("gen_ai.usage.input_tokens", prompt_tokens)
        self._span.set_attribute("gen_ai.usage.output_tokens", completion_tokens)
        if answer.response_id is not None:
            self._span.set_attribute("gen_ai.response.id", answer.response_id)
        if answer.finish_reason is not None:
            self._span.set_attribute("gen_ai.response.finish_reasons", [answer.finish_reason])


@contextmanager
def call_span(provider: str, base_url: str, request: ChatRequest) -> Iterator[CallSpan]:
    """Open the span of one call; of an error that leaves the block only the type is recorded."""
    if trace is None:
        yield CallSpan(None)
        return
    url = httpx.URL(base_url)
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": request.model,
        "gen_ai.request.max_tokens": request.max_tokens,
        "gen_ai.output.type": "text" if request.schema is None else "json",
        "server.address": url.host,
        "server.port": url.port or (443 if url.scheme == "https" else 80),
    }
    if request.temperature is not None:
        attributes["gen_ai.request.temperature"] = request.temperature
    with trace.get_tracer("dga2d").start_as_current_span(
        f"chat {request.model}",
        kind=trace.SpanKind.CLIENT,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield CallSpan(span)
        except Exception as error:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(trace.StatusCode.ERROR)
            raise


FRAME_TOKENS = 512
"""What a chat template may add to a prompt."""

BYTES_PER_TOKEN = 4
"""For estimates. The bound of a prompt is one token per byte: no tokeniser makes more."""

HOPELESS = frozenset({401, 402, 403, 404, 405, 410, *range(300, 400)})
"""Statuses that no further request changes: wrong key, no money, no such model or address."""

REJECTIONS = 3
"""Rejected requests (400, 413, 422, …) in a row until all are taken for hopeless."""

WEAKER: dict[JsonMode, JsonMode] = {"schema": "json", "json": "off"}


@dataclass(frozen=True)
class Prices:
    """US dollars per million tokens."""

    prompt: float
    answer: float

    def cost_usd(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the price of a call in US dollars."""
        return (prompt_tokens * self.prompt + completion_tokens * self.answer) / 1e6


class RemoteModel:
    """A model behind an endpoint."""

    def __init__(
        self, endpoint: Endpoint, settings: RunSettings, transport: Transport, breaker: CircuitBreaker
    ) -> None:
        self.name = endpoint.name
        self._endpoint = endpoint
        self._settings = settings
        self._transport = transport
        self._breaker = breaker
        self._prices = Prices(settings.llm_price_prompt, settings.llm_price_answer)
        self._rates = RateLimiter(
            settings.llm_requests_per_minute, settings.llm_tokens_per_minute, settings.llm_concurrent
        )
        self._is_adaptable = settings.llm_structured == "auto"
        self._json_mode: JsonMode = "schema" if settings.llm_structured == "auto" else settings.llm_structured
        self._rejections = 0

    async def ready(self) -> None:
        """Return at once, unless calls were lost; then when the endpoint answers a probe."""
        await self._breaker.wait_until_callable()

    def quote(self, request: CompletionRequest) -> Quote:
        """Return a token per byte of the request, and the longest answer."""
        bound = self._prompt_bound(self._chat_request(request))
        most = self._settings.llm_max_tokens
        return Quote(bound + most, self._prices.cost_usd(bound, most))

    async def complete(self, request: CompletionRequest) -> Completion:
        chat = self._chat_request(request)
        with call_span(self._endpoint.protocol.provider, self._endpoint.base_url, chat) as span:
            try:
                answer, refused = await self._breaker.retry_refused(lambda: self._attempt(chat))
            except EndpointStatusError as error:
                raise self._failure(error, chat) from None
            except CallLostError as error:
                self._breaker.record_failure(error.reason)
                raise
            answer = self._without_key(answer)
            self._rejections = 0
            await self._breaker.record_success()
            completion = replace(self._completion(answer, chat), refused_attempts=refused)
            span.record_answer(answer, completion.prompt_tokens, completion.completion_tokens)
            return completion

    # ------------------------------------------------------------ asking

    def _chat_request(self, request: CompletionRequest) -> ChatRequest:
        return ChatRequest(
            model=self._endpoint.model,
            prompt=request.prompt.text,
            max_tokens=self._settings.llm_max_tokens,
            temperature=self._settings.llm_temperature,
            schema=answer_schema(request.task),
            json_mode=self._json_mode,
            stream=self._settings.llm_stream,
        )

    async def _attempt(self, chat: ChatRequest) -> ChatAnswer:
        async with self._rates.slot(self._prompt_bound(chat) + chat.max_tokens):
            return await self._transport.attempt(self._endpoint.protocol.body(chat), chat.max_tokens)

    def _prompt_bound(self, chat: ChatRequest) -> int:
        body = self._endpoint.protocol.body(replace(chat, json_mode="schema", stream=True))
        return len(json.dumps(body, ensure_ascii=False).encode("utf-8", errors="replace")) + FRAME_TOKENS

    def _failure(self, error: EndpointStatusError, chat: ChatRequest) -> ModelError:
        """Return what a status means for this call, and adapt the next ones to it."""
        if error.status in HOPELESS:
            return ModelUnavailableError(error.reason)
        if error.status >= 500 or error.status == 408:
            self._breaker.record_failure(error.reason)
            return CallLostError(error.reason)
        self._rejections += 1
        if self._rejections >= REJECTIONS:
            return ModelUnavailableError(f"{error.reason}, {REJECTIONS} times in a row")
        if not (self._is_adaptable and chat.schema is not None and chat.json_mode in WEAKER):
            return CallLostError(error.reason)
        self._json_mode = self._weaker_mode(chat)
        return CallLostError(f"{error.reason}; JSON is asked for with structure = {self._json_mode} next")

    def _weaker_mode(self, chat: ChatRequest) -> JsonMode:
        """Return the next weaker way to ask for JSON; protocols without a JSON mode skip it."""
        protocol, mode = self._endpoint.protocol, WEAKER[chat.json_mode]
        plain = protocol.body(replace(chat, json_mode="off"))
        return "off" if protocol.body(replace(chat, json_mode=mode)) == plain else mode

    # ------------------------------------------------------------ answers

    def _completion(self, answer: ChatAnswer, chat: ChatRequest) -> Completion:
        prompt_tokens, completion_tokens, is_estimated = self._tokens(answer, chat)
        return Completion(
            text=answer.text,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            is_estimated=is_estimated,
            cost_usd=self._prices.cost_usd(prompt_tokens, completion_tokens),
            reasoning=answer.reasoning,
            response_id=answer.response_id,
        )

    def _without_key(self, answer: ChatAnswer) -> ChatAnswer:
        """Return the answer as it may be recorded: a proxy under attack may repeat the key anywhere."""
        clean, reason = self._endpoint.without_key, answer.finish_reason
        return replace(
            answer,
            text=clean(answer.text),
            reasoning=clean(answer.reasoning),
            response_id=_plain_id(clean(answer.response_id or "")),
            finish_reason=_plain_id(clean(reason or "")),
        )

    def _tokens(self, answer: ChatAnswer, chat: ChatRequest) -> tuple[int, int, bool]:
        """Return the tokens of prompt and answer, and whether either count is ours.

        Counts that were not reported, or cannot be, are estimated. A count above the bound is charged as the
        bound: the limits hold whatever a provider says.
        """
        bound, tokens = self._prompt_bound(chat), answer.tokens
        prompt = _estimate(chat.prompt)
        written = _estimate(answer.text + answer.reasoning)
        reported = (None, None) if tokens is None else (tokens.prompt, tokens.completion)
        prompt_tokens, is_own_prompt = _credible(reported[0], prompt, bound)
        completion_tokens, is_own_answer = _credible(reported[1], written, chat.max_tokens)
        return prompt_tokens, completion_tokens, is_own_prompt or is_own_answer


def _estimate(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", errors="replace")) / BYTES_PER_TOKEN)


def _credible(reported: object, estimate: int, bound: int) -> tuple[int, bool]:
    """Return a reported count if it can be true, else one of ours; and whether it is ours."""
    if not isinstance(reported, int) or isinstance(reported, bool) or reported < min(estimate, 1):
        return min(estimate, bound), True
    return min(reported, bound), reported > bound


def _plain_id(text: str) -> str | None:
    """Return a provider's id or word if it is short and without blanks and control characters."""
    return text if re.fullmatch(r"[\x21-\x7e]{1,200}", text) else None


@asynccontextmanager
async def open_remote(
    endpoint: Endpoint, settings: RunSettings, policy: RetryPolicy, listener: OutageListener
) -> AsyncIterator[RemoteModel]:
    """Open connections to the model behind `endpoint` until the block ends."""
    async with new_client(settings.llm_timeout) as client:
        transport = Transport(endpoint, client, settings.llm_timeout)
        yield RemoteModel(endpoint, settings, transport, CircuitBreaker(policy, transport.is_up, listener))
