// SPDX-License-Identifier: Apache-2.0
// The options of `llmc bench`, most of which take lists.
#include "tools/llmc/CommandLineParts.h"
#include <algorithm>
#include <charconv>

namespace llmc::tool {
namespace {

constexpr size_t kMostValues = 64;

// "1,4,8"; false where it is something else.
bool readList(const std::string &text, uint32_t least, uint32_t most,
              std::vector<uint32_t> &values) {
  values.clear();
  const char *at = text.data(), *end = at + text.size();
  for (;;) {
    uint32_t value = 0;
    const auto [read, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < least || value > most || values.size() == kMostValues)
      return false;
    values.push_back(value);
    if (read == end)
      return true;
    if (*read != ',')
      return false;
    at = read + 1;
  }
}

std::string inWords(const std::vector<uint32_t> &values) {
  std::string text;
  for (const uint32_t value : values)
    text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

CLI::Option *declareList(CLI::App &app, const char *name, std::vector<uint32_t> &values,
                         std::string about, uint32_t least, uint32_t most) {
  if (!values.empty())
    about += " [" + inWords(values) + "]";
  return app
      .add_option_function<std::string>(
          name,
          [&values, least, most](const std::string &text) { readList(text, least, most, values); },
          about)
      ->type_name("N,N")
      ->check([least, most](const std::string &text) -> std::string {
        std::vector<uint32_t> values;
        if (readList(text, least, most, values))
          return "";
        return "found " + escaped(text, 40) + ", expected at most " + std::to_string(kMostValues) +
               " whole numbers from " + std::to_string(least) + " to " + std::to_string(most) +
               ", as in 1,2,4";
      });
}

// What is done instead of rows: told in the help's last lines. Gives back --nice.
CLI::Option *declareModes(CLI::App &app, BenchOptions &options) {
  CLI::Option *nice =
      app.add_option("--nice", options.nice)->check(CLI::Range(-20, 19).description(""));
  for (CLI::Option *option :
       {nice, app.add_option("--compare", options.compare)->expected(2),
        app.add_flag("--busy-neighbour", options.busyNeighbour),
        app.add_flag("--start", options.start), app.add_flag("--first-token", options.firstToken)})
    option->group(kHiddenGroup);
  return nice;
}

// What cannot go together, so that no option is passed over in silence.
void checkBench(const BenchOptions &options, bool hasModel, bool hasNice, bool hasLengths) {
  const bool compares = !options.compare.empty();
  if (compares == hasModel)
    throw CLI::ValidationError(compares ? "found a model with --compare, expected two files alone"
                                        : "found no model, expected one, or --compare");
  if (compares + options.busyNeighbour + options.start > 1)
    throw CLI::ValidationError("found several of --compare, --busy-neighbour and --start, expected "
                               "one");
  if (hasNice && !options.busyNeighbour)
    throw CLI::ValidationError("found --nice alone, expected --busy-neighbour with it");
  const bool hasRows = !compares && !options.busyNeighbour && !options.start;
  if (!hasRows && (options.perOp || options.byKind || !options.trace.empty()))
    throw CLI::ValidationError("found --per-op, --by-kind or --trace without rows, expected them "
                               "without --compare, --busy-neighbour and --start");
  if (options.start && hasLengths)
    throw CLI::ValidationError("found --prompt-len, --gen, --depth or --batch with --start, expected none: its prompt has 5 tokens");
  const auto isZero = [](uint32_t length) { return length == 0; };
  if (hasRows && !options.generated && std::all_of(options.promptLengths.begin(), options.promptLengths.end(), isZero))
    throw CLI::ValidationError("found --prompt-len 0 and --gen 0, expected something to measure");
  if (compares && !options.json.empty())
    throw CLI::ValidationError("found --json with --compare, which writes none");
  if (options.busyNeighbour && !options.generated)
    throw CLI::ValidationError("found --gen 0 with --busy-neighbour, expected 1 or more");
}

} // namespace

Body declareBench(CLI::App &app) {
  auto options = std::make_shared<BenchOptions>();
  declareModel(app, options->model);
  declareWeightsPlace(app, options->model);
  CLI::Option *prompts = declareList(app, "--prompt-len", options->promptLengths,
                                     "prompts to prefill, in tokens; 0: none", 0, kMostTokens);
  CLI::Option *steps =
      declareCount(app, "--gen", options->generated, "steps of a decode; 0: none", 0, kMostTokens)
          ->capture_default_str();
  CLI::Option *depths = declareList(app, "--depth", options->depths, "tokens that a sequence holds before them", 0,
              kMostTokens);
  CLI::Option *batches = declareList(app, "--batch", options->batches, "sequences decoded together", 1, kMostTokens);
  declareList(app, "--threads", options->threads, "threads of a step [all cores]", 1, kMostThreads);
  declareCount(app, "--repeat", options->repeats, "runs of each row after one to warm up", 1,
               100000)
      ->capture_default_str();
  app.add_flag("--per-op", options->perOp, "time of each command against its bound, worst first");
  app.add_flag("--by-kind", options->byKind, "the same, summed over layers");
  app.add_option("--json", options->json, "write all of it as JSON (schema 2)")->type_name("F");
  app.add_option("--trace", options->trace, "write a prefill and a decode step for Perfetto")
      ->type_name("F");
  CLI::Option *nice = declareModes(app, *options);
  app.footer(
      "Runs are held against what the machine reads and computes just before and after. "
      "Instead of rows:\n"
      "--busy-neighbour [--nice N], --start (first token of a new process), --compare A.json "
      "B.json\n"
      "  llmc bench model.so --prompt-len 32,512 --depth 0,1024 --threads 1,2 --by-kind");
  CLI::Option *model = app.get_option("model")->required(false);
  app.callback([=] {
    const bool hasLengths = prompts->count() + steps->count() + depths->count() + batches->count() > 0;
    checkBench(*options, model->count(), nice->count(), hasLengths);
    options->fitsPrompts = !prompts->count();
    options->fitsGenerated = !steps->count();
  });
  return [options] { return benchModel(*options); };
}

} // namespace llmc::tool
