#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks transformers' logits processors what they keep, and with which probability, for
test/runtime/engine/goldens/samplers.json. Needs torch and transformers (developer-time only).

Logits come from a counter (as in make_models.py), in steps of 1/64, so that float32 holds them
exactly and some are equal.
"""

import argparse
import json
from pathlib import Path

import make_models

VOCABULARY = 48
STEP = 64
TOKENS = [3, 7, 7, 11, 3, 3, 40, 22, 7, 0]


def logits_of(seed, step):
    values = make_models.draw(seed, "samplers", VOCABULARY, 3.0)
    return [round(v * step) / step for v in values]


def chains():
    """Name and the transforms in the order that transformers' generate() applies them."""
    yield "repetition", [("repetition_penalty", 1.3)]
    yield "repetition below one", [("repetition_penalty", 0.7)]
    yield "temperature", [("temperature", 0.7)]
    yield "hot", [("temperature", 2.5)]
    for k in (1, 5, 20, 1000):
        yield f"top-k {k}", [("top_k", k)]
    yield "top-k among equals", [("top_k", 9)]
    for p in (0.05, 0.5, 0.9, 0.99):
        yield f"top-p {p}", [("top_p", p)]
    for p in (0.02, 0.1, 0.5, 1.0):
        yield f"min-p {p}", [("min_p", p)]
    yield "all", [
        ("repetition_penalty", 1.1),
        ("temperature", 0.8),
        ("top_k", 12),
        ("top_p", 0.92),
        ("min_p", 0.03),
    ]
    yield "cold, wide", [("temperature", 0.3), ("top_k", 40), ("top_p", 0.8)]


def processor(name, value):
    from transformers.generation import logits_process as library

    kinds = {
        "repetition_penalty": library.RepetitionPenaltyLogitsProcessor,
        "temperature": library.TemperatureLogitsWarper,
        "top_k": library.TopKLogitsWarper,
        "top_p": library.TopPLogitsWarper,
        "min_p": library.MinPLogitsWarper,
    }
    return kinds[name](value)


def ask(logits, transforms):
    """Ids that stay and their probabilities."""
    import torch

    scores = torch.tensor([logits])
    for name, value in transforms:
        scores = processor(name, value)(torch.tensor([TOKENS]), scores)
    kept = [i for i in range(VOCABULARY) if scores[0, i] > -float("inf")]
    shares = torch.softmax(scores[0].double(), 0)
    return kept, [round(shares[i].item(), 9) for i in kept]


def main():
    import torch
    import transformers

    parser = argparse.ArgumentParser(description=__doc__)
    folder = Path(__file__).resolve().parents[2] / "test/runtime/engine/goldens"
    parser.add_argument("--out", type=Path, default=folder / "samplers.json")
    options = parser.parse_args()
    cases = []
    for number, (name, transforms) in enumerate(chains()):
        logits = logits_of(number + 1, 1 if "equals" in name else STEP)
        kept, shares = ask(logits, transforms)
        cases.append(
            {
                "name": name,
                "logits_times_64": [int(v * STEP) for v in logits],
                "transforms": transforms,
                "kept": kept,
                "probabilities": shares,
            }
        )
    golden = {
        "made_by": "tools/goldens/make_samplers.py",
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        "tokens": TOKENS,
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(case) for case in cases)
    head = json.dumps(golden)[:-1]
    options.out.write_text(f'{head},\n"cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
