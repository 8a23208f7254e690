# SPDX-License-Identifier: Apache-2.0
"""The faults that the sensitivity run plants, one at a time, into the transformers model of a
golden configuration.

A fault says to which configurations it applies and where it is planted: in the config before
loading, in the loaded model, or in the modelling module (patched for one run and put back). A
prompt of one token has one key, whose softmax is 1 whatever the score, so faults of the scores need
two.
"""

import contextlib
import math
import sys
from dataclasses import dataclass
from typing import Callable

import torch
import transformers

import make_models


@dataclass(frozen=True)
class Fault:
    name: str
    applies: Callable  # GoldenConfig -> bool
    in_config: Callable = None  # (transformers config, GoldenConfig) -> None
    in_model: Callable = None  # (model, GoldenConfig) -> None
    in_module: Callable = None  # (modelling module) -> {name: replacement}


def several_keys(golden):
    return golden.prompt > 1


def always(golden):
    return True


# --- rope


def raise_theta(config, golden):
    config.rope_parameters["rope_theta"] *= 1.1


def drop_scaling(config, golden):
    config.rope_parameters = {
        "rope_type": "default",
        "rope_theta": config.rope_parameters["rope_theta"],
    }


def drop_rope_magnitude(model, golden):
    model.model.rotary_emb.attention_scaling = 1.0


def rope_kind(golden):
    return golden.rope.get("rope_type", golden.rope.get("type"))


def is_scaled(golden):
    # Dynamic scaling has no effect inside the original context, which is where its golden stays.
    return several_keys(golden) and rope_kind(golden) in ("linear", "llama3", "yarn")


def interleave_pairs(module):
    def rotate(x, cos, sin):
        half = x.shape[-1] // 2
        cos, sin = cos[..., :half], sin[..., :half]
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack((even * cos - odd * sin, odd * cos + even * sin), dim=-1).flatten(-2)

    def apply(q, k, cos, sin, unsqueeze_dim=1):
        cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
        return rotate(q, cos, sin), rotate(k, cos, sin)

    return {"apply_rotary_pos_emb": apply}


# --- attention


def tile_heads(module):
    return {"repeat_kv": lambda states, count: states.repeat(1, count, 1, 1)}


def scale_scores(factor_of):
    def plant(model, golden):
        for layer in model.model.layers:
            layer.self_attn.scaling *= factor_of(golden)

    return plant


def move_mask(by):
    """Each query sees one key more (1) or fewer (-1); the first query always sees itself."""

    def plant(module):
        def moved(build):
            def wrapper(*arguments, **named):
                mask = build(*arguments, **named)
                size = mask.shape[-1]
                edge = torch.eye(size, dtype=torch.bool)
                if by > 0:
                    edge = edge.roll(1, dims=1)  # the key after the query
                    edge[-1, 0] = False
                    return mask.masked_fill(edge, 0.0)
                edge[0, 0] = False
                return mask.masked_fill(edge, torch.finfo(mask.dtype).min)

            return wrapper

        names = ("create_causal_mask", "create_sliding_window_causal_mask")
        return {name: moved(getattr(module, name)) for name in names if hasattr(module, name)}

    return plant


def has_window(least_tokens):
    """Whether the prompt is long enough for the window, widened or narrowed, to matter."""
    return lambda golden: any(
        w and golden.prompt >= w + least_tokens for w in golden.layer_windows()
    )


def change_window(by):
    def plant(config, golden):
        config.sliding_window += by

    return plant


def drop_window(config, golden):
    if golden.family == "mistral":
        config.sliding_window = None
    else:
        config.layer_types = ["full_attention"] * golden.layers


def honour_unused_window(config, golden):
    config.sliding_window = golden.unused_window
    config.layer_types = ["sliding_attention"] * golden.layers


def rotate_layer_kinds(config, golden):
    config.layer_types = config.layer_types[-1:] + config.layer_types[:-1]


def has_mixed_layers(golden):
    return len(set(golden.layer_windows())) > 1 and golden.prompt > golden.window


# --- norms, biases, head, activation


def raise_eps(model, golden):
    for part in model.modules():
        if hasattr(part, "variance_epsilon"):
            part.variance_epsilon *= 10


def drop_norm(which):
    def plant(model, golden):
        for layer in model.model.layers:
            setattr(layer.self_attn, which, torch.nn.Identity())

    return plant


def flatten_norm(which):
    """The norm stays, its weight is forgotten."""

    def plant(model, golden):
        for name, part in model.named_modules():
            if name.endswith(which):
                part.weight.fill_(1.0)

    return plant


def drop_bias(which):
    def plant(model, golden):
        for name, part in model.named_modules():
            if name.endswith(f".{which}_proj"):
                part.bias = None

    return plant


def tie_head(model, golden):
    model.lm_head.weight = model.model.embed_tokens.weight


def untie_head(model, golden):
    shape = (golden.vocab, golden.hidden)
    values = make_models.draw(
        golden.seed, "lm_head.weight", math.prod(shape), make_models.embedding_deviation(golden)
    )
    model.lm_head.weight = torch.nn.Parameter(
        torch.tensor(values, dtype=torch.float32).reshape(shape)
    )


def swap_activation(model, golden):
    other = "silu" if golden.activation != "silu" else "gelu_pytorch_tanh"
    for layer in model.model.layers:
        layer.mlp.act_fn = transformers.activations.ACT2FN[other]


def bias_fault(which):
    enough = several_keys if which in ("q", "k") else always
    return Fault(
        f"{which} bias dropped",
        lambda g: which in g.biases() and enough(g),
        in_model=drop_bias(which),
    )


FAULTS = [
    Fault("rope theta x1.1", several_keys, in_config=raise_theta),
    Fault("rope interleaved", several_keys, in_module=interleave_pairs),
    Fault("rope scaling dropped", is_scaled, in_config=drop_scaling),
    Fault(
        "rope magnitude dropped",
        lambda g: is_scaled(g) and rope_kind(g) == "yarn",
        in_model=drop_rope_magnitude,
    ),
    Fault("KV heads tiled", lambda g: 1 < g.kv_heads < g.heads, in_module=tile_heads),
    Fault("attention scale x1.1", several_keys, in_model=scale_scores(lambda g: 1.1)),
    Fault(
        "attention scale of hidden / heads",
        lambda g: several_keys(g) and g.dim * g.heads != g.hidden,
        in_model=scale_scores(lambda g: math.sqrt(g.dim * g.heads / g.hidden)),
    ),
    Fault("mask + 1", several_keys, in_module=move_mask(1)),
    Fault("mask - 1", several_keys, in_module=move_mask(-1)),
    Fault("window + 1", has_window(1), in_config=change_window(1)),
    Fault("window - 1", has_window(0), in_config=change_window(-1)),
    Fault("window dropped", has_window(1), in_config=drop_window),
    Fault(
        "unused window used",
        lambda g: 0 < g.unused_window < g.prompt,
        in_config=honour_unused_window,
    ),
    Fault("layer kinds rotated", has_mixed_layers, in_config=rotate_layer_kinds),
    Fault("eps x10", always, in_model=raise_eps),
    Fault(
        "q norm dropped",
        lambda g: g.family == "qwen3" and several_keys(g),
        in_model=drop_norm("q_norm"),
    ),
    Fault(
        "k norm dropped",
        lambda g: g.family == "qwen3" and several_keys(g),
        in_model=drop_norm("k_norm"),
    ),
    Fault("first norm's weight dropped", always, in_model=flatten_norm("input_layernorm")),
    Fault(
        "second norm's weight dropped", always, in_model=flatten_norm("post_attention_layernorm")
    ),
    Fault("last norm's weight dropped", always, in_model=flatten_norm("model.norm")),
    *[bias_fault(which) for which in ("q", "k", "v", "o", "gate", "up", "down")],
    Fault("tied head for untied", lambda g: not g.tied, in_model=tie_head),
    Fault("untied head for tied", lambda g: g.tied, in_model=untie_head),
    Fault("activation swapped", always, in_model=swap_activation),
]


@contextlib.contextmanager
def patched(model, fault):
    """The modelling module with the fault's replacements, put back on leaving."""
    module = sys.modules[type(model).__module__]
    replacements = fault.in_module(module) if fault.in_module else {}
    kept = {name: getattr(module, name) for name in replacements}
    for name, value in replacements.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(module, name, value)
