# SPDX-License-Identifier: Apache-2.0
"""A small GGUF reader: metadata, and tensors dequantised to float32 (F32, F16, Q4_0, Q4_1, Q8_0).

For files whose checksum is known beforehand; the reader for anybody's files is frontends/gguf.
"""

import struct

import numpy

SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
STRING, ARRAY = 8, 9
BLOCK = 32  # values in a block of the formats below


def unpack_f32(raw, count):
    return raw[: 4 * count].view("<f4").astype(numpy.float32)


def unpack_f16(raw, count):
    return raw[: 2 * count].view("<f2").astype(numpy.float32)


def half_column(blocks, offset):
    """A 16-bit float at `offset` of every block, as a column."""
    return blocks[:, offset : offset + 2].copy().view("<f2").astype(numpy.float32)


def nibbles(packed):
    """16 bytes a block hold values 0..15 in their low halves and 16..31 in their high halves."""
    return numpy.concatenate((packed & 15, packed >> 4), axis=1).astype(numpy.float32)


def unpack_q4_0(raw, count):
    blocks = raw[: count // BLOCK * 18].reshape(-1, 18)
    return (half_column(blocks, 0) * (nibbles(blocks[:, 2:]) - 8)).reshape(-1)


def unpack_q4_1(raw, count):
    blocks = raw[: count // BLOCK * 20].reshape(-1, 20)
    return (half_column(blocks, 0) * nibbles(blocks[:, 4:]) + half_column(blocks, 2)).reshape(-1)


def unpack_q8_0(raw, count):
    blocks = raw[: count // BLOCK * 34].reshape(-1, 34)
    return (half_column(blocks, 0) * blocks[:, 2:].view(numpy.int8).astype(numpy.float32)).reshape(
        -1
    )


UNPACK = {
    0: ("F32", unpack_f32),
    1: ("F16", unpack_f16),
    2: ("Q4_0", unpack_q4_0),
    3: ("Q4_1", unpack_q4_1),
    8: ("Q8_0", unpack_q8_0),
}


class GGUFFile:
    """`metadata`: key -> value. `tensors`: name -> (shape with rows first, type number, offset)."""

    def __init__(self, data):
        self.data, self.position = data, 4
        version = self.scalar("I")
        if data[:4] != b"GGUF" or version != 3:
            raise ValueError(
                f"found magic {data[:4]!r} and version {version}, expected b'GGUF' and 3"
            )
        tensor_count, key_count = self.scalar("Q"), self.scalar("Q")
        self.metadata = {}
        for _ in range(key_count):
            key = self.string()
            self.metadata[key] = self.value(self.scalar("I"))
        self.tensors = {}
        for _ in range(tensor_count):
            name = self.string()
            dims = [self.scalar("Q") for _ in range(self.scalar("I"))]
            self.tensors[name] = (tuple(reversed(dims)), self.scalar("I"), self.scalar("Q"))
        alignment = self.metadata.get("general.alignment", 32)
        self.data_start = -(-self.position // alignment) * alignment

    def scalar(self, code):
        (value,) = struct.unpack_from("<" + code, self.data, self.position)
        self.position += struct.calcsize("<" + code)
        return value

    def string(self):
        length = self.scalar("Q")
        self.position += length
        return self.data[self.position - length : self.position].decode("utf-8", "surrogateescape")

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            element, length = self.scalar("I"), self.scalar("Q")
            return [self.value(element) for _ in range(length)]
        return self.scalar(SCALARS[kind])

    def tensor(self, name):
        """float32 array of the tensor, rows first."""
        shape, kind, offset = self.tensors[name]
        if kind not in UNPACK:
            raise ValueError(f"{name}: found tensor type {kind}, expected one of {sorted(UNPACK)}")
        raw = numpy.frombuffer(self.data, numpy.uint8, offset=self.data_start + offset)
        return UNPACK[kind][1](raw, int(numpy.prod(shape))).reshape(shape)

    def type_counts(self):
        counts = {}
        for _, kind, _ in self.tensors.values():
            label = UNPACK[kind][0] if kind in UNPACK else str(kind)
            counts[label] = counts.get(label, 0) + 1
        return counts
