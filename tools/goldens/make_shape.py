#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a GGUF file in the shape of a published model, with random weights: what llmc, llama.cpp
and ik_llama.cpp are timed on. All three read it, the tokenizer included.

    make_shape.py 0.5b --type q8_0 --out ~/models       # ~/models/qwen2-0.5b-q8_0.gguf

Codes are uniform and scales a quarter apart at most, so a block is random bytes with one byte of
its scale put in: the same file everywhere, at the speed of the generator. Standard library only.
"""

import argparse
import math
import os
import random
import struct
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from make_gguf import ALIGNMENT, TYPE_NUMBER, f32, string, text, u32


@dataclass(frozen=True)
class Shape:
    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    mlp: int
    vocab: int
    context: int = 32768


SHAPES = {
    "0.5b": Shape("qwen2-0.5b", 24, 896, 14, 2, 64, 4864, 151936),
    "1.5b": Shape("qwen2-1.5b", 28, 1536, 12, 2, 128, 8960, 151936),
    "tiny": Shape("qwen2-tiny", 2, 64, 4, 2, 16, 96, 320, 128),  # for tests
}
CHUNK_BLOCKS = 1 << 17
END = "<|endoftext|>"


# --- Random tensors


def high_byte(value):
    """Sign, exponent and two bits of the fraction of a half that is at most a quarter from `value`."""
    return struct.pack("<e", value)[1]


def fill(data, place, width, byte):
    """The byte at `place` of every block of `width` bytes."""
    data[place::width] = bytes([byte]) * (len(data) // width)


def blocks_q8_0(data, deviation):
    fill(data, 1, 34, high_byte(deviation / 74))


def blocks_q4_0(data, deviation):
    fill(data, 1, 18, high_byte(deviation / 4.6))


def blocks_q4_1(data, deviation):
    """The minimum is -8 times the scale: the same fraction, three more in the exponent, a sign."""
    scale = high_byte(deviation / 4.6)
    fill(data, 1, 20, scale)
    data[2::20] = data[0::20]
    fill(data, 3, 20, scale + (3 << 2) | 0x80)


def values_bf16(data, deviation):
    """The exponent's last bit and the fraction stay random: numbers over two powers of two."""
    exponent = (127 + math.floor(math.log2(deviation / 2.4))) >> 1
    table = bytes(byte & 0x80 | exponent for byte in range(256))
    data[1::2] = data[1::2].translate(table)


# Of a type: values and bytes of a block, and what turns random bytes into blocks.
RANDOM = {
    "Q8_0": (32, 34, blocks_q8_0),
    "Q4_0": (32, 18, blocks_q4_0),
    "Q4_1": (32, 20, blocks_q4_1),
    "BF16": (1, 2, values_bf16),
}


def matrix_bytes(storage, rows, columns):
    values, width, _ = RANDOM[storage]
    return rows * columns // values * width


def random_matrix(generator, storage, rows, columns):
    """The matrix in pieces; a product with a row of unit size is of unit size."""
    _, width, shape = RANDOM[storage]
    left = matrix_bytes(storage, rows, columns)
    while left:
        size = min(left, CHUNK_BLOCKS * width)
        data = bytearray(generator.randbytes(size))
        shape(data, 1 / math.sqrt(columns))
        yield data
        left -= size


def random_vector(generator, mean, size):
    values = [mean + generator.uniform(-0.1, 0.1) for _ in range(size)]
    yield struct.pack(f"<{size}f", *values)


# --- Metadata


def byte_alphabet():
    """GPT-2's letter for each byte."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = iter(range(0x100, 0x200))
    return [chr(byte) if byte in plain else chr(next(rest)) for byte in range(256)]


def vocabulary(size):
    """(tokens, merges): the bytes, then pairs, then pairs with a third byte, and the end of text."""
    letters = byte_alphabet()
    tokens, merges = list(letters), []
    parts = letters
    while len(tokens) < size - 1:
        longer = []
        for left in parts:
            for right in letters:
                if len(tokens) == size - 1:
                    return tokens + [END], merges
                tokens.append(left + right)
                merges.append(f"{left} {right}")
                longer.append(left + right)
        parts = longer
    return tokens + [END], merges


def strings(key, values):
    return text(key) + struct.pack("<IIQ", 9, 8, len(values)) + b"".join(map(text, values))


def integers(key, values):
    return text(key) + struct.pack(f"<IIQ{len(values)}i", 9, 5, len(values), *values)


def boolean(key, value):
    return text(key) + struct.pack("<I?", 7, value)


def keys(shape, name):
    tokens, merges = vocabulary(shape.vocab)
    end = len(tokens) - 1
    return [
        string("general.architecture", "qwen2"),
        string("general.type", "model"),
        string("general.name", name),
        u32("general.quantization_version", 2),
        u32("qwen2.block_count", shape.layers),
        u32("qwen2.context_length", shape.context),
        u32("qwen2.embedding_length", shape.hidden),
        u32("qwen2.feed_forward_length", shape.mlp),
        u32("qwen2.attention.head_count", shape.heads),
        u32("qwen2.attention.head_count_kv", shape.kv_heads),
        f32("qwen2.attention.layer_norm_rms_epsilon", 1e-6),
        f32("qwen2.rope.freq_base", 1e6),
        string("tokenizer.ggml.model", "gpt2"),
        string("tokenizer.ggml.pre", "qwen2"),
        strings("tokenizer.ggml.tokens", tokens),
        integers("tokenizer.ggml.token_type", [1] * end + [3]),
        strings("tokenizer.ggml.merges", merges),
        u32("tokenizer.ggml.eos_token_id", end),
        u32("tokenizer.ggml.padding_token_id", end),
        boolean("tokenizer.ggml.add_bos_token", False),
    ]


# --- The file


def tensors(shape, storage, embedding):
    """(name, type, rows, columns) of each tensor; a vector has 0 rows."""
    queries, kv = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
    yield "token_embd.weight", embedding, shape.vocab, shape.hidden
    for layer in range(shape.layers):
        prefix = f"blk.{layer}."
        yield prefix + "attn_norm.weight", "F32", 0, shape.hidden
        for place, rows in (("attn_q", queries), ("attn_k", kv), ("attn_v", kv)):
            yield prefix + place + ".weight", storage, rows, shape.hidden
            yield prefix + place + ".bias", "F32", 0, rows
        yield prefix + "attn_output.weight", storage, shape.hidden, queries
        yield prefix + "ffn_norm.weight", "F32", 0, shape.hidden
        yield prefix + "ffn_gate.weight", storage, shape.mlp, shape.hidden
        yield prefix + "ffn_up.weight", storage, shape.mlp, shape.hidden
        yield prefix + "ffn_down.weight", storage, shape.hidden, shape.mlp
    yield "output_norm.weight", "F32", 0, shape.hidden


def stored_bytes(storage, rows, columns):
    return matrix_bytes(storage, rows, columns) if rows else 4 * columns


def header(listed, metadata):
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(listed), len(metadata)) + b"".join(metadata)
    offset = 0
    for name, storage, rows, columns in listed:
        sizes = (columns, rows) if rows else (columns,)
        head += text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes,
                                         TYPE_NUMBER[storage], offset)
        offset += stored_bytes(storage, rows, columns)
        offset += -offset % ALIGNMENT
    return head + bytes(-len(head) % ALIGNMENT)


def write_shape(path, shape, storage, embedding, seed):
    """The file has another name until it is complete."""
    listed = list(tensors(shape, storage, embedding))
    partial = path.with_name(path.name + ".partial")
    try:
        with open(partial, "wb") as file:
            file.write(header(listed, keys(shape, path.stem)))
            for name, kind, rows, columns in listed:
                generator = random.Random(f"{seed} {name}")
                mean = 0.0 if name.endswith(".bias") else 1.0
                pieces = (random_matrix(generator, kind, rows, columns) if rows
                          else random_vector(generator, mean, columns))
                for piece in pieces:
                    file.write(piece)
                file.write(bytes(-file.tell() % ALIGNMENT))
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def changed(shape, options):
    """The shape with what the options say, or a complaint."""
    changes = {field: getattr(options, field) for field in ("layers", "vocab")}
    shape = replace(shape, **{field: value for field, value in changes.items() if value is not None})
    if shape.layers < 1:
        return shape, f"--layers: found {shape.layers}, expected at least 1"
    if shape.vocab < 257:
        return shape, f"--vocab: found {shape.vocab}, expected at least 257, the bytes and an end"
    return shape, None


def main():
    parser = argparse.ArgumentParser(
        prog="shape", description="Write a GGUF file of a known shape with random weights.",
        epilog="example: tools/dev/shape 1.5b --type q4_0 --out ~/models")
    kinds = [name.lower() for name in RANDOM]
    parser.add_argument("shape", choices=SHAPES, help="Qwen2's sizes, the head tied")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--type", choices=kinds, default="q8_0", help="of matrices [q8_0]")
    parser.add_argument("--embedding", choices=kinds, help="of the embedding and head [as --type]")
    parser.add_argument("--layers", type=int, metavar="N", help="another number of layers")
    parser.add_argument("--vocab", type=int, metavar="N", help="another number of tokens")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the weights [1]")
    options = parser.parse_args()
    shape, complaint = changed(SHAPES[options.shape], options)
    if complaint:
        parser.error(complaint)
    storage, embedding = options.type.upper(), (options.embedding or options.type).upper()
    path = options.out / f"{shape.name}-{options.type}.gguf"
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        write_shape(path, shape, storage, embedding, options.seed)
    except OSError as error:
        print(f"{error.filename or path}: error: {error.strerror}, expected a folder to write to "
              "with room for the file", file=sys.stderr)
        return 1
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
