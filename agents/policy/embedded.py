"""The built-in policy model: a small Qwen2 and a tokenizer of characters and codes, made on the spot.

Nothing is downloaded; the parameters are drawn from the run's seed.

Three choices serve learning with the paper's loss and optimiser, which know no entropy bonus:

- A two-letter code is one token. Were it two, all codes of a graph would begin with the same letter, and
  the decisive second letter would be chosen after a token that is the same whatever came before.
- The output matrix starts at zero, so π_θ0 is exactly uniform on every feasible set; no operator is ahead
  by the luck of the seed.
- The last norm has a gain, which sets how far one step moves a decision; see ``INITIAL_GAIN``.
"""

from __future__ import annotations

from itertools import product
from string import ascii_letters, ascii_uppercase, digits, punctuation
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

from dga2d.replay.streams import stream

END_OF_TEXT = "<|endoftext|>"
UNKNOWN = "<|unknown|>"
INITIAL_DEVIATION = 0.02
"""Standard deviation of the initial matrices, as in the published Qwen2 configurations."""
INITIAL_GAIN = 4.0
"""Of the last norm. A step of AdamW at 1e-4 then moves the log-probability of a decision by about 0.03
nats, so that credit of one sign takes a choice among four from 1/4 to 0.9 (1.3 nats) in about 50 steps, the
paper's number of generations (Appendix E.1): with a gain of 1 it would take 160, with 16 a dozen."""


def code_tokenizer() -> PreTrainedTokenizerFast:
    """Build a tokenizer with a token per word of two capitals and per other ASCII character.

    Those are the printable ones, space and newline; everything else becomes the unknown token.
    """
    characters = [END_OF_TEXT, UNKNOWN, "\n", " ", *sorted(ascii_letters + digits + punctuation)]
    codes = ["".join(letters) for letters in product(ascii_uppercase, repeat=2)]
    vocabulary = {text: i for i, text in enumerate([*characters, *codes])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\b[A-Z]{2}\b|[\s\S]"), behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, eos_token=END_OF_TEXT, pad_token=END_OF_TEXT, unk_token=UNKNOWN
    )


def small_qwen2_config(vocabulary: int) -> Qwen2Config:
    """Return a configuration of two layers of width 128."""
    return Qwen2Config(
        vocab_size=vocabulary,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=32768,
        tie_word_embeddings=False,
        attention_dropout=0.0,
        eos_token_id=0,
        pad_token_id=None,
    )


def random_model(config: Any, seed: int) -> Any:
    """Build a Qwen2 model of `config` with matrices from N(0, 0.02²), unit norms and zero biases.

    The numbers come from the run's own stream, parameter by parameter in the order of their names, so
    they depend neither on torch's global generator nor on its initialisation code.
    """
    with torch.random.fork_rng(devices=[]):
        model = Qwen2ForCausalLM(config)
    with torch.no_grad():
        for index, (name, parameter) in enumerate(sorted(model.named_parameters())):
            if name.endswith("bias"):
                parameter.zero_()
            elif parameter.ndim == 1:
                parameter.fill_(1.0)
            else:
                normal = stream(seed, "policy", index).standard_normal(
                    tuple(parameter.shape), dtype="float32"
                )
                parameter.copy_(torch.from_numpy(normal * INITIAL_DEVIATION))
    return model


def embedded_model(vocabulary: int, seed: int) -> Any:
    """Build the small model with an output matrix of zeros and a gain on its last norm."""
    model = random_model(small_qwen2_config(vocabulary), seed)
    with torch.no_grad():
        model.get_output_embeddings().weight.zero_()
        model.base_model.norm.weight.fill_(INITIAL_GAIN)
    return model
