// SPDX-License-Identifier: Apache-2.0
// `llmc bench --start`: this program launched anew, from the launch to the first token.
#include "tools/llmc/Clock.h"
#include "tools/llmc/Format.h"
#include "tools/llmc/RemoveOnSignal.h"
#include "tools/llmc/bench/BenchOptions.h"
#include "tools/llmc/bench/FirstToken.h"
#include "tools/llmc/bench/Modes.h"
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace llmc::tool {
namespace {

constexpr char kSelf[] = "/proc/self/exe";

struct Launch {
  double toCommand, toModel, toSession, toToken; // seconds, one after the other
  double total;                                  // to the token's arrival here
  double peak, modelFile, anonymous;             // bytes
};

Error cannotLaunch(const std::string &reason) {
  return errorAt("--start", "", "found no way to launch llmc anew: " + reason);
}

std::vector<std::string> argumentsOf(const ModelOptions &model, uint32_t threads) {
  std::vector<std::string> arguments = {
      "llmc", "bench", model.path, "--threads", std::to_string(threads), "--first-token"};
  if (!model.name.empty())
    arguments.insert(arguments.end(), {"--name", model.name});
  if (model.copiesWeights)
    arguments.insert(arguments.end(), {"--weights", "copy"});
  if (!model.weights.empty())
    arguments.insert(arguments.end(), {"--weights-file", model.weights});
  return arguments;
}

// The child, writing to `output`; its errors go where ours go.
Result<pid_t> spawn(const std::vector<std::string> &arguments, int output, int unused) {
  std::vector<char *> raw;
  for (const std::string &argument : arguments)
    raw.push_back(const_cast<char *>(argument.c_str()));
  raw.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, output);
  posix_spawn_file_actions_addclose(&actions, unused);
  pid_t child = 0;
  const int code = posix_spawn(&child, kSelf, &actions, nullptr, raw.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code)
    return cannotLaunch(strerror(code));
  return child;
}

// All that the child writes, and when its first byte came.
std::string readAll(int input, uint64_t &firstByte) {
  std::string text;
  char piece[512];
  for (;;) {
    const ssize_t count = read(input, piece, sizeof piece);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return text;
    if (text.empty())
      firstByte = nanosecondsNow();
    text.append(piece, static_cast<size_t>(count));
  }
}

double secondsBetween(uint64_t from, uint64_t to) {
  return (static_cast<double>(to) - static_cast<double>(from)) * 1e-9;
}

Result<Launch> launch(const std::vector<std::string> &arguments) {
  int ends[2];
  if (pipe(ends))
    return cannotLaunch(strerror(errno));
  const uint64_t start = nanosecondsNow();
  Result<pid_t> child = spawn(arguments, ends[1], ends[0]);
  close(ends[1]);
  uint64_t arrived = 0;
  std::string text;
  int status = 0;
  if (child) {
    const EndOnSignal guard(*child);
    text = readAll(ends[0], arrived);
    while (waitpid(*child, &status, 0) < 0 && errno == EINTR)
      ;
  }
  close(ends[0]);
  if (!child)
    return child.takeError();
  FirstToken first;
  if (!WIFEXITED(status) || WEXITSTATUS(status) || text.empty() || text[0] != kFirstTokenReady ||
      !fromLine(text.substr(1), first))
    return cannotLaunch("it ended without a token; what it said is above");
  return Launch{secondsBetween(start, first.begun),
                secondsBetween(first.begun, first.opened),
                secondsBetween(first.opened, first.session),
                secondsBetween(first.session, first.token),
                secondsBetween(start, arrived),
                static_cast<double>(first.peak),
                static_cast<double>(first.modelFile),
                static_cast<double>(first.anonymous)};
}

struct Quantity {
  const char *words;
  const char *key;
  double Launch::*value;
};
constexpr Quantity kTimes[] = {
    {"launch to command", "process_s", &Launch::toCommand},
    {"opening the model", "open_s", &Launch::toModel},
    {"making a session", "session_s", &Launch::toSession},
    {"prompt and pick", "step_s", &Launch::toToken},
    {"launch to first token", "first_token_s", &Launch::total},
};

Spread spreadOf(const std::vector<Launch> &launches, double Launch::*value) {
  std::vector<double> values;
  for (const Launch &launch : launches)
    values.push_back(launch.*value);
  return tool::spreadOf(values);
}

Spread beyondFile(const std::vector<Launch> &launches) {
  std::vector<double> values;
  for (const Launch &launch : launches)
    values.push_back(launch.peak - launch.modelFile);
  return tool::spreadOf(values);
}

void printLaunches(const std::vector<Launch> &launches, uint32_t threads) {
  print(formatted("\nstart: %u tokens of prompt, session of %u tokens, %u thread%s, %zu launches\n",
                  kFirstPrompt, kFirstSession, threads, threads == 1 ? "" : "s", launches.size()));
  Table table({"", ">ms", ">quartiles"});
  for (const Quantity &quantity : kTimes) {
    const Spread spread = spreadOf(launches, quantity.value);
    table.add({quantity.words, formatted("%.2f", spread.median * 1e3),
               formatted("%.2f..%.2f", spread.q1 * 1e3, spread.q3 * 1e3)});
  }
  print(table.text() +
        formatted("peak memory %.1f MB, %.1f MB of it pages of the model's file: %.1f MB beyond "
                  "it, %.1f MB of that in no file\n",
                  spreadOf(launches, &Launch::peak).median * 1e-6,
                  spreadOf(launches, &Launch::modelFile).median * 1e-6,
                  beyondFile(launches).median * 1e-6,
                  spreadOf(launches, &Launch::anonymous).median * 1e-6));
}

Json launchesPart(const std::vector<Launch> &launches, uint32_t threads) {
  Json part = {{"launches", launches.size()},
               {"threads", threads},
               {"prompt_tokens", kFirstPrompt},
               {"session_tokens", kFirstSession}};
  for (const Quantity &quantity : kTimes)
    part[quantity.key] = spreadPart(spreadOf(launches, quantity.value));
  part["peak_bytes"] = spreadPart(spreadOf(launches, &Launch::peak));
  part["model_file_bytes"] = spreadPart(spreadOf(launches, &Launch::modelFile));
  part["beyond_file_bytes"] = spreadPart(beyondFile(launches));
  part["anonymous_bytes"] = spreadPart(spreadOf(launches, &Launch::anonymous));
  return part;
}

} // namespace

Status benchStart(BenchOptions &options, Setting &setting, Json &json) {
  // Opened here first: what is wrong with it is said once.
  Result<LoadedModel> loaded = loadModel(options.model, nullptr);
  if (!loaded)
    return loaded.takeError();
  if (loaded->info.max_positions <= kFirstPrompt)
    return errorAt("--start", "",
                   formatted("found a model of %u positions, expected more than %u; compile with a "
                             "larger --max-seq",
                             loaded->info.max_positions, kFirstPrompt));
  setting = settingOf(*loaded, judgeOf(*loaded));
  printSetting(setting);
  json["start"] = Json::array();
  for (const uint32_t threads : threadsOf(options)) {
    const std::vector<std::string> arguments = argumentsOf(options.model, threads);
    std::vector<Launch> launches;
    for (uint32_t i = 0; i <= options.repeats; ++i) {
      Result<Launch> measured = launch(arguments);
      if (!measured)
        return measured.takeError();
      if (i) // the first one warms up
        launches.push_back(*measured);
    }
    printLaunches(launches, threads);
    json["start"].push_back(launchesPart(launches, threads));
  }
  return {};
}

} // namespace llmc::tool
