"""Aliases: equal token counts, stable assignment, and a refusal where a tokenizer makes none."""

from __future__ import annotations

import string
from itertools import product

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from dga2d.agents.policy.contract import PolicyContext
from dga2d.agents.policy.errors import AliasError, PolicyContextError
from dga2d.agents.policy.prompt import AliasPool, choose_aliases, render_prompt
from dga2d.events import OperatorId
from dga2d.replay.state.graph import END


def byte_pair_tokenizer(words: list[str]) -> Tokenizer:
    """Byte-level BPE that has learned `words` as single tokens, with and without a space before them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=5000, initial_alphabet=alphabet, show_progress=False)
    texts = [text for word in words for text in (word, f" {word}")]
    tokenizer.train_from_iterator(texts * 5, trainer)
    return tokenizer


PAIRS = ["".join(p) for p in product(string.ascii_uppercase, repeat=2)]


def test_characters_give_two_tokens_each() -> None:
    pool = choose_aliases("m", lambda text: [ord(c) for c in text], None, 128)
    assert (pool.separator, pool.words[:2], pool.tokens[1]) == ("", ("AA", "AB"), (65, 66))
    assert len(pool.words) == len(set(pool.tokens)) == 128


def test_pairs_that_are_single_tokens_are_preferred_and_split_ones_left_out() -> None:
    known = PAIRS[::2]
    tokenizer = byte_pair_tokenizer(known)
    pool = choose_aliases("m", lambda text: tokenizer.encode(text).ids, None, 128)
    assert {len(t) for t in pool.tokens} == {1}
    assert pool.separator == " "
    assert set(pool.words) <= set(known)


def test_a_vocabulary_that_splits_aliases_unevenly_is_refused() -> None:
    tokenizer = byte_pair_tokenizer(PAIRS[::2])
    pairs = [(string.ascii_uppercase, string.ascii_uppercase)]

    def encode(text: str) -> list[int]:
        return tokenizer.encode(text).ids

    assert {len(encode(" " + pair)) for pair in PAIRS} == {1, 2}
    assert len(choose_aliases("m", encode, None, 338, pairs).words) == 338
    with pytest.raises(AliasError, match="policy 'm': the vocabulary splits operator aliases unevenly"):
        choose_aliases("m", encode, None, 339, pairs)


def test_a_vocabulary_that_does_not_tell_aliases_apart_is_refused() -> None:
    with pytest.raises(AliasError):
        choose_aliases("m", lambda text: [7, 8], None, 2)
    with pytest.raises(AliasError):
        choose_aliases("m", lambda text: [0, ord(text[-1])], 0, 2)


def test_an_operator_keeps_its_alias_whatever_the_order_and_the_edges() -> None:
    pool = choose_aliases("m", lambda text: [ord(c) for c in text], None, 8)
    names = [OperatorId(o) for o in ("c", "a", "b")]
    assert pool.assign(names) == pool.assign(sorted(names)) == {END: 0, "a": 1, "b": 2, "c": 3}
    with pytest.raises(PolicyContextError, match="can name 7 operators, the graph has 8"):
        pool.assign([OperatorId(str(i)) for i in range(8)])


def test_the_prompt_states_summaries_aliases_and_the_bound_but_no_edges(context: PolicyContext) -> None:
    pool = AliasPool("", ("AA", "AB", "AC", "AD", "AE", "AF"), ((1,), (2,), (3,), (4,), (5,), (6,)))
    text = render_prompt(context, pool)
    for part in (context.domain_summary, context.instance_summary, "AA END\nAB build a\nAC build b\n"):
        assert part in text
    assert "most\n5 operators" in text
    assert text.isascii()
    assert text.endswith("Walk:")
    assert "$" not in text


def test_an_operator_without_title_is_shown_by_its_id(context: PolicyContext) -> None:
    pool = AliasPool("", ("AA", "AB", "AC", "AD", "AE", "AF"), ((1,), (2,), (3,), (4,), (5,), (6,)))
    context = PolicyContext(context.graph, 5, 0.7, "d", "i", {OperatorId("build_a"): "Builder"})
    assert "AB Builder\nAC build_b\n" in render_prompt(context, pool)
