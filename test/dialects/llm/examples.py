#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each line of each example in an ODS file stands in ops.mlir, so that the documentation cannot rot; and, for llm,
that each op has an example.

usage: examples.py LLMOps.td ops.mlir
"""

import re
import sys
from pathlib import Path


def examples(text):
    """(line number, line) of all that stands between ```mlir and ```."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line.startswith("```"):
            inside = line == "```mlir"
        elif inside and line:
            yield number, line


def main():
    ods, test = map(Path, sys.argv[1:])
    text = ods.read_text()
    tested = {line.strip() for line in test.read_text().splitlines()}
    shown = list(examples(text))
    missing = [(number, line) for number, line in shown if line not in tested]
    for number, line in missing:
        print(f"{ods.name}: {number}: error: found the example line '{line}', expected it in {test.name} too", file=sys.stderr)
    ops = set(re.findall(r'_Op<"(\w+)"|LLM_ModelOp<"(\w+)"', text))
    names = {first or second for first, second in ops} - {"yield"} if ods.name == "LLMOps.td" else {}
    unseen = {name for name in names if not any(f"llm.{name} " in line for _, line in shown)}
    for name in sorted(unseen):
        print(f"{ods.name}: error: found no example of llm.{name}, expected one in its description", file=sys.stderr)
    return 1 if missing or unseen or not shown else 0


if __name__ == "__main__":
    sys.exit(main())
