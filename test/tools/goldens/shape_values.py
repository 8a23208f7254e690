# SPDX-License-Identifier: Apache-2.0
"""Random blocks decoded by the format's description: as large as they should be, and no scale out of place.

Called by make-shape.test with the folder of make_shape.py."""

import math
import random
import struct
import sys

sys.path.insert(0, sys.argv[1])
import make_shape  # noqa: E402

ROWS, COLUMNS = 64, 256


def halves(data, place):
    return struct.unpack_from("<e", data, place)[0]


def nibbles(data):
    return [byte & 15 for byte in data] + [byte >> 4 for byte in data]


def decode(kind, block):
    if kind == "BF16":
        return [struct.unpack("<f", b"\0\0" + block)[0]]
    if kind == "Q8_0":
        return [halves(block, 0) * code for code in struct.unpack("<32b", block[2:])]
    if kind == "Q4_0":
        return [halves(block, 0) * (code - 8) for code in nibbles(block[2:])]
    return [halves(block, 0) * code + halves(block, 2) for code in nibbles(block[4:])]


def check(kind):
    width = make_shape.RANDOM[kind][1]
    data = b"".join(make_shape.random_matrix(random.Random(7), kind, ROWS, COLUMNS))
    again = b"".join(make_shape.random_matrix(random.Random(7), kind, ROWS, COLUMNS))
    assert data == again, f"{kind}: the same seed gave other bytes"
    values = [value for place in range(0, len(data), width)
              for value in decode(kind, data[place:place + width])]
    assert len(values) == ROWS * COLUMNS, f"{kind}: found {len(values)} values"
    unit = math.sqrt(sum(value * value for value in values) / len(values) * COLUMNS)
    mean = sum(values) / len(values) * math.sqrt(COLUMNS)
    most = max(abs(value) for value in values) * math.sqrt(COLUMNS)
    assert 0.25 < unit < 1.6 and abs(mean) < 0.25 and most < 4, f"{kind}: {unit} {mean} {most}"
    print(f"{kind}: a row's size {unit:.2f}, mean {mean:.2f}, largest {most:.2f}")


for name in make_shape.RANDOM:
    check(name)
