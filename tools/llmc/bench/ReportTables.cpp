// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/Format.h"
#include "tools/llmc/bench/Report.h"

namespace llmc::tool {
namespace {

std::string percent(double share, bool isKnown) {
  return isKnown && share > 0 ? formatted("%.0f %%", share * 100) : "-";
}

std::string rate(double amount, double seconds) {
  return amount > 0 && seconds > 0 ? formatted("%.1f", amount / seconds * 1e-9) : "-";
}

std::string spread(const Spread &spread) { return formatted("%.1f..%.1f", spread.q1, spread.q3); }

// "5", or "5 of 7" where two were discarded.
std::string runs(const Row &row) {
  return row.discarded ? formatted("%u of %u", row.kept, row.kept + row.discarded)
                       : std::to_string(row.kept);
}

std::string microseconds(double seconds) { return formatted("%.0f", seconds * 1e6); }

void printPrefills(const std::vector<Row> &rows) {
  Table table({">prompt", ">threads", ">tok/s", ">quartiles", ">ms", ">GOP/s", ">of peak",
               ">linears of peak", ">of bound", ">between us", ">runs"});
  bool isEmpty = true;
  for (const Row &row : rows) {
    if (!row.key.isPrefill)
      continue;
    isEmpty = false;
    table.add({std::to_string(row.key.promptLength), std::to_string(row.key.threads),
               formatted("%.1f", row.rate.median), spread(row.rate),
               formatted("%.2f", row.seconds.median * 1e3),
               rate(row.work.operations(), row.seconds.median), percent(row.ofPeak, row.knowsWork),
               percent(row.linearsOfPeak, row.knowsWork), percent(row.ofBound, row.knowsWork),
               microseconds(row.boundaries.seconds), runs(row)});
  }
  if (!isEmpty)
    print("\nprefill\n" + table.text());
}

void printDecodes(const std::vector<Row> &rows) {
  Table table({">depth", ">batch", ">threads", ">tok/s", ">quartiles", ">step ms", ">p99", ">GB/s",
               ">of read", ">of bound", ">between us", ">runs"});
  bool isEmpty = true;
  for (const Row &row : rows) {
    if (row.key.isPrefill)
      continue;
    isEmpty = false;
    table.add({std::to_string(row.key.depth), std::to_string(row.key.batch),
               std::to_string(row.key.threads), formatted("%.1f", row.rate.median),
               spread(row.rate), formatted("%.3f", row.step50 * 1e3),
               formatted("%.3f", row.step99 * 1e3), rate(row.work.bytes, row.seconds.median),
               percent(row.ofRead, row.knowsWork), percent(row.ofBound, row.knowsWork),
               microseconds(row.boundaries.seconds), runs(row)});
  }
  if (!isEmpty)
    print("\ndecode\n" + table.text());
}

void printRelations(const std::vector<Row> &rows) {
  for (const Row &row : rows) {
    const Relations relations = relationsOf(row, rows);
    std::string text;
    if (relations.extraSeconds)
      text += formatted("; %.3f ms a step more than at depth 0", *relations.extraSeconds * 1e3);
    if (relations.extraOverRead)
      text +=
          formatted(", %.2f x what reading its keys and values as well takes", *relations.extraOverRead);
    if (relations.ofBatchOne)
      text += formatted("; %.2f x the tokens of batch 1", *relations.ofBatchOne);
    if (!text.empty())
      print(inWords(row.key) + ": " + text.substr(2) + "\n");
  }
}

// Medians over the rows of so many threads.
void printCeilings(const std::vector<Row> &rows, uint32_t threads, const Setting &setting) {
  std::vector<double> read, f32, int8;
  uint32_t streams = 0;
  for (const Row &row : rows)
    if (row.key.threads == threads) {
      read.push_back(row.ceilings.read);
      f32.push_back(row.ceilings.f32);
      int8.push_back(row.ceilings.int8);
      streams = row.ceilings.streams;
    }
  print(formatted("ceilings of %u thread%s: read %.1f GB/s (%s, %u stream%s a thread), f32 %.0f "
                  "GFLOP/s (%s), int8 %.0f GOP/s (%s)\n",
                  threads, threads == 1 ? "" : "s", median(read) * 1e-9, setting.memory.c_str(),
                  streams, streams == 1 ? "" : "s", median(f32) * 1e-9,
                  setting.f32Instructions.c_str(), median(int8) * 1e-9,
                  setting.int8Instructions.c_str()));
}

void printNotes(const std::vector<Row> &rows) {
  bool discards = false, allUnsteady = false, knowsWork = true;
  for (const Row &row : rows) {
    discards |= row.discarded > 0;
    allUnsteady |= row.kept == 0;
    knowsWork &= row.knowsWork;
  }
  if (discards)
    print(formatted("runs: those during which the ceiling moved by more than %.0f %% are not "
                    "counted\n",
                    kMostMovement * 100));
  if (allUnsteady)
    print("0 runs: it moved in all of them; the figures are of all of them, on a machine too busy "
          "to measure\n");
  if (!knowsWork)
    print("no shares: the model has no cost table\n");
}

} // namespace

void printSetting(const Setting &setting) {
  print(formatted("%s: %s for %s, %.1f MB of weights (%s), %u processors\n",
                  escaped(setting.name, 4096).c_str(), escaped(setting.level).c_str(),
                  escaped(setting.cpu).c_str(), static_cast<double>(setting.weightsBytes) * 1e-6,
                  setting.memory.c_str(), setting.processors));
}

std::string inWords(const RowKey &key) {
  const std::string threads =
      std::to_string(key.threads) + (key.threads == 1 ? " thread" : " threads");
  if (key.isPrefill)
    return formatted("prefill of %u tokens, %s", key.promptLength, threads.c_str());
  return formatted("decode at depth %u, batch %u, %s", key.depth, key.batch, threads.c_str());
}

void printRows(const std::vector<Row> &rows, const Setting &setting) {
  printPrefills(rows);
  printDecodes(rows);
  print("\n");
  printRelations(rows);
  std::vector<uint32_t> told;
  for (const Row &row : rows)
    if (std::find(told.begin(), told.end(), row.key.threads) == told.end()) {
      told.push_back(row.key.threads);
      printCeilings(rows, row.key.threads, setting);
    }
  printNotes(rows);
}

void printCosts(const std::vector<Row> &rows) {
  for (const Row &row : rows) {
    Table table({"command", "kernel", ">count", ">us", ">share", ">GB/s", ">GOP/s", "bound",
                 ">of bound", ">lost us"});
    for (const CommandCost &cost : row.costs) {
      const double seconds = cost.microseconds * 1e-6;
      const bool isKnown = cost.bound > 0;
      table.add({cost.name, cost.kernel, std::to_string(cost.count),
                 formatted("%.1f", cost.microseconds), formatted("%.1f %%", cost.share * 100),
                 rate(cost.work.bytes, seconds), rate(cost.work.operations(), seconds),
                 !isKnown             ? "-"
                 : cost.bindsReading  ? "bytes"
                 : cost.work.int8 > 0 ? "int8"
                                      : "f32",
                 percent(isKnown ? cost.bound / cost.microseconds : 0, isKnown),
                 formatted("%.1f", cost.lost())});
    }
    print("\n" + inWords(row.key) + ": " +
          formatted("%u commands a step, %.0f us between them\n", row.boundaries.commands,
                    row.boundaries.seconds * 1e6) +
          table.text());
  }
}

} // namespace llmc::tool
