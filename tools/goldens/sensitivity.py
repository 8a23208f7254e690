#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that the goldens can fail: plants each fault where it applies and demands ten times the
bound.

Writes the table of largest logit differences, SENSITIVITY.md; exits 1 if an applicable fault stays
below.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import transformers

import configs
import faults
import make_models
import oracle

BOUND = 1e-3  # of the comparison with llmc
LOUD = 10 * BOUND


def difference(golden, folder, right, fault):
    """The largest logit difference, over all positions, that the fault makes."""
    config = None
    if fault.in_config:
        config = transformers.AutoConfig.from_pretrained(folder)
        fault.in_config(config, golden)
    model = oracle.load(folder, config)
    if fault.in_model:
        fault.in_model(model, golden)
    with faults.patched(model, fault):
        wrong = oracle.logits(model, make_models.prompt_ids(golden))
    return (wrong - right).abs().max().item()


def measure(golden):
    """{fault name: difference} of the faults that apply."""
    with tempfile.TemporaryDirectory() as folder:
        make_models.write_model(golden, Path(folder))
        right = oracle.logits(oracle.load(folder), make_models.prompt_ids(golden))
        return {
            fault.name: difference(golden, folder, right, fault)
            for fault in faults.FAULTS
            if fault.applies(golden)
        }


def table(rows):
    """rows: {configuration: {fault: difference}} as Markdown, configurations across by number."""
    names = list(rows)
    lines = [
        "# Sensitivity of the goldens",
        "",
        "Written by `tools/goldens/sensitivity.py`: the largest logit difference over all prompt",
        "positions when one fault is planted in the transformers model. The comparison's bound is",
        f"{BOUND:g}; each number must exceed {LOUD:g}. Empty: the fault does not apply (no such",
        "bias, one KV head, a prompt shorter than the window, ...).",
        "",
        "Made with " + ", ".join(f"{name} {v}" for name, v in oracle.versions().items()) + ".",
        "",
        *[f"{i}. {name}" for i, name in enumerate(names, 1)],
        "",
        "| fault | " + " | ".join(str(i) for i in range(1, len(names) + 1)) + " |",
        "|---|" + "---|" * len(names),
    ]
    for fault in faults.FAULTS:
        cells = [
            f"{rows[name][fault.name]:.2g}" if fault.name in rows[name] else "" for name in names
        ]
        lines.append(f"| {fault.name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def complaints(rows):
    for fault in faults.FAULTS:
        if not any(fault.name in row for row in rows.values()):
            yield f"{fault.name}: error: found no configuration it applies to, expected one or more"
    for name, row in rows.items():
        for fault, value in row.items():
            if not value > LOUD:
                found = f"found a difference of {value:.2g}, expected more than {LOUD:g}"
                yield f"{name}: {fault}: error: {found}"


def main():
    parser = argparse.ArgumentParser(description="Plant faults and show that each golden notices.")
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parents[2] / "test/e2e/goldens/SENSITIVITY.md"
    )
    options = parser.parse_args()
    rows = {}
    for golden in configs.CONFIGS:
        rows[golden.name] = measure(golden)
        least = min(rows[golden.name], key=rows[golden.name].get)
        print(
            f"{golden.name:26} {len(rows[golden.name])} faults, "
            f"least {rows[golden.name][least]:.2g} ({least})",
            flush=True,
        )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(table(rows))
    found = list(complaints(rows))
    print("\n".join(found), file=sys.stderr)
    print(f"{sum(map(len, rows.values()))} planted, {len(found)} not noticed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
