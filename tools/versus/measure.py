# SPDX-License-Identifier: Apache-2.0
"""Runs the engines in alternation and keeps every sample, with what else the machine did meanwhile."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from engines import Test
from errors import VersusError

SCHEMA = 1
LONGEST_RUN = 1800  # seconds


@dataclass(frozen=True)
class Sample:
    model: str
    level: str
    threads: int
    engine: str
    test: Test
    round: int
    rate: float  # tokens a second
    others: float  # cores that anything else kept busy, other guests of the host included
    share: float = None  # of the machine's limit, where the engine says so


@dataclass(frozen=True)
class Case:
    """A model as each engine takes it: the GGUF file, or what llmc compiled of it."""

    name: str
    gguf: Path
    compiled: Path


def busy_seconds():
    """What all processors have worked since they started, stolen time included."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    user, nice, system, _, _, interrupts, soft, stolen = fields
    return (user + nice + system + interrupts + soft + stolen) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(command):
    """(what it said, seconds, cores that others kept busy meanwhile). ik_llama.cpp's batched program
    has its table on stderr and leaves a log in the folder that it runs in."""
    busy, own, start = busy_seconds(), children_seconds(), time.monotonic()
    try:
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(command, capture_output=True, text=True, errors="replace",
                                    timeout=LONGEST_RUN, stdin=subprocess.DEVNULL, cwd=folder)
            seconds = time.monotonic() - start
    except OSError as error:
        raise VersusError(f"{command[0]}: could not be started ({error.strerror}), expected a "
                          "program") from None
    except subprocess.TimeoutExpired:
        raise VersusError(f"{' '.join(command)}: ran for {LONGEST_RUN} s, expected an end; ask for "
                          "fewer or shorter tests") from None
    if result.returncode:
        said = (result.stderr or result.stdout).strip().splitlines() or ["nothing"]
        raise VersusError(f"{' '.join(command)}: found exit code {result.returncode} and "
                          f"{said[-1]!r}, expected a measurement")
    others = (busy_seconds() - busy - (children_seconds() - own)) / max(seconds, 1e-3)
    return result.stdout + result.stderr, seconds, max(0.0, others)


def run_and_read(command, parse):
    """What `parse` makes of the command's output, which is worth another try (parse_batched_bench)."""
    for attempts_left in (2, 1, 0):
        output, seconds, others = run(command)
        try:
            return parse(output, seconds), others
        except VersusError:
            if not attempts_left:
                raise


def rounds_of(names, rounds):
    """The engines of each round: the order flips, so that a drift meets both sides alike."""
    for number in range(rounds):
        yield number, names if number % 2 == 0 else list(reversed(names))


def measure_round(number, order, case, level, threads, tests, setup):
    """Every engine of the order once; `setup` has engines, programs, llmc and repeat."""
    for name in order:
        engine = setup.engines[name]
        programs, model = ((setup.llmc, case.compiled) if name == "llmc"
                           else (setup.programs, case.gguf))
        for command, parse in engine.runs(programs, model, threads, tests, setup.repeat):
            rates, others = run_and_read(command, parse)
            for test, rate in rates.items():
                yield Sample(case.name, level, threads, name, test, number, rate.tokens, others,
                             rate.share)


def measure(cases, level, thread_counts, tests, rounds, setup):
    names = list(setup.engines)
    for number, order in rounds_of(names, rounds):
        for case in cases:
            for threads in thread_counts:
                print(f"round {number + 1} of {rounds}: {case.name}, threads {threads}",
                      file=sys.stderr)
                yield from measure_round(number, order, case, level, threads, tests, setup)


# --- Samples as JSON


def sample_json(sample):
    return asdict(sample)


def read_samples(path):
    try:
        report = json.loads(path.read_text())
        if report["schema"] != SCHEMA:
            raise VersusError(f"{path}: /schema: found {report['schema']}, expected {SCHEMA}")
        return [Sample(**{**row, "test": Test(**row["test"])}) for row in report["samples"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise VersusError(f"{path}: found no samples ({error}), expected a report of "
                          "tools/dev/versus --json") from None


def write_samples(path, samples, machine):
    report = {"schema": SCHEMA, "machine": machine, "samples": [sample_json(s) for s in samples]}
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(json.dumps(report, indent=1) + "\n")
        partial.replace(path)
    except OSError as error:
        raise VersusError(f"{path}: error: {error.strerror}, expected a file to write") from None
