#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden models as Hugging Face folders: config.json, generation_config.json,
safetensors.

Standard library only and the same bytes on every machine: a weight is a counter run through
splitmix64, its four 16-bit lanes summed (near enough a normal distribution) and scaled by one
multiplication, so no libm is involved.
"""

import argparse
import hashlib
import json
import math
import struct
import sys
import zlib
from array import array
from pathlib import Path

import configs

MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15
LANE_SUM_DEVIATION = math.sqrt(
    4 * ((1 << 32) - 1) / 12
)  # of four independent uniform 16-bit integers
LOGIT_DEVIATION = 2.5


def mix(z):
    """splitmix64's finaliser."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def stream_start(seed, name):
    return mix((seed * GAMMA + zlib.crc32(name.encode())) & MASK)


def draw(seed, name, count, deviation, mean=0.0):
    """`count` values around `mean`; the stream depends on the seed and the tensor's name alone."""
    counter = stream_start(seed, name)
    scale = deviation / LANE_SUM_DEVIATION
    values = array("d", bytes(8 * count))
    for i in range(count):
        counter = (counter + GAMMA) & MASK
        z = mix(counter)
        lanes = (z & 0xFFFF) + (z >> 16 & 0xFFFF) + (z >> 32 & 0xFFFF) + (z >> 48)
        values[i] = mean + (lanes - 131070) * scale
    return values


def prompt_ids(config):
    """The prompt: any tokens of the vocabulary, from the model's own seed."""
    start = stream_start(config.seed, "prompt")
    return [mix((start + (i + 1) * GAMMA) & MASK) % config.vocab for i in range(config.prompt)]


def embedding_deviation(config):
    """Small on purpose: ten times the epsilon then moves the first norm by a hundredth."""
    return min(20.0 * math.sqrt(config.eps), 0.3)


def tensors(config):
    """(name, shape, deviation, mean) of every tensor, in the order of the file."""
    d, f, q, kv = config.hidden, config.mlp, config.heads * config.dim, config.kv_heads * config.dim
    biased = config.biases()
    # A tied head reads the small embedding, so the final norm makes up for it.
    head_gain = (
        LOGIT_DEVIATION / (embedding_deviation(config) * math.sqrt(d)) if config.tied else 1.0
    )
    yield "model.embed_tokens.weight", (config.vocab, d), embedding_deviation(config), 0.0
    for layer in range(config.layers):
        prefix = f"model.layers.{layer}."
        yield prefix + "input_layernorm.weight", (d,), 0.3, 1.0
        for name, rows, columns, gain in (
            ("q", q, d, 1.5),
            ("k", kv, d, 1.5),
            ("v", kv, d, 1.2),
            ("o", d, q, 1.2),
        ):
            yield f"{prefix}self_attn.{name}_proj.weight", (rows, columns), gain / math.sqrt(
                columns
            ), 0.0
            if name in biased:
                yield f"{prefix}self_attn.{name}_proj.bias", (rows,), 0.6, 0.0
        if config.family == "qwen3":
            yield prefix + "self_attn.q_norm.weight", (config.dim,), 0.4, 1.5
            yield prefix + "self_attn.k_norm.weight", (config.dim,), 0.4, 1.5
        yield prefix + "post_attention_layernorm.weight", (d,), 0.3, 1.0
        for name, rows, columns, gain in (
            ("gate", f, d, 1.5),
            ("up", f, d, 1.2),
            ("down", d, f, 1.2),
        ):
            yield f"{prefix}mlp.{name}_proj.weight", (rows, columns), gain / math.sqrt(columns), 0.0
            if name in biased:
                yield f"{prefix}mlp.{name}_proj.bias", (rows,), 0.4, 0.0
    yield "model.norm.weight", (d,), 0.3 * head_gain, head_gain
    if not config.tied:
        yield "lm_head.weight", (config.vocab, d), LOGIT_DEVIATION / math.sqrt(d), 0.0


def encode(values, storage):
    """Little-endian bytes of one tensor, rounded to nearest even."""
    if storage == "F32":
        return struct.pack(f"<{len(values)}f", *values)
    if storage == "F16":
        return struct.pack(f"<{len(values)}e", *values)
    single = array("I", struct.pack(f"={len(values)}f", *values))
    return struct.pack(
        f"<{len(values)}H", *((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 for bits in single)
    )


def write_safetensors(path, named, storage):
    """named: [(tensor name, shape, bytes)]. The header is padded so that data starts at 8n."""
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, shape, data in named:
        header[name] = {
            "dtype": storage,
            "shape": list(shape),
            "data_offsets": [offset, offset + len(data)],
        }
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in named))


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2) + "\n")


def write_weights(config, folder):
    named = [
        (
            name,
            shape,
            encode(draw(config.seed, name, math.prod(shape), deviation, mean), config.storage),
        )
        for name, shape, deviation, mean in tensors(config)
    ]
    if config.shards == 1:
        write_safetensors(folder / "model.safetensors", named, config.storage)
        return
    weight_map = {}
    for shard in range(config.shards):
        file = f"model-{shard + 1:05}-of-{config.shards:05}.safetensors"
        part = named[
            shard * len(named) // config.shards : (shard + 1) * len(named) // config.shards
        ]
        write_safetensors(folder / file, part, config.storage)
        weight_map.update({name: file for name, _, _ in part})
    total = sum(len(data) for _, _, data in named)
    write_json(
        folder / "model.safetensors.index.json",
        {"metadata": {"total_size": total}, "weight_map": dict(sorted(weight_map.items()))},
    )


def write_model(config, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for leftover in folder.glob("model*.safetensors*"):  # of other shard counts
        leftover.unlink()
    write_json(folder / "config.json", configs.config_json(config))
    write_json(folder / "generation_config.json", configs.generation_config_json(config))
    write_weights(config, folder)


def folder_digest(folder):
    """One sha256 over names and bytes of all files: what a golden was made from."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def stale(config, folder, goldens):
    """Why the golden does not belong to this folder, or None."""
    path = goldens / f"{config.name}.json"
    if not path.exists():
        return f"{path}: error: found no such file, expected a golden, run make_goldens.py"
    expected, found = json.loads(path.read_text())["folder_sha256"], folder_digest(folder)
    if found == expected:
        return None
    return (
        f"{path}: folder_sha256: error: found {expected}, expected {found} as of {folder}, "
        "run make_goldens.py"
    )


def main():
    parser = argparse.ArgumentParser(
        description="Write the golden models as Hugging Face folders.",
        epilog="example: make_models.py --out build/goldens --only llama-tied",
    )
    parser.add_argument(
        "--out", type=Path, help="where the folders go: OUT/NAME; with --demo OUT itself"
    )
    parser.add_argument(
        "--only", metavar="NAME", action="append", help="this configuration alone (may be repeated)"
    )
    parser.add_argument(
        "--check",
        metavar="GOLDENS",
        type=Path,
        help="also check that each golden was made from its folder",
    )
    parser.add_argument("--demo", action="store_true", help="write the README's demo model instead")
    parser.add_argument(
        "--list", action="store_true", help="print the names and what each is there for"
    )
    options = parser.parse_args()
    if options.list:
        for config in configs.CONFIGS:
            print(f"{config.name:26} {config.why}")
        return 0
    if not options.out:
        parser.error("--out: found nothing, expected the folder to write to")
    if options.demo:
        write_model(configs.DEMO, options.out)
        return 0
    for name in options.only or []:
        if not configs.find(name):
            print(
                f"make_models.py: --only: error: found {name!r}, expected a golden configuration, "
                "see --list for the names",
                file=sys.stderr,
            )
            return 2
    complaints = []
    for config in configs.CONFIGS:
        if not options.only or config.name in options.only:
            write_model(config, options.out / config.name)
            if options.check:
                complaints.append(stale(config, options.out / config.name, options.check))
    complaints = [complaint for complaint in complaints if complaint]
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
