// SPDX-License-Identifier: Apache-2.0
// `llmc bench --busy-neighbour`: decoding while another process keeps a processor busy, against
// decoding with one thread while nothing does. In rounds, so that a ratio is of runs that lie side
// by side.
#include "tools/llmc/Format.h"
#include "tools/llmc/bench/BenchOptions.h"
#include "tools/llmc/bench/Modes.h"
#include "tools/llmc/bench/Neighbour.h"
#include "tools/llmc/bench/Workload.h"
#include <nlohmann/json.hpp>

namespace llmc::tool {
namespace {

// A model in use with some number of threads.
struct Decoder {
  LoadedModel loaded;
  std::optional<Workload> workload;

  Result<double> tokensPerSecond() {
    Result<std::vector<StepRan>> ran = workload->run();
    if (!ran)
      return ran.takeError();
    double seconds = 0;
    for (const StepRan &step : *ran)
      seconds += step.seconds;
    return static_cast<double>(workload->tokens()) / seconds;
  }
};

Status prepare(BenchOptions &options, uint32_t threads, Decoder &decoder) {
  ModelOptions model = options.model;
  model.threads = threads;
  Result<LoadedModel> loaded = loadModel(model, nullptr);
  if (!loaded)
    return loaded.takeError();
  decoder.loaded = std::move(*loaded);
  if (Status status = fitSizes(options, decoder.loaded.info); !status)
    return status;
  Result<Workload> workload =
      Workload::ofDecode(decoder.loaded, options.depths[0], options.batches[0], options.generated);
  if (!workload)
    return workload.takeError();
  decoder.workload.emplace(std::move(*workload));
  if (Result<double> warm = decoder.tokensPerSecond(); !warm)
    return warm.takeError();
  return decoder.workload->checkLogits();
}

struct Rates {
  std::vector<double> quietOne, quietAll, busyOne, busyAll, ratios;
};

Status measureInto(Decoder &decoder, std::vector<double> &rates) {
  Result<double> rate = decoder.tokensPerSecond();
  if (!rate)
    return rate.takeError();
  rates.push_back(*rate);
  return {};
}

Status measureRound(Decoder &one, Decoder &all, int processor, int nice, Rates &rates) {
  if (Status status = measureInto(one, rates.quietOne); !status)
    return status;
  if (Status status = measureInto(all, rates.quietAll); !status)
    return status;
  Result<std::unique_ptr<Neighbour>> neighbour = Neighbour::start(processor, nice);
  if (!neighbour)
    return neighbour.takeError();
  if (Status status = measureInto(all, rates.busyAll); !status)
    return status;
  if (Status status = measureInto(one, rates.busyOne); !status)
    return status;
  rates.ratios.push_back(rates.busyAll.back() / rates.quietOne.back());
  return {};
}

void printRates(const BenchOptions &options, uint32_t threads, const Rates &rates) {
  print(formatted("busy neighbour: a process of nice %d spins on one processor, on another in each "
                  "round\ndecode of %u steps at depth %u, batch %u; %u rounds\n\n",
                  options.nice, options.generated, options.depths[0], options.batches[0],
                  options.repeats));
  Table table({"", ">threads", ">tok/s", ">quartiles"});
  const auto add = [&](const char *what, uint32_t count, const std::vector<double> &values) {
    const Spread spread = spreadOf(values);
    table.add({what, std::to_string(count), formatted("%.1f", spread.median),
               formatted("%.1f..%.1f", spread.q1, spread.q3)});
  };
  add("quiet", 1, rates.quietOne);
  add("quiet", threads, rates.quietAll);
  add("with neighbour", 1, rates.busyOne);
  add("with neighbour", threads, rates.busyAll);
  const Spread ratio = spreadOf(rates.ratios);
  print(table.text() +
        formatted("\nwith neighbour and %u threads: %.0f %% of one thread's speed when quiet "
                  "(%.0f..%.0f %%)\n",
                  threads, ratio.median * 100, ratio.q1 * 100, ratio.q3 * 100));
}

} // namespace

Status benchNeighbour(BenchOptions &options, Setting &setting, Json &json) {
  const uint32_t threads = threadsOf(options).back();
  Decoder one, all;
  if (Status status = prepare(options, 1, one); !status)
    return status;
  if (Status status = prepare(options, threads, all); !status)
    return status;
  setting = settingOf(one.loaded, judgeOf(one.loaded));
  const std::vector<int> processors = allowedProcessors();
  Rates rates;
  for (uint32_t round = 0; round < options.repeats; ++round)
    if (Status status =
            measureRound(one, all, processors[round % processors.size()], options.nice, rates);
        !status)
      return status;
  printSetting(setting);
  printRates(options, threads, rates);
  json["busy_neighbour"] = {{"nice", options.nice},
                            {"threads", threads},
                            {"depth", options.depths[0]},
                            {"batch", options.batches[0]},
                            {"gen", options.generated},
                            {"rounds", options.repeats},
                            {"quiet_1_thread_tokens_per_s", spreadPart(spreadOf(rates.quietOne))},
                            {"quiet_tokens_per_s", spreadPart(spreadOf(rates.quietAll))},
                            {"busy_1_thread_tokens_per_s", spreadPart(spreadOf(rates.busyOne))},
                            {"busy_tokens_per_s", spreadPart(spreadOf(rates.busyAll))},
                            {"of_quiet_1_thread", spreadPart(spreadOf(rates.ratios))}};
  return {};
}

} // namespace llmc::tool
