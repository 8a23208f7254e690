// SPDX-License-Identifier: Apache-2.0
// `llmc bench`: every combination that was asked for, a model opened for each number of threads.
#include "runtime/engine/Inspect.h"
#include "tools/llmc/Format.h"
#include "tools/llmc/NewFile.h"
#include "tools/llmc/bench/BenchCompare.h"
#include "tools/llmc/bench/BenchOptions.h"
#include "tools/llmc/bench/Modes.h"
#include "tools/llmc/bench/Trace.h"
#include <cstdio>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace llmc::tool {
namespace {

std::vector<RowKey> keysOf(const BenchOptions &options, uint32_t threads) {
  std::vector<RowKey> keys;
  for (const uint32_t length : options.promptLengths)
    if (length)
      keys.push_back({true, length, 0, 1, 0, threads});
  for (const uint32_t depth : options.depths)
    for (const uint32_t batch : options.batches)
      if (options.generated)
        keys.push_back({false, 0, depth, batch, options.generated, threads});
  return keys;
}

Result<Row> measure(const LoadedModel &loaded, const RowKey &key, const Judge &judge,
                    const BenchOptions &options) {
  Result<Workload> workload = key.isPrefill
                                  ? Workload::ofPrefill(loaded, key.promptLength)
                                  : Workload::ofDecode(loaded, key.depth, key.batch, key.generated);
  if (!workload)
    return workload.takeError();
  return measureRow(*workload, key, judge, {options.repeats, options.byKind});
}

// For people who wait; gone once all is measured.
void showProgress(const std::string &text) {
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "\r\x1b[K%s", text.c_str());
}

Status measureAll(BenchOptions &options, Setting &setting, std::vector<Row> &rows) {
  for (const uint32_t threads : threadsOf(options)) {
    ModelOptions model = options.model;
    model.threads = threads;
    Result<LoadedModel> loaded = loadModel(model, nullptr);
    if (!loaded)
      return loaded.takeError();
    if (Status status = fitSizes(options, loaded->info); !status)
      return status;
    const Judge judge = judgeOf(*loaded);
    setting = settingOf(*loaded, judge);
    for (const RowKey &key : keysOf(options, threads)) {
      showProgress(inWords(key));
      Result<Row> row = measure(*loaded, key, judge, options);
      showProgress("");
      if (!row)
        return row.takeError();
      rows.push_back(std::move(*row));
    }
  }
  return {};
}

Json settingsPart(const BenchOptions &options, const Setting &setting) {
  return {{"schema", kSchema},
          {"llmc_version", LLMC_VERSION},
          {"model", settingPart(setting)},
          {"options",
           {{"prompt_len", options.promptLengths},
            {"gen", options.generated},
            {"depth", options.depths},
            {"batch", options.batches},
            {"threads", threadsOf(options)},
            {"repeat", options.repeats}}},
          {"prefill", Json::array()},
          {"decode", Json::array()}};
}

// The steps of the first prefill and of the first decode.
Status writeTraceOf(const std::string &path, const std::vector<Row> &rows) {
  std::vector<TimedStep> steps;
  for (const bool isPrefill : {true, false})
    for (const Row &row : rows)
      if (row.key.isPrefill == isPrefill) {
        steps.push_back(row.timed.back());
        break;
      }
  return writeTrace(path, steps);
}

Status benchRows(BenchOptions &options, Setting &setting, Json &json) {
  std::vector<Row> rows;
  if (Status status = measureAll(options, setting, rows); !status)
    return status;
  const bool withCosts = options.perOp || options.byKind;
  printSetting(setting);
  printRows(rows, setting);
  if (withCosts)
    printCosts(rows);
  for (const Row &row : rows)
    json[row.key.isPrefill ? "prefill" : "decode"].push_back(rowPart(row, rows, withCosts));
  return options.trace.empty() ? Status() : writeTraceOf(options.trace, rows);
}

} // namespace

Setting settingOf(const LoadedModel &loaded, const Judge &judge) {
  Setting setting;
  const llmc_model_info &info = loaded.info;
  setting.name = *info.name ? info.name : loaded.path;
  setting.level = info.level;
  setting.cpu = info.cpu;
  setting.weightsBytes = info.weights_bytes;
  setting.memory = kindOfMemory(judge.ground.weights.memory);
  setting.processors = processors();
  setting.f32Instructions = ceilings::f32Loop(judge.ground.features).instructions;
  setting.int8Instructions = ceilings::int8Loop(judge.ground.features).instructions;
  return setting;
}

Status benchModel(const BenchOptions &given) {
  BenchOptions options = given;
  if (!options.compare.empty())
    return compareBenches(options.compare[0], options.compare[1]);
  if (options.firstToken)
    return runFirstToken(options);
  if (Status status = checkThreads(options); !status)
    return status;
  NewFile file(options.json);
  if (!options.json.empty()) // before the work, should the folder be missing
    if (Status status = file.open(); !status)
      return status;
  Setting setting;
  Json parts = Json::object();
  const auto bench = options.start           ? benchStart
                     : options.busyNeighbour ? benchNeighbour
                                             : benchRows;
  if (Status status = bench(options, setting, parts); !status)
    return status;
  if (!options.json.empty()) {
    Json json = settingsPart(options, setting);
    json.update(parts);
    const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (Status status = file.write(text.data(), text.size()); !status)
      return status;
    if (Status status = file.commit(); !status)
      return status;
  }
  return finishOutput();
}

} // namespace llmc::tool
