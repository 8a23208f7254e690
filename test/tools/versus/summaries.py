# SPDX-License-Identifier: Apache-2.0
"""Medians, pairs and the table. Run by versus.test with the folder of tools/versus."""

import io
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

SOURCE = sys.argv.pop(1)
sys.path.insert(0, SOURCE)
import versus  # noqa: E402
from engines import Test  # noqa: E402
from errors import VersusError  # noqa: E402
from measure import Sample, read_samples, rounds_of, run_and_read, write_samples  # noqa: E402
from summary import cell, markdown, ratios, spread_of, table_rows  # noqa: E402


def sample(engine, number, rate, others=0.0, share=None):
    return Sample("m", "native", 1, engine, Test("tg", 64), number, rate, others, share)


class Statistics(unittest.TestCase):
    def test_spread(self):
        self.assertEqual(cell(spread_of([3.0, 1.0, 2.0])), "2.00 [1.00..3.00] n3")
        self.assertEqual(cell(spread_of([100.0, 20.0])), "60.0 [20.0..100] n2")
        self.assertEqual(cell(spread_of([])), "-")

    def test_the_order_flips_each_round(self):
        self.assertEqual([order for _, order in rounds_of(["a", "b", "c"], 3)],
                         [["a", "b", "c"], ["c", "b", "a"], ["a", "b", "c"]])

    def test_ratios_are_of_one_round(self):
        ours = [sample("llmc", 0, 10.0), sample("llmc", 1, 30.0), sample("llmc", 2, 50.0)]
        theirs = [sample("p", 1, 10.0), sample("p", 0, 10.0)]
        self.assertEqual(ratios(ours, theirs), [1.0, 3.0])

    def test_samples_beside_a_busy_process_do_not_count(self):
        samples = [sample("llmc", 0, 20.0), sample("p", 0, 10.0),
                   sample("llmc", 1, 1.0, 0.9), sample("p", 1, 10.0)]
        rows = list(table_rows(samples))
        self.assertEqual(rows[0], ["model", "level", "threads", "test", "p tok/s", "llmc tok/s",
                                   "llmc / p"])
        self.assertEqual(rows[1], ["m", "native", "1", "tg64", "10.0 [10.0..10.0] n2",
                                   "20.0 [20.0..20.0] n1", "2.00 [2.00..2.00] n1"])

    def test_a_peers_share_follows_from_llmcs(self):
        rows = list(table_rows([sample("llmc", 0, 20.0, 0.0, 0.8), sample("p", 0, 10.0)]))
        self.assertEqual(rows[1][4:6], ["10.0 [10.0..10.0] n1 40%", "20.0 [20.0..20.0] n1 80%"])

    def test_starts_are_milliseconds_and_ratios_times_faster(self):
        starts = [replace(sample(name, 0, rate), test=Test("start", 5))
                  for name, rate in (("llmc", 20.0), ("p", 5.0))]
        self.assertEqual(list(table_rows(starts))[1][3:], [
            "start pp5, ms", "200 [200..200] n1", "50.0 [50.0..50.0] n1", "4.00 [4.00..4.00] n1"])

    def test_a_row_without_a_quiet_sample_is_marked(self):
        rows = list(table_rows([sample("p", 0, 10.0, 0.9)]))
        self.assertEqual(rows[1][-1], "10.0 [10.0..10.0] n1 busy")

    def test_the_table_is_aligned(self):
        self.assertEqual(markdown([["a", "bb"], ["ccc", "d"]]),
                         "| a   | bb |\n| --- | -- |\n| ccc | d  |")


class Runs(unittest.TestCase):
    def test_output_that_says_nothing_is_asked_for_again(self):
        answers = [VersusError("nothing"), VersusError("nothing"), "rates"]

        def parse(*_):
            answer = answers.pop(0)
            if isinstance(answer, VersusError):
                raise answer
            return answer

        self.assertEqual(run_and_read(["true"], parse)[0], "rates")
        answers += [VersusError("nothing")] * 3
        with self.assertRaisesRegex(VersusError, "nothing"):
            run_and_read(["true"], parse)

    def test_a_program_that_fails_says_so(self):
        for command, said in ((["false"], "exit code 1"), (["/none"], "could not be started")):
            with self.assertRaisesRegex(VersusError, said):
                run_and_read(command, print)


class Files(unittest.TestCase):
    def test_samples_come_back_from_their_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path, samples = Path(folder) / "s.json", [sample("p", 0, 10.0), sample("llmc", 0, 2.5, 0.1, 0.7)]
            write_samples(path, samples, {})
            self.assertEqual(read_samples(path), samples)

    def test_what_was_measured_before_a_failure_stays(self):
        def fails(options, cache, report, samples, machine):
            samples.append(sample("p", 0, 10.0))
            raise VersusError("an engine failed")

        self.addCleanup(setattr, versus, "take_samples", versus.take_samples)
        versus.take_samples = fails
        with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
            path = Path(folder) / "s.json"
            with self.assertRaises(VersusError):
                versus.run(versus.parse_options(["--json", str(path)]))
            self.assertEqual(read_samples(path), [sample("p", 0, 10.0)])

    def test_a_file_of_something_else_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "s.json"
            for text in ("", "{}", "[]", '{"schema": 1, "samples": [{}]}', '{"schema": 9}'):
                path.write_text(text)
                with self.assertRaisesRegex(VersusError, "s.json.*expected"):
                    read_samples(path)

    def test_later_rounds_do_not_pair_with_earlier_ones(self):
        earlier = [sample("p", 0, 1.0), sample("p", 4, 1.0)]
        new = versus.later([sample("p", 0, 2.0)], earlier)
        self.assertEqual(new, [replace(sample("p", 5, 2.0))])


if __name__ == "__main__":
    unittest.main()
