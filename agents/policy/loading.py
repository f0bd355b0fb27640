"""Building language-model policies, with every reason for a refusal found before the run begins.

The built-in model is a small Qwen2 and a tokenizer of characters and codes, made on the spot: nothing is
downloaded, and the parameters are drawn from the run's seed. Three choices serve learning with the paper's
loss and optimiser, which know no entropy bonus:

- A two-letter code is one token. Were it two, all codes of a graph would begin with the same letter, and
  the decisive second letter would be chosen after a token that is the same whatever came before.
- The output matrix starts at zero, so π_θ0 is exactly uniform on every feasible set; no operator is ahead
  by the luck of the seed.
- The last norm has a gain, which sets how far one step moves a decision; see ``INITIAL_GAIN``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from string import ascii_letters, ascii_uppercase, digits, punctuation
from typing import Any

import psutil
import torch
from safetensors import SafetensorError
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
from transformers.utils import logging

from dga2d.agents.policy.contract import PolicySettings
from dga2d.agents.policy.errors import (
    NotCausalModelError,
    PolicyLoadError,
    PolicyMemoryError,
    PolicyNotFoundError,
    TokenizerMissingError,
)
from dga2d.agents.policy.language_model import LanguageModelPolicy
from dga2d.agents.policy.learner import add_adapters
from dga2d.agents.policy.prompt import choose_aliases
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


CGROUP = Path("/sys/fs/cgroup")
LOGIT_TOLERANCE = 1e-2


def embedded_policy(seed: int, settings: PolicySettings) -> LanguageModelPolicy:
    """Build the small built-in Qwen2 with parameters drawn from `seed`."""
    tokenizer = code_tokenizer()
    model = embedded_model(len(tokenizer), seed)
    settings = dataclasses.replace(
        settings,
        threads=settings.threads or 1,
        track_kl=settings.track_kl is not False,
        device="cpu" if settings.device == "auto" else settings.device,
    )
    return build_policy("embedded-qwen2", model, tokenizer, seed, settings)


def pretrained_policy(spec: str, seed: int, settings: PolicySettings) -> LanguageModelPolicy:
    """Load a model from a directory or the hub; `seed` only initialises adapters.

    Raises
    ------
    PolicyLoadError
        It cannot serve as a policy; the subclass says why.
    """
    config = _config(spec, settings)
    _require_causal(spec, config)
    tokenizer = _tokenizer(spec, settings)
    _require_memory(spec, config, settings)
    model = _weights(spec, settings)
    name = f"{config.model_type}:{Path(spec).name if Path(spec).is_dir() else spec}"
    return build_policy(name, model, tokenizer, seed, settings)


def build_policy(
    name: str, model: Any, tokenizer: Any, seed: int, settings: PolicySettings
) -> LanguageModelPolicy:
    """Build a policy from a model and its tokenizer already in memory.

    Raises
    ------
    AliasError
        The tokenizer gives no fitting aliases.
    PolicyLoadError
        The model's logits are not a linear function of its last hidden states.
    """

    def encode(text: str) -> list[int]:
        return list(tokenizer.encode(text, add_special_tokens=False))

    aliases = choose_aliases(name, encode, tokenizer.unk_token_id, settings.alias_capacity)
    _silence_dropout(model)
    model.eval()
    model.to(device=_device(settings), dtype=getattr(torch, settings.dtype))
    _require_linear_head(name, model)
    if settings.lora_rank:
        add_adapters(model, settings.lora_rank, seed)
    if settings.gradient_checkpointing:
        _checkpoint_activations(model)
    return LanguageModelPolicy(name, model, tokenizer, aliases, settings)


def _config(spec: str, settings: PolicySettings) -> Any:
    try:
        return AutoConfig.from_pretrained(spec, local_files_only=settings.local_files_only)
    except (OSError, ValueError) as error:
        if Path(spec).is_dir():
            raise PolicyLoadError(spec, f"no usable config.json: {_first_line(error)}") from error
        raise PolicyNotFoundError(
            spec,
            "no such directory, and the model hub and its local cache do not have it; name a directory that "
            "does, or take the built-in policy (--policy embedded)",
        ) from error


def _require_causal(spec: str, config: Any) -> None:
    known = set(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values())
    architectures = config.architectures or [MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(config.model_type)]
    if getattr(config, "is_encoder_decoder", False) or not known & set(architectures):
        shown = ", ".join(str(a) for a in config.architectures or [config.model_type])
        raise NotCausalModelError(spec, f"{shown} is not a causal language model")


def _tokenizer(spec: str, settings: PolicySettings) -> Any:
    try:
        tokenizer = AutoTokenizer.from_pretrained(spec, local_files_only=settings.local_files_only)
    except Exception as error:  # transformers lets errors of several libraries through here
        raise TokenizerMissingError(spec, f"no usable tokenizer: {_first_line(error)}") from error
    if not tokenizer.encode("AB", add_special_tokens=False):  # where there are no files it makes an empty one
        raise TokenizerMissingError(spec, "no usable tokenizer: its vocabulary is empty")
    return tokenizer


def _require_memory(spec: str, config: Any, settings: PolicySettings) -> None:
    """Require room for the weights and, in full training, gradients and moments outside the vocabulary."""
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    total = sum(p.numel() for p in model.parameters())
    vocabulary = {
        id(m.weight): m.weight.numel() for m in (model.get_input_embeddings(), model.get_output_embeddings())
    }
    trained = 0 if settings.lora_rank else total - sum(vocabulary.values())
    width = torch.finfo(getattr(torch, settings.dtype)).bits // 8
    needed = width * (total + 3 * trained)
    if (available := _available_bytes(settings)) < needed:
        raise PolicyMemoryError(spec, needed, available)


def _available_bytes(settings: PolicySettings) -> int:
    if _device(settings).type == "cuda":
        return int(torch.cuda.mem_get_info()[0])
    free = psutil.virtual_memory().available
    limit, used = CGROUP / "memory.max", CGROUP / "memory.current"
    if limit.is_file() and used.is_file() and (bound := limit.read_text().strip()).isdigit():
        free = min(free, int(bound) - int(used.read_text()))
    return int(free)


def _weights(spec: str, settings: PolicySettings) -> Any:
    try:
        with _quiet_transformers():
            loaded: Any = AutoModelForCausalLM.from_pretrained(
                spec,
                dtype=getattr(torch, settings.dtype),
                attn_implementation="sdpa",
                use_safetensors=True,
                local_files_only=settings.local_files_only,
                output_loading_info=True,
            )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise PolicyLoadError(spec, f"no usable weights: {_first_line(error)}") from error
    model, info = loaded
    if missing := sorted(info["missing_keys"]):
        raise PolicyLoadError(spec, f"the weights lack {len(missing)} parameters, {missing[0]} first")
    return model


@contextmanager
def _quiet_transformers() -> Iterator[None]:
    """Keep progress bars and warnings off stderr; what matters is raised as an error."""
    verbosity, had_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if had_bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _checkpoint_activations(model: Any) -> None:
    name = "activation_checkpointing_enable"  # transformers < 5.20 has only the former name
    enable = getattr(model, name, None) or model.gradient_checkpointing_enable
    enable({"use_reentrant": False})


def _silence_dropout(model: Any) -> None:
    """Turn dropout off: gradient checkpointing needs training mode, which is then as good as evaluation."""
    for layer in model.modules():
        if isinstance(layer, torch.nn.Dropout):
            layer.p = 0.0
        if hasattr(layer, "attention_dropout"):
            layer.attention_dropout = 0.0


@torch.no_grad()
def _require_linear_head(name: str, model: Any) -> None:
    """Refuse scaled embeddings, logit caps and the like: our sparse logits would differ from the model's."""
    ids = torch.tensor([[1, 2, 3]], device=model.device)
    expected = model(input_ids=ids, use_cache=False).logits.float()
    inputs = model.get_input_embeddings().weight[ids]
    hidden = model.base_model(inputs_embeds=inputs, use_cache=False).last_hidden_state
    head = model.get_output_embeddings()
    found = hidden.float() @ head.weight.float().T
    if getattr(head, "bias", None) is not None:
        found = found + head.bias.float()
    if not torch.allclose(
        found, expected, rtol=LOGIT_TOLERANCE, atol=LOGIT_TOLERANCE * float(expected.abs().max())
    ):
        raise PolicyLoadError(
            name, "the model alters its embeddings or logits in a way the policy does not know"
        )


def _device(settings: PolicySettings) -> torch.device:
    if settings.device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(settings.device)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
