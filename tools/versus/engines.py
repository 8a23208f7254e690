# SPDX-License-Identifier: Apache-2.0
"""What is timed, and how each engine is asked for it: command lines out, tokens a second in.

An engine's `runs` are (command, parser) pairs; a parser turns the command's output and its seconds
into {Test: Rate}. Nothing here starts a program.
"""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from errors import VersusError


@dataclass(frozen=True, order=True)
class Test:
    """`kind` "pp": a prompt of `tokens`; "tg": `tokens` one by one after `depth` others, for each of
    `batch` sequences; "start": a process from its launch to the end of a prompt of `tokens`."""

    kind: str
    tokens: int
    depth: int = 0
    batch: int = 1

    def __str__(self):
        if self.kind == "start":
            return f"start pp{self.tokens}, ms"
        depth = f"@d{self.depth}" if self.depth else ""
        batch = f" x{self.batch}" if self.batch > 1 else ""
        return f"{self.kind}{self.tokens}{depth}{batch}"


START_TOKENS = 5


@dataclass(frozen=True)
class Rate:
    """Tokens a second of all sequences; of a start, starts a second. `share`: of what the machine
    could do in the same minute, of its reading for "tg" and of its arithmetic for "pp"; only llmc
    says so."""

    tokens: float
    share: float = None


def tests_of(prompts, generated, depths, batches, batch_depth, start=False):
    """Prompts by themselves; decoding at each depth; each larger batch behind a short prompt."""
    found = [Test("pp", tokens) for tokens in prompts]
    found += [Test("start", START_TOKENS)] if start else []
    if generated:
        found += [Test("tg", generated, depth) for depth in depths]
        found += [Test("tg", generated, batch_depth, batch) for batch in batches if batch > 1]
    return found


def median_of(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def parse_start(_, seconds):
    return {Test("start", START_TOKENS): Rate(1 / seconds)}


def split(tests):
    """(starts, one sequence, several sequences)."""
    starts = [test for test in tests if test.kind == "start"]
    rest = [test for test in tests if test.kind != "start"]
    return (starts, [test for test in rest if test.batch == 1],
            [test for test in rest if test.batch > 1])


def listed(values):
    return ",".join(str(value) for value in sorted(set(values)))


# --- llama.cpp and its descendants


def parse_llama_bench(text, _=0.0):
    """llama-bench -o json. What precedes the list (ik_llama.cpp tells its model there) is skipped."""
    start = text.find("[\n")
    if start < 0:
        raise VersusError("llama-bench: found no list in its output, expected JSON of -o json")
    try:
        rows, _ = json.JSONDecoder().raw_decode(text[start:])
        return dict(llama_bench_row(row) for row in rows)
    except (ValueError, KeyError, TypeError) as error:
        raise VersusError(f"llama-bench: found output that is not as expected ({error}), expected "
                          "the JSON of the version that peers.py names") from None


def llama_bench_row(row):
    depth = row["n_depth"] if "n_depth" in row else 0
    if row["n_gen"] and row["n_prompt"]:  # ik_llama.cpp's -gp: a prompt, then what is timed
        test = Test("tg", row["n_gen"], row["n_prompt"])
    else:
        test = (Test("tg", row["n_gen"], depth) if row["n_gen"]
                else Test("pp", row["n_prompt"], depth))
    return test, Rate(median_of(row["samples_ts"]))


def parse_batched_bench(text, _=0.0, count=1):
    """The table of llama-batched-bench: PP, TG, B, N_KV, T_PP, S_PP, T_TG, S_TG, T, S. Its log is
    written by a thread that llama.cpp's program may end before: rows can be missing."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 10 and cells[0].isdigit():
            test = Test("tg", int(cells[1]), int(cells[0]), int(cells[2]))
            found[test] = Rate(float(cells[7]))
    if len(found) != count:
        raise VersusError(f"llama-batched-bench: found {len(found)} rows in its output, expected "
                          f"{count}")
    return found


@dataclass(frozen=True)
class LlamaEngine:
    """`bench` are llama-bench's own settings, `batched` those of llama-batched-bench."""

    name: str
    peer: str
    bench: tuple
    batched: tuple
    no_warmup: tuple
    # ik_llama.cpp's llama-bench has no -d, but -gp: generation after a prompt.
    has_depth: bool

    def runs(self, programs, model, threads, tests, repeat):
        starts, single, wide = split(tests)
        short = [test for test in single if test.depth == 0]
        deep = [test for test in single if test.depth]
        for _ in range(repeat if starts else 0):
            prompt = ("-p", str(START_TOKENS), "-n", "0", *self.no_warmup)
            yield self.bench_run(programs, model, threads, 1, prompt)[0], parse_start
        if short:
            prompts = listed(test.tokens for test in short if test.kind == "pp") or "0"
            generated = listed(test.tokens for test in short if test.kind == "tg") or "0"
            yield self.bench_run(programs, model, threads, repeat,
                                 ("-p", prompts, "-n", generated))
        for test in deep:  # its prompt is run again for each sample
            yield self.bench_run(programs, model, threads, 1, self.depth_options(test))
        for depth, tokens in sorted({(test.depth, test.tokens) for test in wide}):
            yield self.batched_run(programs, model, threads,
                                   [test for test in wide if test.depth == depth], tokens)

    def depth_options(self, test):
        if self.has_depth:
            return ("-p", "0", "-n", str(test.tokens), "-d", str(test.depth))
        return ("-p", "0", "-n", "0", "-gp", f"{test.depth},{test.tokens}")

    def bench_run(self, programs, model, threads, repeat, what):
        command = [str(programs[self.peer] / "llama-bench"), "-m", str(model), "-t", str(threads),
                   "-r", str(repeat), "-o", "json", *what, *self.bench]
        return command, parse_llama_bench

    def batched_run(self, programs, model, threads, tests, tokens):
        depth, batches = tests[0].depth, listed(test.batch for test in tests)
        context = max(test.batch for test in tests) * (depth + tokens)
        command = [str(programs[self.peer] / "llama-batched-bench"), "-m", str(model),
                   "-t", str(threads), "-c", str(context), "-b", "2048", "-ub", "512",
                   "-npp", str(depth), "-ntg", str(tokens), "-npl", batches, *self.batched]
        return command, partial(parse_batched_bench, count=len(tests))


# --- llmc

BENCH_SCHEMA = 2


def llmc_rows(report):
    """Of a report of llmc bench: the prompts, then what was decoded."""
    for row in report["prefill"]:
        yield Test("pp", row["prompt_len"]), Rate(row["tokens_per_s"]["median"],
                                                  row["share_of_peak"])
    for row in report["decode"]:
        test = Test("tg", row["gen"], row["depth"], row["batch"])
        yield test, Rate(row["tokens_per_s"]["median"], row["share_of_read"])


@dataclass(frozen=True)
class LlmcEngine:
    """`report` is where `llmc bench` writes its JSON, which its parser reads instead of the output."""

    name: str
    report: Path

    def runs(self, llmc, model, threads, tests, repeat):
        starts, single, wide = split(tests)
        for _ in range(repeat if starts else 0):
            yield self.start_command(llmc, model, threads), parse_start
        for group in (single, wide):
            if group:
                yield self.command(llmc, model, threads, group, repeat), self.parse

    def start_command(self, llmc, model, threads):
        return [str(llmc), "run", str(model), "--threads", str(threads), "--prompt-ids",
                ",".join(str(token) for token in range(1, START_TOKENS + 1)),
                "--max-new-tokens", "1", "--ignore-eos"]

    def command(self, llmc, model, threads, tests, repeat):
        prompts = listed(test.tokens for test in tests if test.kind == "pp") or "0"
        decoded = [test for test in tests if test.kind == "tg"]
        generated = listed(test.tokens for test in decoded) or "0"
        depths = listed(test.depth for test in decoded) or "0"
        batches = listed(test.batch for test in decoded) or "1"
        return [str(llmc), "bench", str(model), "--threads", str(threads),
                "--prompt-len", prompts, "--gen", generated, "--depth", depths,
                "--batch", batches, "--repeat", str(repeat), "--json", str(self.report)]

    def parse(self, *_):
        try:
            report = json.loads(self.report.read_text())
            if report["schema"] != BENCH_SCHEMA:
                raise VersusError(f"{self.report}: /schema: found {report['schema']}, expected "
                                  f"{BENCH_SCHEMA}: an llmc of this source tree")
            return dict(llmc_rows(report))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise VersusError(f"{self.report}: found a report that is not as expected ({error!r}), "
                              "expected that of llmc bench --json") from None


def engines(report):
    """All there are. Flash attention and repacking are settings that each may gain or lose by."""
    llama, ik = "llama.cpp", "ik_llama.cpp"
    rows = (
        LlamaEngine("llama.cpp", llama, ("-fa", "on"), ("-fa", "on"), ("--no-warmup",), True),
        LlamaEngine("llama.cpp-fa-off", llama, ("-fa", "off"), ("-fa", "off"), ("--no-warmup",),
                    True),
        # Its batched program aborts with flash attention from a batch of 4 on.
        LlamaEngine("ik_llama.cpp", ik, ("-fa", "1"), ("-no-fa",), ("-w", "0"), False),
        LlamaEngine("ik_llama.cpp-rtr", ik, ("-fa", "1", "-rtr", "1"), ("-no-fa", "-rtr"),
                    ("-w", "0"), False),
        LlmcEngine("llmc", report),
    )
    return {row.name: row for row in rows}
