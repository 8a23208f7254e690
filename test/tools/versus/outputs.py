# SPDX-License-Identifier: Apache-2.0
"""What the engines are asked, and what is read out of their answers. Run by versus.test with the folder
of tools/versus."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = sys.argv.pop(1)
sys.path.insert(0, SOURCE)
import engines  # noqa: E402
from engines import Rate, Test, parse_batched_bench, parse_llama_bench, tests_of  # noqa: E402
from errors import VersusError  # noqa: E402

LLAMA_BENCH = """\
some words about the model
[
  {"build_commit": "unknown", "n_prompt": 128, "n_gen": 0, "n_depth": 0, "samples_ts": [ 100.5, 90.0, 110.0 ]},
  {"build_commit": "unknown", "n_prompt": 0, "n_gen": 64, "n_depth": 1024, "samples_ts": [ 20.0, 30.0 ]}
]
"""
IK_DEEP = '[\n  {"n_prompt": 1024, "n_gen": 64, "test": "tg64@pp1024", "samples_ts": [ 33.0 ]}\n]\n'
BATCHED = """\
main: n_kv_max = 640, n_batch = 2048

|    PP |     TG |    B |   N_KV |   T_PP s | S_PP t/s |   T_TG s | S_TG t/s |      T s |    S t/s |
|-------|--------|------|--------|----------|----------|----------|----------|----------|----------|
|   128 |     32 |    4 |    640 |    1.000 |   512.00 |    0.800 |   160.00 |    1.800 |   355.56 |
"""


class Outputs(unittest.TestCase):
    def test_llama_bench_gives_the_median_of_each_test(self):
        self.assertEqual(parse_llama_bench(LLAMA_BENCH),
                         {Test("pp", 128): Rate(100.5), Test("tg", 64, 1024): Rate(25.0)})

    def test_a_prompt_before_generation_is_its_depth(self):
        self.assertEqual(parse_llama_bench(IK_DEEP), {Test("tg", 64, 1024): Rate(33.0)})

    def test_batched_bench_gives_the_rate_of_all_sequences(self):
        self.assertEqual(parse_batched_bench(BATCHED), {Test("tg", 32, 128, 4): Rate(160.0)})

    def test_batched_bench_lost_a_row(self):
        with self.assertRaisesRegex(VersusError, "found 1 rows in its output, expected 2"):
            parse_batched_bench(BATCHED, count=2)

    def test_other_output_is_refused(self):
        for parse, text in ((parse_llama_bench, "nothing"), (parse_llama_bench, "[\n{}]"),
                            (parse_llama_bench, "[\n1]"), (parse_llama_bench, "[\n{"),
                            (parse_batched_bench, "| PP | TG |")):
            with self.assertRaisesRegex(VersusError, "found .*, expected"):
                parse(text)


    def test_a_start_is_what_the_process_took(self):
        self.assertEqual(engines.parse_start("", 0.25), {Test("start", 5): Rate(4.0)})

    def test_llmc_says_shares(self):
        report = {"schema": 2,
                  "prefill": [{"prompt_len": 8, "tokens_per_s": {"median": 9.0},
                               "share_of_peak": 0.5}],
                  "decode": [{"gen": 4, "depth": 16, "batch": 2, "tokens_per_s": {"median": 7.0},
                              "share_of_read": None}]}
        with tempfile.TemporaryDirectory() as folder:
            engine = engines.engines(Path(folder) / "r.json")["llmc"]
            engine.report.write_text(json.dumps(report))
            self.assertEqual(engine.parse(""), {Test("pp", 8): Rate(9.0, 0.5),
                                                Test("tg", 4, 16, 2): Rate(7.0)})
            for text in ("", "[]", "{}", '{"schema": 1}', '{"schema": 2}',
                         '{"schema": 2, "prefill": [{}]}'):
                engine.report.write_text(text)
                with self.assertRaisesRegex(VersusError, "r.json.*found .*, expected"):
                    engine.parse("")


class Commands(unittest.TestCase):
    tests = tests_of([32, 128], 64, [0, 1024], [1, 4, 8], 128, True)

    def commands(self, name):
        report = Path("/reports/llmc.json")
        engine = engines.engines(report)[name]
        programs = (Path("/bin/llmc") if name == "llmc"
                    else {"llama.cpp": Path("/l"), "ik_llama.cpp": Path("/i")})
        return [" ".join(command) for command, _ in
                engine.runs(programs, Path("m.gguf"), 2, self.tests, 3)]

    def test_names_say_what_is_timed(self):
        self.assertEqual([str(test) for test in self.tests],
                         ["pp32", "pp128", "start pp5, ms", "tg64", "tg64@d1024", "tg64@d128 x4", "tg64@d128 x8"])

    def test_llama_cpp(self):
        start = "/l/llama-bench -m m.gguf -t 2 -r 1 -o json -p 5 -n 0 --no-warmup -fa on"
        self.assertEqual(self.commands("llama.cpp"), [
            start, start, start,
            "/l/llama-bench -m m.gguf -t 2 -r 3 -o json -p 32,128 -n 64 -fa on",
            "/l/llama-bench -m m.gguf -t 2 -r 1 -o json -p 0 -n 64 -d 1024 -fa on",
            "/l/llama-batched-bench -m m.gguf -t 2 -c 1536 -b 2048 -ub 512 -npp 128 -ntg 64 "
            "-npl 4,8 -fa on"])

    def test_llmc(self):
        start = ("/bin/llmc run m.gguf --threads 2 --prompt-ids 1,2,3,4,5 --max-new-tokens 1 "
                 "--ignore-eos")
        self.assertEqual(self.commands("llmc"), [
            start, start, start,
            "/bin/llmc bench m.gguf --threads 2 --prompt-len 32,128 --gen 64 --depth 0,1024 "
            "--batch 1 --repeat 3 --json /reports/llmc.json",
            "/bin/llmc bench m.gguf --threads 2 --prompt-len 0 --gen 64 --depth 128 --batch 4,8 "
            "--repeat 3 --json /reports/llmc.json"])

    def test_ik_llama_cpp_has_its_own_words(self):
        start = "/i/llama-bench -m m.gguf -t 2 -r 1 -o json -p 5 -n 0 -w 0 -fa 1"
        self.assertEqual(self.commands("ik_llama.cpp"), [
            start, start, start,
            "/i/llama-bench -m m.gguf -t 2 -r 3 -o json -p 32,128 -n 64 -fa 1",
            "/i/llama-bench -m m.gguf -t 2 -r 1 -o json -p 0 -n 0 -gp 1024,64 -fa 1",
            "/i/llama-batched-bench -m m.gguf -t 2 -c 1536 -b 2048 -ub 512 -npp 128 -ntg 64 "
            "-npl 4,8 -no-fa"])


if __name__ == "__main__":
    unittest.main()
