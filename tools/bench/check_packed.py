#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what a compiled model holds of a checkpoint that sparse_checkpoint.py wrote.

    check_packed.py MODEL.so LLMC [--seed 1]

Unpacks, by the layout as it is documented (llm.layout in dialects/llm/LLMBase.td) and not by
llmc's code, the one panel of each matrix that is not zero and some that are, and compares them
with the seed's values: within half a step of their group's scale. Standard library only.
"""

import argparse
import mmap
import re
import struct
import subprocess
import sys
from pathlib import Path

from sparse_checkpoint import PANEL, panel_of, panel_values

NAMES = {
    "embed": "model.embed_tokens.weight", "lm_head": "lm_head.weight", "q": "self_attn.q_proj.weight",
    "k": "self_attn.k_proj.weight", "v": "self_attn.v_proj.weight", "o": "self_attn.o_proj.weight",
    "gate": "mlp.gate_proj.weight", "up": "mlp.up_proj.weight", "down": "mlp.down_proj.weight",
}


def stored_name(canonical):
    parts = canonical.split(".")
    return NAMES[parts[-1]] if len(parts) == 1 else f"model.layers.{parts[1]}.{NAMES[parts[-1]]}"


def last_segment(data):
    """File offset of the last PT_LOAD: the weights."""
    table, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    loads = [struct.unpack_from("<IIQ", data, table + i * size) for i in range(count)]
    return [offset for kind, _, offset in loads if kind == 1][-1]


def block(data, at, bits):
    """Values of one block: 32 rows of 32 columns, and each row's scale."""
    scales = struct.unpack_from(f"<{PANEL}e", data, at + PANEL * 4 * bits)
    rows = []
    for row in range(PANEL):
        codes = [0] * 32
        for word in range(bits):
            place = at + (word * PANEL + row) * 4
            four = data[place : place + 4]
            for i, byte in enumerate(four):
                codes[4 * word + i] = byte if bits == 8 else byte & 15
                if bits == 4:
                    codes[16 + 4 * word + i] = byte >> 4
        rows.append([scales[row] * (code - (1 << bits - 1)) for code in codes])
    return rows, scales


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("llmc", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    listing = subprocess.run([args.llmc, "inspect", args.model, "--weights"], capture_output=True, check=True, text=True)
    checked = zeros = 0
    with open(args.model, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start = last_segment(data)
        for line in listing.stdout.splitlines()[1:]:
            found = re.match(r"(\S+)\s+panel32<int(\d)>\s+(\d+)\s+(\d+)\s+(\d+)", line)
            if not found:
                continue
            bits, rows, columns, offset = (int(word) for word in found.groups()[1:])
            names = found.group(1).split("+")
            # q, k and v are stacked: q is square, k and v share what is left.
            heights = [columns, (rows - columns) // 2, (rows - columns) // 2] if len(names) == 3 else [rows]
            per_panel = columns // 32 * (PANEL * 4 * bits + 2 * PANEL)
            first = 0
            for name, height in zip(names, heights):
                stored = stored_name(name)
                row = panel_of(stored, height, args.seed)
                raw = struct.unpack(f"<{PANEL * columns}H", panel_values(stored, columns, args.seed))
                for panel in {row // PANEL, 0, height // PANEL // 2, height // PANEL - 1}:
                    at = start + offset + (first // PANEL + panel) * per_panel
                    for group in (0, 1, columns // 64, columns // 32 - 1):
                        values, scales = block(data, at + group * (per_panel // (columns // 32)), bits)
                        for n in range(PANEL):
                            for i in range(32):
                                is_zero = panel != row // PANEL
                                bits16 = raw[n * columns + group * 32 + i]
                                wanted = 0.0 if is_zero else struct.unpack("<f", struct.pack("<I", bits16 << 16))[0]
                                # Clipping the largest value may cost it up to a step more.
                                if abs(values[n][i] - wanted) > 1.6 * abs(scales[n]):
                                    sys.exit(f"{name}: row {panel * PANEL + n}, column {group * 32 + i}: found {values[n][i]}, "
                                             f"expected {wanted} (scale {scales[n]})")
                                checked += 1
                                zeros += is_zero
                first += height
    print(f"{checked} values of groups are what the seed says, {zeros} of them in panels of zeros")


if __name__ == "__main__":
    main()
