# SPDX-License-Identifier: Apache-2.0
"""The GGUF goldens: one row a tiny model, in each type of tensors and architecture, and the keys that
have no counterpart in a config.json. Standard library only, as configs.py is.
"""

from dataclasses import replace

import configs

TYPES = ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1")
# Hidden 64, MLP 96, four heads, two key/value heads: all widths are whole groups of 32.
SIZES = {"layout": configs.V5, "max_positions": 256}
SEEDS = {"llama": 3, "qwen2": 3, "qwen3": 3}


def model(name, why, family, storage, **changes):
    prompt = changes.pop("prompt", 33)
    # Heads of qwen3 are wider than hidden / heads, so widths of q and o are not hidden.
    wide = {"head_dim": 32} if family == "qwen3" else {}
    return configs.GoldenConfig(
        name, why, family, 64, 96, 4, 2, 96, prompt, changes.pop("seed", SEEDS.get(family, 3)),
        storage=storage, **{**SIZES, **wide, **changes}
    )


def by_type(family):
    return [
        model(f"{family}-{storage.lower()}", f"{family}, linears and tables as {storage}", family,
              storage)
        for storage in TYPES
    ]


CONFIGS = [
    *by_type("llama"),
    *by_type("qwen2"),
    *by_type("qwen3"),
    model("llama-q4_1-q8_0", "as SmolLM2 is published: Q4_1, the embedding Q8_0 and tied", "llama",
          "Q4_1", tied=True),
    model("llama-f32-biases", "biases of q and k lie in pairs, as their rows do", "llama", "F32",
          attention_bias=True, mlp_bias=True, tied=True),
    model("llama-f32-rope-freqs", "Llama 3's scaling, as a tensor of divisors", "llama", "F32",
          prompt=100, rope=configs.LLAMA3),
    model("llama-f32-linear", "linear scaling", "llama", "F32",
          rope=configs.rope("linear", 20000.0, factor=2.5)),
    model("qwen2-f32-yarn", "yarn with its own magnitude", "qwen2", "F32", prompt=100,
          rope=configs.YARN),
    # llama.cpp drops the key without a word (its arch llama knows no window), so transformers alone
    # says what is right.
    model("mistral-f32-window", "a window of 8, as arch llama", "mistral", "F32", window=8),
]

# Who dropped what: no logits by llama.cpp for these.
WITHOUT_LLAMA_CPP = ("mistral-f32-window",)

# The type of the embedding where it is not the linears'.
EMBEDDING = {"llama-q4_1-q8_0": "Q8_0"}


def embedding_type(config):
    return EMBEDDING.get(config.name, config.storage)


def as_float(config):
    """The same model for transformers: its weights dequantised."""
    return replace(config, storage="F32")


def find(name):
    return next((config for config in CONFIGS if config.name == name), None)
