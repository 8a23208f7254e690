# SPDX-License-Identifier: Apache-2.0
"""Model files to measure on: SmolLM2 and what llama-quantize makes of it, shapes with random weights,
or any GGUF file; and what llmc compiles of each."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from errors import VersusError
from measure import Case

ROOT = Path(__file__).resolve().parents[2]
# Of each re-quantised file: llama-quantize's type and options. The head stays in 8 bits, as in the
# published file.
REQUANTISED = {
    "smollm2-q4_0": ("Q4_0", ("--pure", "--token-embedding-type", "q8_0")),
    "smollm2-q8_0": ("Q8_0", ("--pure",)),
}
SHAPES = tuple(f"{size}-{kind}" for size in ("0.5b", "1.5b")
               for kind in ("bf16", "q8_0", "q4_0", "q4_1"))
NAMES = ("smollm2", *REQUANTISED, *SHAPES)


def checked(command, what):
    """Standard output of a command that must succeed."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, errors="replace",
                                stdin=subprocess.DEVNULL)
    except OSError as error:
        raise VersusError(f"{command[0]}: could not be started ({error.strerror}), expected {what}"
                          ) from None
    if result.returncode:
        said = (result.stderr or result.stdout).strip().splitlines() or ["nothing"]
        raise VersusError(f"{' '.join(map(str, command))}: found exit code {result.returncode} and "
                          f"{said[-1]!r}, expected {what}")
    return result.stdout


def smollm2():
    return Path(checked([str(ROOT / "tools/dev/fetch"), "smollm2"], "SmolLM2's file").strip())


def requantised(name, programs, folder):
    path = folder / f"{name}.gguf"
    if not path.exists():
        kind, options = REQUANTISED[name]
        partial = path.with_suffix(".partial")
        print(f"quantising {name}", file=sys.stderr)
        checked([str(programs["llama.cpp"] / "llama-quantize"), "--allow-requantize", *options,
                 str(smollm2()), str(partial), kind], f"{name} by llama-quantize")
        partial.replace(path)
    return path


def shape(name, folder):
    size, kind = name.split("-")
    path = folder / f"qwen2-{size}-{kind}.gguf"
    if not path.exists():
        print(f"writing {path}", file=sys.stderr)
        checked([str(ROOT / "tools/dev/shape"), size, "--type", kind, "--out", str(folder)],
                "a model of that shape")
    return path


def gguf_of(name, programs, cache):
    """The GGUF file of one of NAMES, or of a path."""
    folder = cache / "models"
    folder.mkdir(parents=True, exist_ok=True)
    if name == "smollm2":
        return smollm2()
    if name in REQUANTISED:
        return requantised(name, programs, folder)
    if name in SHAPES:
        return shape(name, folder)
    path = Path(name).absolute()
    if not path.is_file():
        raise VersusError(f"{name}: found no such file, expected a GGUF file or one of "
                          + ", ".join(NAMES))
    return path


@dataclass(frozen=True)
class Sizes:
    """What a compiled model must hold; powers of two, so that few artefacts serve many tests."""

    positions: int
    batch: int

    @staticmethod
    def of(tests):
        needed = max(test.depth + test.tokens + 1 for test in tests)
        return Sizes(1 << (needed - 1).bit_length(), max(8, max(test.batch for test in tests)))


def compile_model(llmc, gguf, target, sizes, folder, options):
    """llmc's artefact of the file, made anew when either is younger."""
    folder.mkdir(parents=True, exist_ok=True)
    words = [gguf.stem, target.split(":")[1], f"s{sizes.positions}", f"b{sizes.batch}", *options]
    path = folder / ("-".join(word.strip("-").replace("/", "_") for word in words) + ".so")
    newest = max(part.stat().st_mtime for part in (gguf, llmc, llmc.with_name("llmc-compiler"))
                 if part.exists())
    if not path.exists() or path.stat().st_mtime < newest:
        print(f"compiling {gguf.name} for {target}", file=sys.stderr)
        checked([str(llmc), "compile", str(gguf), "-o", str(path), "--target", target,
                 "--max-seq", str(sizes.positions), "--max-batch", str(sizes.batch), *options],
                "a compiled model")
    return path


def case_of(name, setup, cache, target, sizes):
    gguf = gguf_of(name, setup.programs, cache)
    label = name if name in NAMES else gguf.stem
    compiled = None
    if "llmc" in setup.engines:
        compiled = compile_model(setup.llmc, gguf, target, sizes, cache / "compiled",
                                 setup.compile_options)
    return Case(label, gguf, compiled)
