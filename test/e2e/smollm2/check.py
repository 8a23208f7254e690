#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SmolLM2-135M-Instruct, from its GGUF to text, against numbers of others.

    check.py LLMC FETCH GOLDENS TEXT FOLDER [--tokens-compared N]

Every line says what was found; the first that is not what it should be ends the run with exit
code 1. FETCH must find the model: a machine that cannot fetch it fails here, loudly.
"""

import argparse
import json
import math
import re
import struct
import subprocess
import sys
from pathlib import Path


def fail(text):
    print(f"FAILED: {text}")
    sys.exit(1)


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True)
    if done.returncode:
        fail(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr.decode()}")
    return done.stdout


def last_ids(output):
    return [int(word) for word in output.decode().strip().splitlines()[-1].split(",")]


def expect(holds, text):
    if not holds:
        fail(text)
    print(f"ok: {text}")


def joined(ids):
    return ",".join(map(str, ids))


def read_npy(path):
    """(rows, columns, unpack(row, tokens)) of a float32 .npy."""
    data = path.read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    rows, columns = map(int, re.search(rb"\((\d+), (\d+)\)", data[10 : 10 + length]).groups())
    start = 10 + length
    return lambda row: struct.unpack_from(f"<{columns}f", data, start + 4 * row * columns), rows


def number(output, name):
    found = re.search(rf"^{re.escape(name)}: ([-\d.e+]+)", output.decode(), re.MULTILINE)
    if not found:
        fail(f"found no '{name}' in what llmc eval printed:\n{output.decode()}")
    return float(found.group(1))


class Checks:
    def __init__(self, args):
        self.llmc, self.folder = args.llmc, args.folder
        self.gguf = run(args.fetch, "smollm2").decode().strip()
        self.goldens = json.loads(args.goldens.read_text())
        self.text = args.text
        self.compared_tokens = args.tokens_compared
        self.ids = self.goldens["text"]["ids"]
        args.folder.mkdir(parents=True, exist_ok=True)

    def compile(self, name, *options):
        out = self.folder / f"{name}.so"
        run(self.llmc, "compile", self.gguf, "-o", out, "--max-seq", "4096", *options)
        return out

    def greedy(self, model):
        for golden in self.goldens["prompts"]:
            ids = last_ids(
                run(self.llmc, "run", model, "--prompt-ids", joined(golden["prompt"]), "--ignore-eos",
                    "--max-new-tokens", len(golden["greedy"]))
            )
            expect(ids == golden["greedy"],
                   f"f32: {len(ids)} greedy tokens of transformers after {golden['text'][:30]!r}")

    def positions(self, model):
        rows = self.goldens["text"]["positions"]
        prompt = self.ids[: rows[-1]["position"] + 1]
        out = self.folder / "logits.npy"
        run(self.llmc, "run", model, "--prompt-ids", joined(prompt), "--max-new-tokens", 0, "--logits-out", out)
        row, _ = read_npy(out)
        worst = 0
        for golden in rows:
            logits = row(golden["position"])
            worst = max([worst] + [abs(logits[t] - v) for t, v in zip(golden["tokens"], golden["logits"])])
            top = max(logits)
            total = top + math.log(sum(math.exp(value - top) for value in logits))
            worst = max(worst, abs(total - golden["log_sum_exp"]))
        expect(worst < 1e-3, f"f32: logits at {len(rows)} positions are transformers' within {worst:.1e} (bound 1e-3)")

    def tokens(self, model):
        ids = last_ids(run(self.llmc, "tokenize", model, "--file", self.text))
        expect(ids == self.ids, f"{len(ids)} token ids of the text are those of the tokenizers library")
        out = run(self.llmc, "tokenize", model, "--decode", joined(ids))
        expect(out == self.text.read_bytes(), f"they decode to the text's {len(out)} bytes")

    def quality(self, kept, exact):
        out = run(self.llmc, "eval", kept, "--text", self.text, "--against", exact)
        kl, same = number(out, "mean KL"), number(out, "top-1 agreement")
        expect(kl <= 0.005 and same >= 95,
               f"Q4_1 with int8 activations against f32: mean KL {kl:.4f} (bound 0.005), top-1 {same:.1f} % (95)")

    def codes(self, exact):
        """With weights that are not rounded: what int8 activations do by themselves would hide what the cache does."""
        codes = self.compile("f32-kv8", "--quant", "f32", "--kv", "int8")
        out = run(self.llmc, "eval", codes, "--text", self.text, "--against", exact)
        kl, same = number(out, "mean KL"), number(out, "top-1 agreement")
        expect(kl <= 0.002, f"int8 keys and values against f32: mean KL {kl:.5f} (bound 0.002), top-1 {same:.1f} %")

    def correctness(self, kept):
        ids = self.ids[: self.compared_tokens]
        out = run(self.llmc, "compare", kept, self.gguf, "--prompt-ids", joined(ids), "--end-to-end").decode()
        expect(out.startswith("no difference"), f"every op against the reference that rounds alike: {out.splitlines()[0]}")
        found = re.search(r"end to end: mean KL ([\d.e+-]+) nats, .* over (\d+) rows", out)
        kl, rows = (float(found.group(1)), int(found.group(2))) if found else (math.inf, 0)
        expect(kl <= 1e-5 and rows >= len(ids), f"and from end to end: mean KL {kl:.1e} (bound 1e-5) over {rows} rows of logits")

    def speculation(self, kept):
        for name, prompt in (("repeating", self.ids[:40] * 4), ("plain", self.ids[:200])):
            options = ["--prompt-ids", joined(prompt), "--ignore-eos", "--max-new-tokens", 256]
            plain = last_ids(run(self.llmc, "run", kept, *options))
            drafted = last_ids(run(self.llmc, "run", kept, *options, "--speculate", "ngram"))
            expect(len(plain) == 256 and drafted == plain, f"256 drafted tokens are those of plain decoding, {name} text")

    def answer(self, kept):
        text = run(self.llmc, "run", kept, "--chat", "--prompt", "What is the capital of Japan?").decode()
        expect("Tokyo" in text, f"the answer names Tokyo: {text.strip()!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("llmc", "fetch", "goldens", "text", "folder"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--tokens-compared", type=int, default=200)
    checks = Checks(parser.parse_args())
    kept, exact = checks.compile("kept"), checks.compile("f32", "--quant", "f32")
    checks.tokens(kept)
    checks.answer(kept)
    checks.greedy(exact)
    checks.positions(exact)
    checks.quality(kept, exact)
    checks.codes(exact)
    checks.correctness(kept)
    checks.speculation(kept)


if __name__ == "__main__":
    main()
