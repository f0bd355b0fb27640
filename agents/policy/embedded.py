"""The built-in policy model: a small Qwen2 and a character tokenizer, made on the spot.

Nothing is downloaded; the parameters are drawn from the run's seed.
"""

from __future__ import annotations

from string import ascii_letters, digits, punctuation
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

from dga2d.replay.streams import stream

END_OF_TEXT = "<|endoftext|>"
UNKNOWN = "<|unknown|>"
INITIAL_DEVIATION = 0.02
"""Standard deviation of the initial matrices, as in the published Qwen2 configurations."""


def character_tokenizer() -> PreTrainedTokenizerFast:
    """One token per printable ASCII character, space or newline; others become the unknown token."""
    characters = [END_OF_TEXT, UNKNOWN, "\n", " ", *sorted(ascii_letters + digits + punctuation)]
    vocabulary = {character: i for i, character in enumerate(characters)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, eos_token=END_OF_TEXT, pad_token=END_OF_TEXT, unk_token=UNKNOWN
    )


def small_qwen2_config(vocabulary: int) -> Qwen2Config:
    """Two layers of width 128."""
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
    """A Qwen2 model of `config` with matrices from N(0, 0.02²), unit norms and zero biases.

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
