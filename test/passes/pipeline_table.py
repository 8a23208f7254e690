#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a README's stage table is the compiler's: the same stages, sentences and order.

usage: llmc-opt --print-stages | pipeline_table.py README.md...
"""

import re
import sys
from pathlib import Path


def main():
    stages = [tuple(line.rstrip().split(None, 1)) for line in sys.stdin]
    wrong = 0 if stages else 1
    for readme in map(Path, sys.argv[1:]):
        rows = re.findall(r"^\| `?(\w+)`? +\| (.+?) +\|", readme.read_text(), re.MULTILINE)
        names = [name for name, _ in stages]
        table = [row for row in rows if row[0] in names]
        if table != stages:
            print(f"{readme}: error: found the stage table {table}, expected {stages}", file=sys.stderr)
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
