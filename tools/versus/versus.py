#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures llmc against llama.cpp and ik_llama.cpp on the same GGUF files: tools/dev/versus.

Builds the peers outside the repository, compiles the models with llmc, runs all engines in
alternation and prints medians with their extremes and ratios of paired runs.
"""

import argparse
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import models
from engines import LlamaEngine, engines, tests_of
from errors import VersusError
from machine import describe, machine_json
from measure import measure, read_samples, write_samples
from peers import LEVELS, PEERS, build
from summary import markdown, quiet, table_rows

EPILOG = """models: a GGUF file, or one of
  {models}
example:
  tools/dev/versus --models smollm2,smollm2-q8_0 --threads 1,2 --depth 0,1024 --batch 4,8
A percentage is of the machine's reading for tg and of its arithmetic for pp, measured by llmc bench
in the same round. Samples taken while something else kept more than 0.15 of a core busy do not
count where there are others. --json F --add F adds to what F has; --rounds 0 --add F prints its
table alone. Sources, builds and models (2 GB and more, 15 minutes at first) lie in
${{LLMC_CACHE:-~/.cache/llmc}}/versus."""


@dataclass(frozen=True)
class Setup:
    engines: dict
    programs: dict
    llmc: Path
    repeat: int
    compile_options: tuple


def numbers(text):
    """A list such as 1,2,4."""
    values = [int(part) for part in text.split(",") if part]
    if not values or min(values) < 0:
        raise ValueError(text)
    return values


def names(text):
    return [part for part in text.split(",") if part]


numbers.__name__ = "list of numbers such as 1,2"


def parse_options(arguments):
    parser = argparse.ArgumentParser(
        prog="versus", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measure llmc against llama.cpp and ik_llama.cpp on the same files.",
        epilog=EPILOG.format(models=", ".join(models.NAMES)))
    known = list(engines(None))
    parser.add_argument("--models", type=names, default=["smollm2"], metavar="M,..",
                        help="[smollm2]")
    parser.add_argument("--engines", type=names, default=["llama.cpp", "ik_llama.cpp", "llmc"],
                        metavar="E,..", help="of " + ", ".join(known))
    parser.add_argument("--threads", type=numbers, default=[1, 2], metavar="N,..", help="[1,2]")
    parser.add_argument("--prompt-len", type=numbers, default=[32, 128, 512], metavar="N,..",
                        help="tokens of prompts [32,128,512]; 0: none")
    parser.add_argument("--gen", type=int, default=64, metavar="N",
                        help="tokens to decode [64]; 0: none")
    parser.add_argument("--depth", type=numbers, default=[0], metavar="N,..",
                        help="tokens before those [0]")
    parser.add_argument("--batch", type=numbers, default=[1], metavar="N,..",
                        help="sequences decoded together [1]")
    parser.add_argument("--batch-depth", type=int, default=128, metavar="N",
                        help="tokens before, in batches above 1 [128]")
    parser.add_argument("--start", action="store_true",
                        help="also from a process's launch to the end of a prompt of 5 tokens")
    parser.add_argument("--rounds", type=int, default=5, metavar="N",
                        help="of every engine, the order flipped each time [5]")
    parser.add_argument("--repeat", type=int, default=3, metavar="N",
                        help="short tests a process, the median counts [3]")
    parser.add_argument("--level", choices=LEVELS, default="native",
                        help="instructions of all engines; avx512: without AMX [native]")
    parser.add_argument("--llmc", type=Path, metavar="F", help="[build/bin/llmc]")
    parser.add_argument("--compile", type=names, default=[], metavar="O,..",
                        help="more options of llmc compile, such as --quant,int8")
    parser.add_argument("--json", type=Path, metavar="F", help="write every sample")
    parser.add_argument("--add", type=Path, metavar="F", help="count the samples of F too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N",
                        help="compilers at once when building [all processors]")
    parser.add_argument("--build-only", action="store_true", help="build the peers, measure nothing")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.engines if name not in known]
    if unknown:
        parser.error(f"--engines: found {unknown[0]!r}, expected some of {', '.join(known)}")
    if 0 in options.threads or 0 in options.batch:
        parser.error("--threads, --batch: found 0, expected numbers from 1 on")
    return options


def llmc_program(options):
    """The program of --llmc, or of the build folder."""
    build_folder = Path(os.environ.get("LLMC_BUILD", "build"))
    path = options.llmc or models.ROOT / build_folder / "bin/llmc"
    found = shutil.which(path)
    if not found:
        raise VersusError(f"{path}: found no such program, expected llmc; tools/dev/build llmc "
                          "llmc-compiler builds it, --llmc names another")
    return Path(found).absolute()


def cache_folder():
    base = os.environ.get("LLMC_CACHE") or Path.home() / ".cache/llmc"
    return Path(base).absolute() / "versus"


def build_peers(chosen, models_wanted, level, cache, jobs):
    """Folders of programs of the peers that are measured; quantising takes llama.cpp in any case."""
    wanted = {engine.peer for engine in chosen.values() if isinstance(engine, LlamaEngine)}
    if any(name in models.REQUANTISED for name in models_wanted):
        wanted.add("llama.cpp")
    return {name: build(PEERS[name], level, cache, jobs) for name in sorted(wanted)}


def take_samples(options, cache, report, samples, machine):
    """Adds to `samples` and `machine`: what there is stays when an engine fails."""
    known = engines(report)
    chosen = {name: known[name] for name in options.engines}
    programs = build_peers(chosen, options.models, options.level, cache, options.jobs)
    if options.build_only:
        return
    tests = tests_of([n for n in options.prompt_len if n], options.gen, options.depth,
                     options.batch, options.batch_depth, options.start)
    if not tests:
        raise VersusError("--prompt-len 0, --gen 0: found nothing to measure, expected one above 0")
    llmc = llmc_program(options) if "llmc" in chosen else None
    setup = Setup(chosen, programs, llmc, options.repeat, tuple(options.compile))
    target = LEVELS[options.level][1]
    sizes = models.Sizes.of(tests)
    cases = [models.case_of(name, setup, cache, target, sizes) for name in options.models]
    machine.update(machine_json(programs))
    print(describe(machine), file=sys.stderr)
    for sample in measure(cases, options.level, options.threads, tests, options.rounds, setup):
        samples.append(sample)


def later(samples, earlier):
    """The samples with rounds behind those of the earlier ones, so that pairs stay pairs."""
    first = 1 + max((sample.round for sample in earlier), default=-1)
    return [type(s)(**{**vars(s), "round": s.round + first}) for s in samples]


def run(options):
    cache = cache_folder()
    # A file that is not there yet is one without samples, where there will be some.
    counts = options.add and (options.add.exists() or not options.rounds)
    earlier = read_samples(options.add) if counts else []
    samples, machine = [], {}
    try:
        if options.rounds or options.build_only:
            with tempfile.TemporaryDirectory() as scratch:
                take_samples(options, cache, Path(scratch) / "llmc.json", samples, machine)
    finally:
        tell(earlier + later(samples, earlier), machine, options.json)


def tell(samples, machine, path):
    """The table, and the file of `path`."""
    if not samples:
        return
    if path:
        write_samples(path, samples, machine)
    print(markdown(table_rows(samples)))
    busy = len(samples) - len(quiet(samples))
    if busy:
        print(f"\n{busy} of {len(samples)} samples were taken beside a busy process and do not "
              "count where quiet ones are")


def main():
    options = parse_options(sys.argv[1:])
    try:
        run(options)
    except VersusError as error:
        print(f"tools/dev/versus: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
