// SPDX-License-Identifier: Apache-2.0
// The side of `llmc bench --start` that is launched. It does what `llmc run` does, and measures its
// memory after the token is out.
#include "tools/llmc/bench/FirstToken.h"
#include "runtime/engine/Inspect.h"
#include "tools/llmc/Clock.h"
#include "tools/llmc/Format.h"
#include "tools/llmc/bench/BenchOptions.h"
#include "tools/llmc/bench/Modes.h"
#include <cinttypes>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace llmc::tool {
namespace {

constexpr char kText[] = "The capital of Japan is the city of";

// The first tokens of a text, or of anything where the model has no tokenizer.
std::vector<int32_t> promptOf(const LoadedModel &loaded) {
  int32_t tokens[sizeof kText + 8] = {};
  size_t count = 0;
  // Too little text, or none, leaves zeros, which are tokens of every model.
  llmc_encode(loaded.model.get(), kText, sizeof kText - 1, LLMC_ENCODE_ADD_SPECIAL, tokens,
              std::size(tokens), &count, nullptr);
  return {tokens, tokens + kFirstPrompt};
}

// "VmHWM:   1234 kB" of /proc/self/status, or "Rss:" of a mapping.
uint64_t kibibytes(const std::string &line, const char *name) {
  unsigned long long value = 0;
  const std::string format = std::string(name) + " %llu kB";
  return sscanf(line.c_str(), format.c_str(), &value) == 1 ? value * 1024 : 0;
}

std::string realPath(const std::string &path) {
  char *resolved = path.empty() ? nullptr : realpath(path.c_str(), nullptr);
  const std::string text = resolved ? resolved : "";
  free(resolved);
  return text;
}

// The separate file of a model that has one: given, or beside it.
std::string weightsPath(const ModelOptions &model, const LoadedModel &loaded) {
  const char *name = inspect::artifactOf(loaded.model.get()).weights_file;
  if (!name || !model.weights.empty())
    return model.weights;
  return model.path.substr(0, model.path.rfind('/') + 1) + name;
}

void measureMemory(const ModelOptions &model, const LoadedModel &loaded, FirstToken &first) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    first.peak += kibibytes(line, "VmHWM:");
    first.anonymous += kibibytes(line, "RssAnon:") + kibibytes(line, "RssShmem:");
  }
  // A line with the path, then lines about that mapping.
  const std::string path = realPath(model.path), weights = realPath(weightsPath(model, loaded));
  std::ifstream maps("/proc/self/smaps");
  bool isModel = false;
  for (std::string line; std::getline(maps, line);) {
    const size_t slash = line.find('/');
    const bool isMapping = line.find('-') < line.find(' ');
    if (isMapping) {
      const std::string file = slash == line.npos ? "" : line.substr(slash);
      isModel = !file.empty() && (file == path || file == weights);
    } else if (isModel) {
      first.modelFile += kibibytes(line, "Rss:");
    }
  }
}

Result<SessionOwner> openSession(const LoadedModel &loaded) {
  llmc_session_options sizes = {};
  sizes.max_tokens = std::min(kFirstSession, loaded.info.max_positions);
  return makeSession(loaded, sizes);
}

} // namespace

std::string toLine(const FirstToken &first) {
  return formatted("first-token %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                   " %" PRIu64 " %" PRIu64 "\n",
                   first.begun, first.opened, first.session, first.token, first.peak,
                   first.modelFile, first.anonymous);
}

bool fromLine(const std::string &line, FirstToken &first) {
  return sscanf(line.c_str(),
                "first-token %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                " %" SCNu64,
                &first.begun, &first.opened, &first.session, &first.token, &first.peak,
                &first.modelFile, &first.anonymous) == 7;
}

Status runFirstToken(const BenchOptions &options) {
  FirstToken first;
  first.begun = nanosecondsNow();
  ModelOptions model = options.model;
  model.threads = threadsOf(options).front();
  Result<LoadedModel> loaded = loadModel(model, nullptr);
  if (!loaded)
    return loaded.takeError();
  const std::vector<int32_t> prompt = promptOf(*loaded);
  first.opened = nanosecondsNow();
  Result<SessionOwner> session = openSession(*loaded);
  if (!session)
    return session.takeError();
  first.session = nanosecondsNow();
  CallError error;
  llmc_sequence *sequence = nullptr;
  llmc_step_result result{};
  result.struct_size = sizeof result;
  if (llmc_sequence_create(session->get(), &sequence, error.raw()) ||
      llmc_prefill(session->get(), sequence, prompt.data(), kFirstPrompt, &result, error.raw()))
    return error.take();
  Result<int32_t> token = pickToken(*loaded, result, 0);
  if (!token)
    return token.takeError();
  first.token = nanosecondsNow();
  print({&kFirstTokenReady, 1});
  if (Status status = finishOutput(); !status)
    return status;
  measureMemory(model, *loaded, first);
  print(toLine(first));
  return finishOutput();
}

} // namespace llmc::tool
