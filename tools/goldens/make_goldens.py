#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the goldens: for each configuration NAME.json (prompt, greedy tokens, versions) and
NAME.npy (logits).

Refuses a model that would make a weak golden: logits too flat or too wide, a greedy winner by a
hair, a continuation that repeats itself, or float32 noise near the bound. `--find-seeds` names the
first seed of each that is none of these.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy
import torch

import configs
import make_models
import oracle

DEVIATION = (1.0, 5.0)  # of the logits
LEAST_MARGIN = 0.03  # thirty times the bound of the comparison, 1e-3
LEAST_DISTINCT = 8  # different tokens among the 32: a loop of two would hide a wrong position
MOST_NOISE = 1e-4  # float32 against float64: a tenth of the bound
SEEDS = 60


def measure(config, folder):
    """(logits, golden record) of the model in `folder`."""
    model = oracle.load(folder)
    prompt = make_models.prompt_ids(config)
    result = oracle.logits(model, prompt)
    ids, margin = oracle.greedy(model, prompt)
    exact = oracle.logits(oracle.load(folder, dtype=torch.float64), prompt)
    record = {
        "name": config.name,
        "why": config.why,
        "seed": config.seed,
        "folder_sha256": make_models.folder_digest(Path(folder)),
        "prompt": prompt,
        "greedy": ids,
        "smallest_margin": round(margin, 4),
        "logits_deviation": round(result.std().item(), 4),
        "float32_noise": float(f"{(result - exact).abs().max().item():.2g}"),
        "versions": oracle.versions(),
    }
    return result.numpy(), record


def weakness(record):
    """Why this would be a weak golden, or None."""
    if not DEVIATION[0] <= record["logits_deviation"] <= DEVIATION[1]:
        found, (least, most) = record["logits_deviation"], DEVIATION
        return f"found logits of deviation {found}, expected {least} to {most}"
    if record["smallest_margin"] < LEAST_MARGIN:
        return f"found a winner by {record['smallest_margin']}, expected at least {LEAST_MARGIN}"
    if len(set(record["greedy"])) < LEAST_DISTINCT:
        found = len(set(record["greedy"]))
        return f"found {found} different tokens, expected at least {LEAST_DISTINCT}"
    if record["float32_noise"] > MOST_NOISE:
        return f"found float32 noise of {record['float32_noise']}, expected at most {MOST_NOISE}"
    return None


def measure_fresh(config):
    with tempfile.TemporaryDirectory() as folder:
        make_models.write_model(config, Path(folder))
        return measure(config, folder)


def find_seed(config):
    """The first seed that makes a sound golden, or None."""
    for seed in range(1, SEEDS + 1):
        if weakness(measure_fresh(replace(config, seed=seed))[1]) is None:
            return seed
    return None


def write_record(path, record):
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in record.items())
    path.write_text("{\n" + lines + "\n}\n")


def main():
    parser = argparse.ArgumentParser(description="Write the goldens of all configurations.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[2] / "test/e2e/goldens")
    parser.add_argument(
        "--only", metavar="NAME", action="append", help="this configuration alone (may be repeated)"
    )
    parser.add_argument(
        "--find-seeds", action="store_true", help="print a sound seed for each instead of writing"
    )
    options = parser.parse_args()
    unknown = [name for name in options.only or [] if not configs.find(name)]
    if unknown:
        parser.error(f"--only: found {unknown[0]!r}, expected a golden configuration")
    failed = False
    for config in configs.CONFIGS:
        if options.only and config.name not in options.only:
            continue
        if options.find_seeds:
            seed = find_seed(config)
            failed |= seed is None
            print(f"{config.name}: {seed}", flush=True)
            continue
        result, record = measure_fresh(config)
        if weakness(record):
            failed = True
            print(
                f"configs.py: {config.name}: error: {weakness(record)}, try --find-seeds",
                file=sys.stderr,
            )
            continue
        options.out.mkdir(parents=True, exist_ok=True)
        numpy.save(options.out / f"{config.name}.npy", numpy.ascontiguousarray(result, dtype="<f4"))
        write_record(options.out / f"{config.name}.json", record)
        print(
            f"{config.name:26} deviation {record['logits_deviation']:.2f}  "
            f"margin {record['smallest_margin']:.3f}  "
            f"noise {record['float32_noise']:.1e}",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
