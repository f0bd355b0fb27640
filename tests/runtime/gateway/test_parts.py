"""The gateway's parts: keys, URLs, waits, streams, rates, figures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st
from pydantic import SecretStr
from tests.fakes.conversation import KEY

from dga2d.replay.settings import RunSettings
from dga2d.runtime.errors import SettingsError
from dga2d.runtime.gateway import OutageRecorder, open_model
from dga2d.runtime.gateway.endpoint import (
    LONGEST_SHOWN_PART,
    MASK,
    Endpoint,
    endpoint_of,
    find_key,
    without_key,
)
from dga2d.runtime.gateway.protocols import MalformedAnswerError
from dga2d.runtime.gateway.retries import RateLimiter
from dga2d.runtime.gateway.transport import retry_after_s, server_sent_data


def settings(**values: object) -> RunSettings:
    return RunSettings.model_validate({"llm": "openai:m", "llm_base_url": "http://host/v1", **values})


# ---------------------------------------------------------------- keys


def test_the_own_variable_goes_before_the_providers_and_a_file_before_both(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("from-file\n")
    environment = {"DGA2D_LLM_KEY": "ours", "OPENAI_API_KEY": "theirs", "ANTHROPIC_API_KEY": "a"}

    def key(llm: str = "openai:m", **more: object) -> str | None:
        found = endpoint_of(settings(llm=llm, **more), environment).key
        return None if found is None else found.get_secret_value()

    assert key(llm_key_file=str(file)) == "from-file"
    assert key() == "ours"
    environment.pop("DGA2D_LLM_KEY")
    assert (key(), key("anthropic:m")) == ("theirs", "a")
    environment.clear()
    assert key() is None


@pytest.mark.parametrize("bad", ["two words", "line\nbreak", "tab\there", "é" * 20, "", "x" * 5000])
def test_what_is_no_key_is_refused_without_being_shown(tmp_path: Path, bad: str) -> None:
    file = tmp_path / "key"
    file.write_text(bad)
    with pytest.raises(SettingsError, match="holds no key") as caught:
        find_key(str(file), (), {})
    assert not bad or bad not in str(caught.value)


def test_a_missing_key_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="nowhere: No such file"):
        find_key(str(tmp_path / "nowhere"), (), {})


def test_a_providers_own_endpoint_needs_a_key() -> None:
    with pytest.raises(SettingsError, match="ANTHROPIC_API_KEY"):
        endpoint_of(settings(llm="anthropic:m", llm_base_url=None), {"OPENAI_API_KEY": "x"})


@pytest.mark.parametrize(
    "url",
    [
        "http://xn--a/v1",
        f"https://user:{KEY}@host/v1",
        f"https://host/v1?key={KEY}",
        f"ftp://{KEY}",
        KEY,
        f"http://host/#{KEY}",
    ],
)
def test_a_url_with_secrets_or_without_host_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(SettingsError, match="llm_base_url") as caught:
        endpoint_of(settings(llm_base_url=url), {})
    assert KEY not in str(caught.value)


def test_an_endpoint_does_not_show_its_key() -> None:
    endpoint: Endpoint = endpoint_of(settings(), {"DGA2D_LLM_KEY": KEY})
    assert KEY not in repr(endpoint)
    assert KEY not in str(endpoint.key)


@settings_of_hypothesis(max_examples=40)
@given(st.text(), st.integers(0, len(KEY) - 1), st.integers(1, len(KEY)), st.text())
def test_no_longer_part_of_a_key_remains(before: str, start: int, length: int, after: str) -> None:
    text = without_key(f"{before}{KEY[start : start + length]}{after}", SecretStr(KEY))
    size = LONGEST_SHOWN_PART + 1
    assert not any(KEY[i : i + size] in text for i in range(len(KEY) - size + 1))
    assert without_key(f"a {KEY} b", SecretStr(KEY)) == f"a {MASK} b"


def test_a_placeholder_for_a_key_tears_no_words_apart() -> None:
    assert without_key("an EMPTY word", SecretStr("EMPTY")) == "an EMPTY word"


# ---------------------------------------------------------------- backends by name


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"llm": "nobody"}, "expected offline, offline:constants, offline:library"),
        ({"llm": "offline:everything"}, "expected offline, offline:constants"),
        ({"llm": "local:"}, "expected offline, offline:constants, offline:library"),
        ({"llm": "openai:"}, "name a model"),
        ({"llm": "local:/no/such/model"}, "cannot be loaded"),
        ({"llm_money_usd": 1.0}, "llm_money_usd needs prices"),
    ],
)
async def test_an_unusable_backend_is_refused_in_words(values: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        async with open_model(settings(**values), "sqlite+aiosqlite:///none.db", OutageRecorder(), {}):
            pass


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("ALL_PROXY", "nonsense://proxy", "proxy"),
        ("ALL_PROXY", "http://[::1", "proxy"),
        ("SSL_CERT_FILE", "/no/such/file", "SSL_CERT_FILE"),
    ],
)
async def test_an_environment_that_allows_no_connection_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, message: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=message):
        async with open_model(settings(), "sqlite+aiosqlite:///none.db", OutageRecorder(), {}):
            pass


# ---------------------------------------------------------------- waits


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("1.5", 1.5),
        ("-3", 0.0),
        ("1e30", 3600.0),
        ("inf", 3600.0),
        ("nan", None),
        ("", None),
        ("soon", None),
        ("1 Jan 99999999999999999999 00:00:00", None),
        ("Wed, 21 Oct 2015 99999999999:28:00 GMT", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
    ],
)
def test_retry_after_is_read_and_bounded(text: str, seconds: float | None) -> None:
    assert retry_after_s({"retry-after": text}) == seconds


def test_retry_after_may_be_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    found = retry_after_s({"retry-after": later})
    assert found is not None
    assert 90 < found <= 100


# ---------------------------------------------------------------- streams


def collected(data: bytes, cuts: list[int], limit: int = 10**6) -> list[str]:
    """Events of a stream that arrives in pieces cut at these places."""
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    pieces = [data[a:b] for a, b in pairwise(places)]

    async def arriving() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    async def read() -> list[str]:
        return [data async for data in server_sent_data(arriving(), limit)]

    return anyio.run(read)


STREAM = 'data: {"é": 1}\r\n\r\n: comment\n\nevent: x\ndata:two\ndata: lines\n\nid: 3\n\ndata: last'.encode()


@given(st.lists(st.integers(0, 200), max_size=8))
def test_events_do_not_depend_on_how_they_arrive(cuts: list[int]) -> None:
    assert collected(STREAM, cuts) == ['{"é": 1}', "two\nlines", "last"]


def test_a_stream_larger_than_its_limit_is_refused_while_it_is_read() -> None:
    with pytest.raises(MalformedAnswerError, match="too large"):
        collected(b": x\n" * 100, [50, 100, 150], limit=120)


def test_a_line_that_arrives_byte_by_byte_is_read_in_one_pass() -> None:
    """Copying what came before at every byte would move some 125 gigabytes here, for minutes."""
    text = "x" * 500_000
    data = f"data: {text}\n\n" + "data:\n" * 50_000 + "\n"
    assert collected(data.encode(), list(range(len(data)))) == [text, "\n" * 49_999]


# ---------------------------------------------------------------- rates


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.integers(1, 4), st.integers(30, 100))
def test_no_window_holds_more_than_its_limits(sizes: list[int], requests: int, tokens: int) -> None:
    """A request larger than the tokens of a window goes through alone."""
    now = 0.0
    limiter = RateLimiter(requests, tokens, 1, clock=lambda: now)
    starts: list[tuple[float, int]] = []
    for size in sizes:
        while (wait_s := limiter._wait_s(size)) > 0:
            now += wait_s
        limiter._recent.append((now, size))
        starts.append((now, size))
    for start, _ in starts:
        window = [size for at, size in starts if start <= at < start + 60.0]
        assert len(window) <= requests
        assert sum(window) <= tokens or len(window) == 1


async def test_no_more_than_the_set_number_run_at_a_time() -> None:
    limiter, running, most = RateLimiter(None, None, 3), 0, 0

    async def attempt() -> None:
        nonlocal running, most
        async with limiter.slot(1):
            running += 1
            most = max(most, running)
            await anyio.sleep(0.005)
            running -= 1

    async with anyio.create_task_group() as tasks:
        for _ in range(12):
            tasks.start_soon(attempt)
    assert most == 3


async def test_a_full_window_delays_an_attempt() -> None:
    limiter = RateLimiter(2, None, 8, window_s=0.2)
    start = anyio.current_time()
    for _ in range(3):
        async with limiter.slot(1):
            pass
    assert anyio.current_time() - start >= 0.15
