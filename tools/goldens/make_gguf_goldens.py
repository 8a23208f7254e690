#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the GGUF goldens: of each model of gguf_configs.py the logits of llama.cpp on the file, and
of transformers on the dequantised weights, at all positions of the prompt.

llama.cpp runs with float32 caches and without flash attention. Also writes SENSITIVITY.md: two
faults planted in the dequantised model (rows of q and k left in pairs, minimums dropped) must move
logits ten times further than the bound under which a reader passes.
"""

import argparse
import hashlib
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import numpy
import torch

import gguf_configs
import make_gguf
import make_models
import oracle
from make_goldens import write_record

DEVIATION = (1.0, 6.0)  # of the logits
LARGEST = 1e-3  # of F32 files: any logit against any
NMSE = 5e-3  # of the other types, whose activations llama.cpp rounds
FACTOR = 10  # by which a fault must exceed the bound


def llama_cpp_logits(path, ids):
    """[positions, vocabulary] by llama.cpp."""
    import llama_cpp

    model = llama_cpp.Llama(
        str(path), n_ctx=256, n_batch=256, n_ubatch=256, n_threads=1, n_threads_batch=1,
        n_gpu_layers=0, logits_all=True, flash_attn=False, verbose=False,
        type_k=llama_cpp.GGML_TYPE_F32, type_v=llama_cpp.GGML_TYPE_F32,
    )
    model.eval(ids)
    return numpy.array(model.scores[: len(ids)], dtype=numpy.float32)


def nmse(found, expected):
    difference = found.astype(numpy.float64) - expected
    return float((difference**2).sum() / (expected.astype(numpy.float64) ** 2).sum())


def distance(config, found, expected):
    """(in words, as a share of the bound) between two sets of logits."""
    if config.storage == "F32":
        largest = float(numpy.abs(found - expected).max())
        return f"largest {largest:.2g}", largest / LARGEST
    error = nmse(found, expected)
    return f"NMSE {error:.2g}", error / NMSE


def transformers_logits(folder, config, fault=None):
    model = oracle.load(folder)
    if fault:
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                fault(config, name, parameter)
    return oracle.logits(model, make_models.prompt_ids(config)).numpy()


def left_in_pairs(config, name, parameter):
    """The rows of q and k as the file has them."""
    if "q_proj" in name or "k_proj" in name:
        heads = parameter.shape[0] // config.dim
        shape = (heads, 2, config.dim // 2, *parameter.shape[1:])
        parameter.copy_(parameter.reshape(shape).transpose(1, 2).reshape(parameter.shape).clone())


def without_minimum(config, name, parameter):
    """Scale times code alone; of tensors that have a minimum."""
    if parameter.dim() != 2 or make_gguf.storage_of(config, name, parameter.shape) != "Q4_1":
        return
    groups = parameter.reshape(-1, make_gguf.BLOCK)
    # The least value of a group is its minimum, or a step or two above where no code is 0.
    groups -= groups.min(dim=1, keepdim=True).values.clone()


FAULTS = [
    ("rows of q and k left in pairs", left_in_pairs,
     lambda config: make_gguf.ARCHITECTURE[config.family] == "llama"),
    ("minimums dropped", without_minimum, lambda config: config.storage == "Q4_1"),
]


def versions(with_llama_cpp):
    found = oracle.versions()
    if with_llama_cpp:
        found["llama-cpp-python"] = metadata_version("llama_cpp_python")
    return found


def metadata_version(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # run from its source tree
        import llama_cpp

        return llama_cpp.__version__


def save(path, logits):
    numpy.save(path, numpy.ascontiguousarray(logits, dtype="<f4"))


def make(config, work, out):
    """Writes one golden; (rows of SENSITIVITY.md, complaints)."""
    data, path, folder = make_gguf.gguf_bytes(config), work / f"{config.name}.gguf", work / config.name
    path.write_bytes(data)
    make_gguf.write_folder(config, folder)
    right = transformers_logits(folder, config)
    record = {
        "name": config.name,
        "why": config.why,
        "type": config.storage,
        "seed": config.seed,
        "file_sha256": hashlib.sha256(data).hexdigest(),
        "prompt": make_models.prompt_ids(config),
        "logits_deviation": round(float(right.std()), 4),
    }
    save(out / f"{config.name}.transformers.npy", right)
    complaints, rows, expected = [], [], right
    with_llama_cpp = config.name not in gguf_configs.WITHOUT_LLAMA_CPP
    if with_llama_cpp:
        expected = llama_cpp_logits(path, record["prompt"])
        save(out / f"{config.name}.llama_cpp.npy", expected)
        words, share = distance(config, right, expected)
        record["transformers_to_llama_cpp"] = words
        rows.append((config.name, "none", words, share))
        if share > 1:
            complaints.append(f"{config.name}: found {words} between the two, expected the bound")
    if not DEVIATION[0] <= record["logits_deviation"] <= DEVIATION[1]:
        complaints.append(
            f"{config.name}: found logits of deviation {record['logits_deviation']}, "
            f"expected {DEVIATION[0]} to {DEVIATION[1]}"
        )
    for name, fault, applies in FAULTS:
        if applies(config):
            words, share = distance(config, transformers_logits(folder, config, fault), expected)
            rows.append((config.name, name, words, share))
            if share < FACTOR:
                complaints.append(
                    f"{config.name}: {name}: found {words}, expected {FACTOR} times the bound"
                )
    record["versions"] = versions(with_llama_cpp)
    write_record(out / f"{config.name}.json", record)
    return rows, complaints


def write_sensitivity(path, rows):
    lines = [
        "# What the GGUF goldens notice",
        "",
        "Written by `tools/goldens/make_gguf_goldens.py`. Distance of transformers on the "
        "dequantised weights from llama.cpp on the",
        f"file, right and with a fault; bounds: F32 {LARGEST} at any logit, other types an NMSE of "
        f"{NMSE}. A fault must exceed its",
        f"bound {FACTOR} times.",
        "",
        "| model | fault | distance | of the bound |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {fault} | {words} | {share:.3g} |" for name, fault, words, share in rows
    ]
    path.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description="Write the goldens of all GGUF models.")
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parents[2] / "test/e2e/goldens/gguf"
    )
    parser.add_argument("--only", metavar="NAME", action="append",
                        help="this model alone (may be repeated); leaves SENSITIVITY.md as it is")
    options = parser.parse_args()
    unknown = [name for name in options.only or [] if not gguf_configs.find(name)]
    if unknown:
        parser.error(f"--only: found {unknown[0]!r}, expected a model of gguf_configs.py")
    options.out.mkdir(parents=True, exist_ok=True)
    rows, complaints = [], []
    for config in gguf_configs.CONFIGS:
        if options.only and config.name not in options.only:
            continue
        with tempfile.TemporaryDirectory() as work:
            new_rows, new_complaints = make(config, Path(work), options.out)
        rows += new_rows
        complaints += new_complaints
        for name, fault, words, share in new_rows:
            print(f"{name:22} {fault:30} {words:18} {share:8.3g} of the bound", flush=True)
    if not options.only:
        write_sensitivity(options.out / "SENSITIVITY.md", rows)
    for complaint in complaints:
        print(f"make_gguf_goldens.py: error: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
