# SPDX-License-Identifier: Apache-2.0
"""transformers as the oracle: loads a golden folder, gives its logits and its greedy continuation.

Eager attention, no cache: each greedy step runs the whole sequence again, so that a fault in a
cache cannot hide here.
"""

import os
from pathlib import Path

os.environ["TRANSFORMERS_VERBOSITY"] = (
    "error"  # before the import, or each toy rope factor draws a warning
)
os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"

import torch
import transformers

torch.set_num_threads(1)
torch.set_grad_enabled(False)
transformers.utils.logging.disable_progress_bar()

GREEDY_TOKENS = 32


def versions():
    return {"torch": torch.__version__, "transformers": transformers.__version__}


def load(folder, config=None, dtype=torch.float32):
    """The model of a folder; `config` replaces the folder's own (a planted fault)."""
    extra = {"config": config} if config is not None else {}
    model, report = transformers.AutoModelForCausalLM.from_pretrained(
        Path(folder), dtype=dtype, attn_implementation="eager", output_loading_info=True, **extra
    )
    for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        if report[kind]:
            raise ValueError(
                f"{folder}: {kind}: found {sorted(report[kind])}, "
                "expected every tensor to have its place"
            )
    return model.eval()


def logits(model, ids):
    """[positions, vocabulary]"""
    return model(torch.tensor([ids]), use_cache=False).logits[0]


def greedy(model, ids, count=GREEDY_TOKENS):
    """The next `count` tokens, past any stop token, and the smallest lead over a runner-up."""
    sequence, margin = list(ids), float("inf")
    for _ in range(count):
        top = torch.topk(logits(model, sequence)[-1], 2)
        margin = min(margin, (top.values[0] - top.values[1]).item())
        sequence.append(top.indices[0].item())
    return sequence[len(ids) :], margin
