# SPDX-License-Identifier: Apache-2.0
"""The golden configurations: one row a tiny model, with its prompt length and the seed of its
weights.

Each row is there for a fact that the compiler could get wrong; `why` says which. Standard library
only, because make_models.py runs where neither torch nor numpy is installed (CI).
"""

from dataclasses import dataclass, field

V4, V5 = "transformers 4", "transformers 5"  # whose config.json the folder imitates


@dataclass(frozen=True)
class GoldenConfig:
    """Sizes and switches of one model, in the order of the table's first numbers."""

    name: str
    why: str
    family: str  # llama | mistral | qwen2 | qwen3
    hidden: int
    mlp: int
    heads: int
    kv_heads: int
    vocab: int
    prompt: int  # number of prompt tokens
    seed: int
    layers: int = 2
    head_dim: int = 0  # 0: hidden / heads, and left out of a transformers 4 config
    layout: str = V4
    rope: dict = field(default_factory=lambda: {"rope_type": "default", "rope_theta": 10000.0})
    max_positions: int = 512
    eps: float = 1e-5
    tied: bool = False
    activation: str = "silu"
    attention_bias: bool = False  # llama, qwen3; qwen2 always has q, k and v biases
    mlp_bias: bool = False  # llama
    window: int = 0  # 0: none
    max_window_layers: int = 0  # qwen: layers from here on use the window
    unused_window: int = 0  # qwen: written as sliding_window while use_sliding_window is false
    layer_types: tuple = ()  # qwen: F(ull) or S(liding) each, where max_window_layers cannot say it
    storage: str = "F32"
    shards: int = 1
    eos: object = 2

    @property
    def dim(self):
        return self.head_dim or self.hidden // self.heads

    def layer_windows(self):
        """The window of each layer, 0 where the layer sees everything."""
        if self.family == "mistral":
            return [self.window] * self.layers
        if self.layer_types:
            return [self.window if kind == "S" else 0 for kind in self.layer_types]
        first = self.max_window_layers
        return [self.window if i >= first else 0 for i in range(self.layers)]

    def biases(self):
        """Which projections have a bias."""
        if self.family == "qwen2":
            return {"q", "k", "v"}
        attention = {"q", "k", "v", "o"} if self.attention_bias else set()
        return attention | ({"gate", "up", "down"} if self.mlp_bias else set())


def rope(kind, theta=10000.0, **keys):
    return {"rope_type": kind, "rope_theta": theta, **keys}


# Thresholds small enough that a prompt of a hundred tokens meets all three frequency bands.
LLAMA3 = rope("llama3", 500000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=64)
YARN = rope("yarn", factor=4.0, original_max_position_embeddings=64)  # max_positions: 4 x 64

C = GoldenConfig
CONFIGS = [
    # --- Llama: heads, shapes, prompt lengths against the KV chunk of 64 tokens
    C("llama-mha", "one KV head per query head",
      "llama", 32, 48, 4, 4, 128, 5, 2),
    C("llama-one-token", "a prompt of one token",
      "llama", 48, 64, 4, 2, 160, 1, 6, layout=V5),
    C("llama-mqa-63", "one KV head for all; a chunk less one token; nothing a multiple of 8",
      "llama", 36, 50, 6, 1, 97, 63, 3),
    C("llama-gqa-64", "exactly one chunk",
      "llama", 48, 100, 6, 2, 101, 64, 2, layout=V5),
    C("llama-three-heads-65", "three heads and one KV head; one token in the second chunk",
      "llama", 30, 50, 3, 1, 99, 65, 1, rope=rope("default", 500000.0)),
    C("llama-head-dim", "head_dim 20 where hidden / heads is 12",
      "llama", 36, 56, 3, 1, 107, 130, 1, head_dim=20),
    C("llama-deep", "four layers, widths of 96, four chunks",
      "llama", 96, 68, 4, 2, 97, 200, 1, layers=4, layout=V5, rope=rope("default", 500000.0)),
    C("llama-wide-vocab", "vocabulary of 320",
      "llama", 40, 72, 5, 5, 320, 20, 4, head_dim=6),
    # --- Llama: head, biases, activations, epsilon
    C("llama-tied", "the head is the embedding",
      "llama", 64, 90, 4, 2, 200, 33, 1, tied=True, layout=V5),
    C("llama-attention-bias", "q, k, v and o biases",
      "llama", 40, 60, 4, 2, 131, 34, 2, attention_bias=True),
    C("llama-all-biases", "attention and MLP biases, tied",
      "llama", 36, 44, 3, 3, 113, 70, 14, layers=3, attention_bias=True, mlp_bias=True, tied=True,
      layout=V5, eps=1e-6),
    C("llama-mlp-bias", "gate, up and down biases alone",
      "llama", 24, 40, 2, 1, 103, 66, 2, mlp_bias=True),
    C("llama-gelu", "gelu with tanh",
      "llama", 44, 61, 4, 2, 127, 17, 1, head_dim=10, activation="gelu_pytorch_tanh"),
    C("llama-relu", "relu",
      "llama", 32, 77, 4, 4, 109, 40, 1, activation="relu", layout=V5),
    C("llama-large-eps", "an epsilon that is no rounding matter",
      "llama", 56, 64, 7, 7, 98, 29, 2, eps=1e-2),
    # --- Llama: rope scaling
    C("llama-linear", "linear scaling under its old key `type`",
      "llama", 48, 64, 4, 2, 104, 65, 2, rope={"type": "linear", "rope_theta": 10000.0,
      "factor": 2.5}),
    C("llama-linear-v5", "linear scaling in rope_parameters",
      "llama", 36, 52, 3, 1, 100, 80, 4, layout=V5, rope=rope("linear", 20000.0, factor=4.0)),
    C("llama3-rope", "the three bands of Llama 3",
      "llama", 64, 96, 4, 2, 128, 130, 2, rope=LLAMA3, tied=True, eos=[2, 5, 9]),
    C("llama3-rope-v5", "the same in rope_parameters, head_dim explicit",
      "llama", 48, 70, 6, 2, 97, 200, 1, head_dim=12, rope=LLAMA3, layout=V5),
    C("llama-yarn", "yarn with its own magnitude, old key `type`",
      "llama", 48, 64, 3, 1, 111, 100, 1, max_positions=256, rope={"type": "yarn",
      "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 64}),
    C("llama-yarn-explicit", "attention_factor, beta_fast and beta_slow given",
      "llama", 64, 72, 4, 4, 97, 130, 9, layout=V5, max_positions=256, rope=dict(YARN,
      attention_factor=0.8, beta_fast=8.0, beta_slow=2.0)),
    C("llama-yarn-mscale", "magnitude from mscale and mscale_all_dim, ramp not truncated",
      "llama", 40, 48, 2, 2, 99, 66, 1, layout=V5, max_positions=256, rope=dict(YARN, mscale=1.0,
      mscale_all_dim=0.5, truncate=False)),
    C("llama-dynamic", "dynamic scaling inside the original context changes nothing",
      "llama", 40, 56, 4, 2, 97, 130, 1, max_positions=256, rope={"type": "dynamic",
      "rope_theta": 10000.0, "factor": 2.0}),
    # --- Llama: storage
    C("llama-f16", "stored as F16",
      "llama", 48, 60, 4, 2, 120, 24, 1, storage="F16"),
    C("llama-bf16-sharded", "stored as BF16 in three shards with an index",
      "llama", 50, 66, 5, 1, 122, 67, 1, layers=3, storage="BF16", shards=3, layout=V5),
    # --- Mistral: windows
    C("mistral-window-less-one", "prompt of window - 1",
      "mistral", 40, 60, 4, 2, 115, 15, 3, window=16),
    C("mistral-window-exact", "prompt of exactly the window",
      "mistral", 40, 60, 4, 2, 115, 16, 1, window=16, layout=V5),
    C("mistral-window-plus-one", "prompt of window + 1",
      "mistral", 40, 60, 4, 2, 115, 17, 2, window=16),
    C("mistral-window-chunk", "window of one chunk, one token beyond it",
      "mistral", 28, 50, 3, 1, 106, 65, 5, head_dim=10, window=64),
    C("mistral-window-70", "window crossing chunks, far beyond it",
      "mistral", 40, 54, 4, 2, 97, 200, 3, head_dim=12, window=70, layout=V5, rope=rope("default",
      50000.0)),
    C("mistral-window-5", "whole chunks outside the window",
      "mistral", 48, 64, 6, 3, 99, 130, 9, window=5),
    C("mistral-no-window", "sliding_window: null",
      "mistral", 36, 56, 2, 1, 102, 90, 5, eps=1e-6),
    # --- Qwen2: q, k, v biases
    C("qwen2-tied", "qkv biases, tied, a window that is switched off",
      "qwen2", 48, 68, 6, 2, 151, 64, 4, tied=True, eps=1e-6, rope=rope("default", 1000000.0),
      unused_window=8, eos=[0, 1]),
    C("qwen2-window", "the window from layer 1 of 3 on",
      "qwen2", 40, 60, 4, 2, 105, 40, 7, layers=3, window=8, max_window_layers=1, layout=V5),
    C("qwen2-window-v4", "the same without layer_types",
      "qwen2", 36, 60, 3, 3, 97, 72, 1, layers=3, window=11, max_window_layers=2),
    C("qwen2-yarn", "yarn as Qwen2.5 writes it, BF16",
      "qwen2", 64, 76, 4, 1, 116, 68, 1, storage="BF16", max_positions=256, rope={"type": "yarn",
      "rope_theta": 1000000.0, "factor": 4.0, "original_max_position_embeddings": 64}),
    # --- Qwen3: q and k norms
    C("qwen3-three-heads", "q and k norms, head_dim 16 at hidden 28 and three heads",
      "qwen3", 28, 44, 3, 1, 108, 65, 1, head_dim=16, eps=1e-6, rope=rope("default", 1000000.0)),
    C("qwen3-bias", "norms and all attention biases",
      "qwen3", 32, 46, 4, 2, 118, 30, 4, head_dim=14, attention_bias=True, layout=V5),
    C("qwen3-layer-types", "sliding, full, sliding: no max_window_layers can say that",
      "qwen3", 32, 50, 4, 4, 97, 75, 2, layers=3, head_dim=12, window=9, layer_types=("S", "F",
      "S"), layout=V5, rope=rope("default", 1000000.0)),
    C("qwen3-tied-bf16", "tied, BF16, four chunks",
      "qwen3", 40, 56, 4, 1, 97, 200, 1, head_dim=18, tied=True, storage="BF16", layout=V5),
]

# What the README's first command compiles: bytes as vocabulary, so that any text is a prompt.
DEMO = C("demo", "the README's first model", "llama", 64, 160, 4, 2, 256, 5, 1, layout=V5, eos=0)

ARCHITECTURE = {"llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2", "qwen3": "Qwen3"}
DTYPE = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}


def shared_keys(config):
    """The keys that both releases write alike."""
    keys = {
        "architectures": [ARCHITECTURE[config.family] + "ForCausalLM"],
        "attention_dropout": 0.0,
        "bos_token_id": 1,
        "eos_token_id": config.eos,
        "hidden_act": config.activation,
        "hidden_size": config.hidden,
        "initializer_range": 0.02,
        "intermediate_size": config.mlp,
        "max_position_embeddings": config.max_positions,
        "model_type": config.family,
        "num_attention_heads": config.heads,
        "num_hidden_layers": config.layers,
        "num_key_value_heads": config.kv_heads,
        "rms_norm_eps": config.eps,
        "tie_word_embeddings": config.tied,
        "use_cache": True,
        "vocab_size": config.vocab,
    }
    if config.family in ("llama", "qwen3"):
        keys["attention_bias"] = config.attention_bias
    if config.family == "llama":
        keys.update(mlp_bias=config.mlp_bias, pretraining_tp=1)
    if config.head_dim or config.family == "qwen3":
        keys["head_dim"] = config.dim
    return keys


def window_keys(config):
    """How each family writes its sliding window."""
    if config.family == "llama":
        return {}
    if config.family == "mistral":
        return {"sliding_window": config.window or None}
    keys = {
        "use_sliding_window": bool(config.window),
        "sliding_window": config.window or config.unused_window or None,
        "max_window_layers": config.max_window_layers if config.window else config.layers,
    }
    if config.layout == V5:
        keys["layer_types"] = [
            "sliding_attention" if window else "full_attention"
            for window in config.layer_windows()
        ]
    return keys


def config_json(config):
    """config.json as the release named by `layout` would write it."""
    keys = {**shared_keys(config), **window_keys(config)}
    if config.layout == V5:
        keys.update(rope_parameters=dict(config.rope), dtype=DTYPE[config.storage],
                    pad_token_id=None, transformers_version="5.24.0", head_dim=config.dim)
        if config.family == "qwen2":
            del keys["head_dim"]  # Qwen2's configuration class has no such field
    else:
        scaling = {key: value for key, value in config.rope.items() if key != "rope_theta"}
        plain = scaling == {"rope_type": "default"}
        keys.update(rope_theta=config.rope["rope_theta"], rope_scaling=None if plain else scaling,
                    torch_dtype=DTYPE[config.storage], transformers_version="4.46.0")
    return dict(sorted(keys.items()))


def generation_config_json(config):
    return {"_from_model_config": True, "bos_token_id": 1, "eos_token_id": config.eos,
            "transformers_version": config_json(config)["transformers_version"]}


def find(name):
    """The configuration of that name, or None."""
    return next((config for config in [*CONFIGS, DEMO] if config.name == name), None)
