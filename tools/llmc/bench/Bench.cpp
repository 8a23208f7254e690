// SPDX-License-Identifier: Apache-2.0
// `llmc bench`: medians over several runs, for people and as JSON.
#include "tools/llmc/Format.h"
#include "tools/llmc/bench/Workload.h"
#include "tools/llmc/NewFile.h"
#include "tools/llmc/bench/Statistics.h"
#include "tools/llmc/bench/Trace.h"
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

namespace llmc::tool {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1; // of --json; larger when a key changes its meaning

// Medians over the runs; seconds.
struct Summary {
  double firstTokens;
  double between50;
  double between99;
  double endToEnd;
  double promptRate; // prompt tokens of all sequences a second
  double newRate;    // new tokens a second, after the first of each sequence
};

template <typename Value> double medianOf(const std::vector<RunTimes> &runs, const Value &valueOf) {
  std::vector<double> values;
  for (const RunTimes &run : runs)
    values.push_back(valueOf(run));
  return median(std::move(values));
}

Summary summarise(const std::vector<RunTimes> &runs, const BenchOptions &options) {
  Summary summary{};
  summary.firstTokens = medianOf(runs, [](const RunTimes &run) { return run.firstTokens; });
  summary.endToEnd = medianOf(runs, [](const RunTimes &run) { return run.endToEnd; });
  summary.between50 =
      medianOf(runs, [](const RunTimes &run) { return percentile(run.betweenTokens, 0.5); });
  summary.between99 =
      medianOf(runs, [](const RunTimes &run) { return percentile(run.betweenTokens, 0.99); });
  summary.promptRate = double(options.promptLength) * options.batch / summary.firstTokens;
  const double decoding = medianOf(runs, [](const RunTimes &run) {
    return std::accumulate(run.betweenTokens.begin(), run.betweenTokens.end(), 0.0);
  });
  if (options.generated > 1)
    summary.newRate = double(options.generated - 1) * options.batch / decoding;
  return summary;
}

uint32_t threadsOf(const BenchOptions &options) {
  return options.model.threads ? options.model.threads : std::thread::hardware_concurrency();
}

void printSummary(const Summary &summary, const BenchOptions &options,
                  const llmc_model_info &info) {
  print(formatted("%s: %s for %s, threads %u, prompt %u, new %u, batch %u, runs %u\n",
                  escaped(*info.name ? info.name : options.model.path, 4096).c_str(),
                  escaped(info.level).c_str(), escaped(info.cpu).c_str(), threadsOf(options),
                  options.promptLength, options.generated, options.batch, options.repeats));
  print(formatted("time to first token  %s  (%.1f prompt tok/s)\n",
                  timeInWords(summary.firstTokens).c_str(), summary.promptRate));
  if (options.generated > 1) {
    print(formatted("between tokens       p50 %s, p99 %s\n", timeInWords(summary.between50).c_str(),
                    timeInWords(summary.between99).c_str()));
    print(formatted("throughput           %.1f new tok/s\n", summary.newRate));
  }
  print(formatted("end to end           %s\n", timeInWords(summary.endToEnd).c_str()));
}

void printCosts(const std::vector<CommandCost> &costs) {
  Table table({"graph", "command", "kernel", ">count", ">us", ">share"});
  for (const CommandCost &cost : costs)
    table.add({cost.graph, cost.name, cost.kernel, std::to_string(cost.count),
               formatted("%.1f", cost.microseconds), formatted("%.1f %%", cost.share * 100)});
  print("\n" + table.text());
}

Json costsPart(const std::vector<CommandCost> &costs) {
  Json part = Json::array();
  for (const CommandCost &cost : costs)
    part.push_back({{"graph", cost.graph},
                    {"name", cost.name},
                    {"kernel", cost.kernel},
                    {"count", cost.count},
                    {"microseconds", cost.microseconds},
                    {"share", cost.share}});
  return part;
}

Json runsPart(const std::vector<RunTimes> &runs) {
  Json part = Json::array();
  for (const RunTimes &run : runs)
    part.push_back({{"ttft_s", run.firstTokens},
                    {"end_to_end_s", run.endToEnd},
                    {"inter_token_s", run.betweenTokens}});
  return part;
}

Json report(const Summary &summary, const BenchOptions &options, const llmc_model_info &info) {
  const Json none = nullptr;
  const bool decodes = options.generated > 1;
  return {{"schema", kSchema},
          {"llmc_version", LLMC_VERSION},
          {"model", {{"name", info.name}, {"level", info.level}, {"cpu", info.cpu}}},
          {"options",
           {{"prompt_len", options.promptLength},
            {"gen", options.generated},
            {"batch", options.batch},
            {"threads", threadsOf(options)},
            {"repeat", options.repeats}}},
          {"ttft_s", summary.firstTokens},
          {"inter_token_p50_s", decodes ? Json(summary.between50) : none},
          {"inter_token_p99_s", decodes ? Json(summary.between99) : none},
          {"end_to_end_s", summary.endToEnd},
          {"prompt_tokens_per_s", summary.promptRate},
          {"new_tokens_per_s", decodes ? Json(summary.newRate) : none}};
}

// Steps timed command by command; `prefills` and `decodes` get one for each run.
Status timeAll(Workload &workload, uint32_t repeats, std::vector<TimedStep> &prefills,
               std::vector<TimedStep> &decodes) {
  prefills.resize(repeats);
  decodes.resize(repeats);
  for (uint32_t i = 0; i < repeats; ++i)
    if (Status status = workload.timeSteps(prefills[i], decodes[i]); !status)
      return status;
  return {};
}

} // namespace

Status benchModel(const BenchOptions &options) {
  Result<LoadedModel> loaded = loadModel(options.model, nullptr);
  if (!loaded)
    return loaded.takeError();
  Result<Workload> workload = Workload::prepare(*loaded, options);
  if (!workload)
    return workload.takeError();
  std::vector<RunTimes> runs;
  for (uint32_t i = 0; i <= options.repeats; ++i) {
    Result<RunTimes> run = workload->run();
    if (!run)
      return run.takeError();
    if (i) // the first one warms up
      runs.push_back(std::move(*run));
  }
  const Summary summary = summarise(runs, options);
  printSummary(summary, options, loaded->info);

  const bool wantsTable = options.perOp || options.byKind;
  std::vector<TimedStep> prefills, decodes;
  if (wantsTable || !options.trace.empty())
    if (Status status = timeAll(*workload, options.repeats, prefills, decodes); !status)
      return status;
  Json json = report(summary, options, loaded->info);
  if (wantsTable) {
    std::vector<CommandCost> costs = commandCosts(prefills, options.byKind);
    const std::vector<CommandCost> decodeCosts = commandCosts(decodes, options.byKind);
    costs.insert(costs.end(), decodeCosts.begin(), decodeCosts.end());
    printCosts(costs);
    json["per_op"] = costsPart(costs);
  }
  json["runs"] = runsPart(runs);
  if (!options.json.empty())
    if (Status status = writeWholeFile(
            options.json, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
        !status)
      return status;
  if (!options.trace.empty())
    if (Status status = writeTrace(options.trace, {prefills.back(), decodes.back()}); !status)
      return status;
  return finishOutput();
}

} // namespace llmc::tool
