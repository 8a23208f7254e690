#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a checkpoint of a large shape that takes almost no disk: a Hugging Face folder whose
safetensors file is a hole, but for one panel of 32 rows in each matrix, drawn by a seeded counter.

    sparse_checkpoint.py DIR            # 8B parameters, 16 GB of holes
    sparse_checkpoint.py DIR --layers 2 --hidden 512

With it a compile is checked for memory, time and what becomes of groups of zeros
(check_packed.py). Standard library only.
"""

import argparse
import json
import struct
import zlib
from pathlib import Path

PANEL = 32


def mix(z):
    """splitmix64's finaliser."""
    mask = (1 << 64) - 1
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def shapes(args):
    """(name, rows, columns) of each tensor; a vector has 0 rows."""
    kv = args.hidden // args.heads * args.kv_heads
    tensors = [("model.embed_tokens.weight", args.vocab, args.hidden)]
    for layer in range(args.layers):
        prefix = f"model.layers.{layer}."
        tensors += [
            (prefix + "input_layernorm.weight", 0, args.hidden),
            (prefix + "self_attn.q_proj.weight", args.hidden, args.hidden),
            (prefix + "self_attn.k_proj.weight", kv, args.hidden),
            (prefix + "self_attn.v_proj.weight", kv, args.hidden),
            (prefix + "self_attn.o_proj.weight", args.hidden, args.hidden),
            (prefix + "post_attention_layernorm.weight", 0, args.hidden),
            (prefix + "mlp.gate_proj.weight", args.mlp, args.hidden),
            (prefix + "mlp.up_proj.weight", args.mlp, args.hidden),
            (prefix + "mlp.down_proj.weight", args.hidden, args.mlp),
        ]
    return tensors + [("model.norm.weight", 0, args.hidden), ("lm_head.weight", args.vocab, args.hidden)]


def panel_of(name, rows, seed):
    """The first row of the panel that is not zero."""
    return mix(seed ^ zlib.crc32(name.encode())) % (rows // PANEL) * PANEL


def panel_values(name, columns, seed):
    """The panel's bytes in bf16: small numbers of either sign, none of them 0."""
    state = mix(seed + zlib.crc32(name.encode()))
    table = []
    for i in range(257):
        bits = mix(state + i)
        exponent = 120 + bits % 6  # 2^-7 to 2^-2
        table.append((bits >> 32 & 1) << 15 | exponent << 7 | bits >> 40 & 127)
    line = struct.pack(f"<{len(table)}H", *table)
    needed = PANEL * columns * 2
    return (line * (needed // len(line) + 1))[:needed]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=4096)
    parser.add_argument("--mlp", type=int, default=14336)
    parser.add_argument("--heads", type=int, default=32)
    parser.add_argument("--kv-heads", type=int, default=8)
    parser.add_argument("--vocab", type=int, default=128256)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    config = {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_act": "silu",
        "hidden_size": args.hidden, "intermediate_size": args.mlp, "num_hidden_layers": args.layers,
        "num_attention_heads": args.heads, "num_key_value_heads": args.kv_heads, "vocab_size": args.vocab,
        "max_position_embeddings": 8192, "rms_norm_eps": 1e-5, "rope_theta": 500000.0,
        "tie_word_embeddings": False, "torch_dtype": "bfloat16", "eos_token_id": 2, "bos_token_id": 1,
    }
    (args.folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    header, offset = {}, 0
    for name, rows, columns in shapes(args):
        size = max(1, rows) * columns * 2
        shape = [rows, columns] if rows else [columns]
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(args.folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        start = file.tell()
        for name, rows, columns in shapes(args):
            at = start + header[name]["data_offsets"][0]
            if rows:
                file.seek(at + panel_of(name, rows, args.seed) * columns * 2)
                file.write(panel_values(name, columns, args.seed))
            else:
                file.seek(at)
                file.write(struct.pack("<H", 0x3F80) * columns)
        file.truncate(start + offset)


if __name__ == "__main__":
    main()
