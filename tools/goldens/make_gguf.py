#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the GGUF goldens' models: OUT/NAME.gguf, and with --folders their dequantised twins as
Hugging Face folders.

Standard library only and the same bytes on every machine, as make_models.py, whose weights these
are. Not the reader's twin: rows of q and k are put in pairs here, blocks are packed here, from the
format's description.
"""

import argparse
import hashlib
import json
import math
import struct
import sys
from pathlib import Path

import configs
import gguf_configs
import make_models

ALIGNMENT, BLOCK = 32, 32
TYPE_NUMBER = {"F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q8_0": 8, "BF16": 30}
ARCHITECTURE = {"llama": "llama", "mistral": "llama", "qwen2": "qwen2", "qwen3": "qwen3"}

# Hugging Face's names to GGUF's, of a layer.
PLACES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
WHOLE = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}


def stored_name(name):
    if name in WHOLE:
        return WHOLE[name]
    _, _, layer, rest = name.split(".", 3)
    place, kind = rest.rsplit(".", 1)
    return f"blk.{layer}.{PLACES[place]}.{kind}"


# --- Types of tensors: encode to bytes, and decode to what a reader must find


def half(value):
    """The nearest IEEE half, as bytes and as a number."""
    data = struct.pack("<e", value)
    return data, struct.unpack("<e", data)[0]


def single(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def nibbles(codes):
    return bytes(codes[i] | codes[i + 16] << 4 for i in range(16))


def clamp(value, least, most):
    return min(max(value, least), most)


def block_q8_0(values):
    scale_bytes, scale = half(max(abs(value) for value in values) / 127)
    codes = [clamp(round(value / scale), -128, 127) if scale else 0 for value in values]
    return scale_bytes + struct.pack("<32b", *codes), [single(scale * code) for code in codes]


def block_q4_0(values):
    scale_bytes, scale = half(max(values, key=abs) / -8)
    codes = [clamp(round(value / scale) + 8, 0, 15) if scale else 8 for value in values]
    return scale_bytes + nibbles(codes), [single(scale * (code - 8)) for code in codes]


def block_q4_1(values):
    least_bytes, least = half(min(values))
    scale_bytes, scale = half((max(values) - min(values)) / 15)
    codes = [clamp(round((value - least) / scale), 0, 15) if scale else 0 for value in values]
    return scale_bytes + least_bytes + nibbles(codes), [
        single(scale * code + least) for code in codes
    ]


BLOCKS = {"Q8_0": block_q8_0, "Q4_0": block_q4_0, "Q4_1": block_q4_1}


def encode(values, storage):
    """(bytes, values as a reader must find them)."""
    if storage in BLOCKS:
        blocks = [BLOCKS[storage](values[i : i + BLOCK]) for i in range(0, len(values), BLOCK)]
        return b"".join(data for data, _ in blocks), [v for _, found in blocks for v in found]
    data = make_models.encode(values, storage)
    if storage == "BF16":
        words = struct.unpack(f"<{len(values)}H", data)
        found = struct.unpack(f"<{len(words)}f", struct.pack(f"<{len(words)}I", *(w << 16 for w in words)))
    else:
        found = struct.unpack(f"<{len(values)}{'f' if storage == 'F32' else 'e'}", data)
    return data, list(found)


def pair_rows(values, rows, head_dim):
    """The halves (i, i + head_dim / 2) of each head become neighbours 2i, 2i + 1, as llama.cpp's
    converter for arch llama has them."""
    width, paired = len(values) // rows, []
    for head in range(0, rows, head_dim):
        for i in range(head_dim // 2):
            for row in (head + i, head + i + head_dim // 2):
                paired.extend(values[row * width : (row + 1) * width])
    return paired


# --- Metadata


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def u32(key, value):
    return text(key) + struct.pack("<II", 4, value)


def f32(key, value):
    return text(key) + struct.pack("<If", 6, value)


def string(key, value):
    return text(key) + struct.pack("<I", 8) + text(value)


def rope_keys(config, arch):
    rope = config.rope
    yield f32(f"{arch}.rope.freq_base", rope["rope_theta"])
    kind = rope.get("rope_type", "default")
    if kind in ("linear", "yarn"):
        yield string(f"{arch}.rope.scaling.type", kind)
        yield f32(f"{arch}.rope.scaling.factor", rope["factor"])
    if kind == "yarn":
        yield u32(
            f"{arch}.rope.scaling.original_context_length",
            rope["original_max_position_embeddings"],
        )


def keys(config):
    arch = ARCHITECTURE[config.family]
    yield string("general.architecture", arch)
    yield string("general.type", "model")
    yield string("general.name", config.name)
    yield u32("general.quantization_version", 2)
    yield u32(f"{arch}.block_count", config.layers)
    yield u32(f"{arch}.context_length", config.max_positions)
    yield u32(f"{arch}.embedding_length", config.hidden)
    yield u32(f"{arch}.feed_forward_length", config.mlp)
    yield u32(f"{arch}.attention.head_count", config.heads)
    yield u32(f"{arch}.attention.head_count_kv", config.kv_heads)
    yield u32(f"{arch}.attention.key_length", config.dim)
    yield u32(f"{arch}.attention.value_length", config.dim)
    yield f32(f"{arch}.attention.layer_norm_rms_epsilon", config.eps)
    yield u32(f"{arch}.vocab_size", config.vocab)
    if config.window:
        yield u32(f"{arch}.attention.sliding_window", config.window)
    yield from rope_keys(config, arch)
    yield string("tokenizer.ggml.model", "none")


# --- Tensors


def divisors(config):
    """What Llama 3's scaling divides each frequency by."""
    rope, found = config.rope, []
    context, low, high = (
        rope["original_max_position_embeddings"], rope["low_freq_factor"], rope["high_freq_factor"]
    )
    for i in range(config.dim // 2):
        wavelength = 2 * math.pi * rope["rope_theta"] ** (2 * i / config.dim)
        smooth = clamp((context / wavelength - low) / (high - low), 0, 1)
        found.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return found


def drawn(config):
    """(Hugging Face's name, shape, values) of every tensor."""
    for name, shape, deviation, mean in make_models.tensors(config):
        yield name, shape, list(
            make_models.draw(config.seed, name, math.prod(shape), deviation, mean)
        )


def storage_of(config, name, shape):
    if len(shape) == 1:
        return "F32"
    table = name in ("model.embed_tokens.weight", "lm_head.weight")
    return gguf_configs.embedding_type(config) if table else config.storage


def needs_pairs(config, name):
    return ARCHITECTURE[config.family] == "llama" and ("q_proj" in name or "k_proj" in name)


def stored_tensors(config):
    """(GGUF's name, shape, type, bytes)."""
    if config.rope.get("rope_type") == "llama3":
        values = divisors(config)
        yield "rope_freqs.weight", (len(values),), "F32", make_models.encode(values, "F32")
    for name, shape, values in drawn(config):
        storage = storage_of(config, name, shape)
        if needs_pairs(config, name):
            values = pair_rows(values, shape[0], config.dim)
        yield stored_name(name), shape, storage, encode(values, storage)[0]


def gguf_bytes(config):
    metadata, tensors = list(keys(config)), list(stored_tensors(config))
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(metadata)) + b"".join(metadata)
    data = b""
    for name, shape, storage, stored in tensors:
        data += bytes(-len(data) % ALIGNMENT)
        head += text(name) + struct.pack("<I", len(shape))
        head += b"".join(struct.pack("<Q", size) for size in reversed(shape))
        head += struct.pack("<IQ", TYPE_NUMBER[storage], len(data))
        data += stored
    return head + bytes(-len(head) % ALIGNMENT) + data


def write_folder(config, folder):
    """The model for transformers: what a reader must find in the file, as float32."""

    folder.mkdir(parents=True, exist_ok=True)
    config = gguf_configs.as_float(config)
    original = gguf_configs.find(config.name)
    make_models.write_json(folder / "config.json", configs.config_json(config))
    named = [
        (name, shape, make_models.encode(
            encode(values, storage_of(original, name, shape))[1], "F32"))
        for name, shape, values in drawn(original)
    ]
    make_models.write_safetensors(folder / "model.safetensors", named, "F32")


def stale(config, data, goldens):
    """Why the golden does not belong to this file, or None."""
    path = goldens / f"{config.name}.json"
    if not path.exists():
        return f"{path}: error: found no such file, expected a golden, run make_gguf_goldens.py"
    expected, found = json.loads(path.read_text())["file_sha256"], hashlib.sha256(data).hexdigest()
    if found == expected:
        return None
    return (
        f"{path}: file_sha256: error: found {expected}, expected {found}, run make_gguf_goldens.py"
    )


def main():
    parser = argparse.ArgumentParser(
        description="Write the GGUF goldens' models.",
        epilog="example: make_gguf.py --out build/golden-gguf --only llama-q4_1",
    )
    parser.add_argument("--out", type=Path, help="where the files go: OUT/NAME.gguf")
    parser.add_argument("--only", metavar="NAME", action="append",
                        help="this model alone (may be repeated)")
    parser.add_argument("--folders", action="store_true",
                        help="also write OUT/NAME, the same weights as float32 for transformers")
    parser.add_argument("--check", metavar="GOLDENS", type=Path,
                        help="also check that each golden was made from its file")
    parser.add_argument("--list", action="store_true",
                        help="print the names and what each is there for")
    options = parser.parse_args()
    if options.list:
        for config in gguf_configs.CONFIGS:
            print(f"{config.name:22} {config.why}")
        return 0
    if not options.out:
        parser.error("--out: found nothing, expected the folder to write to")
    for name in options.only or []:
        if not gguf_configs.find(name):
            parser.error(f"--only: found {name!r}, expected one of --list")
    options.out.mkdir(parents=True, exist_ok=True)
    complaints = []
    for config in gguf_configs.CONFIGS:
        if options.only and config.name not in options.only:
            continue
        data = gguf_bytes(config)
        (options.out / f"{config.name}.gguf").write_bytes(data)
        if options.folders:
            write_folder(config, options.out / config.name)
        if options.check:
            complaints.append(stale(config, data, options.check))
    complaints = [complaint for complaint in complaints if complaint]
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
