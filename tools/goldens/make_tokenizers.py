# SPDX-License-Identifier: Apache-2.0
"""What the `tokenizers` library answers for the texts of tokenizer_corpus.py, as one hash a text.

    .venv/bin/pip install tokenizers==0.23.3
    .venv/bin/python tools/goldens/make_tokenizers.py $(tools/dev/fetch tokenizers)

writes test/runtime/text/corpus.json and test/runtime/text/goldens/NAME.json. A hash covers the ids (as trained; and
without what is put around a text and with special tokens as plain text) and the text of the first ids (with and
without special tokens). Random ids are decoded as well.
"""

import argparse
import hashlib
import json
import struct
from pathlib import Path

import tokenizers
from tokenizers import Tokenizer

import tokenizer_corpus
import tokenizer_files

TESTS = Path(__file__).resolve().parents[2] / "test/runtime/text"
RANDOM_SEQUENCES = 200


def fnv(data, state=0xCBF29CE484222325):
    for byte in data:
        state = (state ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return state


def short(state):
    return f"{(state ^ state >> 32) & 0xFFFFFFFF:08x}"


def of_ids(ids):
    return struct.pack(f"<{len(ids) + 1}i", len(ids), *ids)


def of_text(text):
    return struct.pack("<i", len(text.encode())) + text.encode()


def answer(tokenizer, text):
    tokenizer.encode_special_tokens = False
    ids = tokenizer.encode(text).ids
    tokenizer.encode_special_tokens = True
    plain = tokenizer.encode(text, add_special_tokens=False).ids
    tokenizer.encode_special_tokens = False
    state = fnv(of_ids(ids) + of_ids(plain) + texts_of(tokenizer, ids))
    return short(state)


def texts_of(tokenizer, ids):
    return b"".join(of_text(tokenizer.decode(ids, skip_special_tokens=skip)) for skip in (False, True))


def random_sequences(count):
    """Lists of 1 to 24 ids below `count`; GoldensTest.cpp draws the same."""
    state = 1
    for _ in range(RANDOM_SEQUENCES):
        numbers = []
        for _ in range(25):
            state = (state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
            numbers.append(state >> 33)
        yield [number % count for number in numbers[1 : 2 + numbers[0] % 24]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="where tools/dev/fetch tokenizers wrote them")
    arguments = parser.parse_args()
    texts = tokenizer_corpus.texts()
    corpus = json.dumps(texts, ensure_ascii=True, indent=0)
    (TESTS / "corpus.json").write_text(corpus + "\n", encoding="utf-8")
    for make in tokenizer_files.TOKENIZERS:
        path = arguments.folder / (make.__name__ + ".json")
        tokenizer = Tokenizer.from_file(str(path))
        count = tokenizer.get_vocab_size(with_added_tokens=True)
        decoded = fnv(b"")
        for ids in random_sequences(count):
            decoded = fnv(texts_of(tokenizer, ids), decoded)
        golden = {
            "about": make.__doc__.strip(),
            "tokenizers": tokenizers.__version__,
            "file_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "corpus_sha256": hashlib.sha256(corpus.encode() + b"\n").hexdigest(),
            "vocabulary": count,
            "random_decoded": short(decoded),
            "texts": " ".join(answer(tokenizer, text) for text in texts),
        }
        text = json.dumps(golden, indent=1)
        (TESTS / "goldens" / path.name).write_text(text + "\n", encoding="utf-8")
        print(path.name, count)


if __name__ == "__main__":
    main()
