// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/LogitsSource.h"
#include "tools/llmc/CompileOnce.h"
#include "tools/llmc/Format.h"
#include "tools/llmc/NpyReader.h"
#include <algorithm>
#include <cstring>

namespace llmc::tool {
namespace {

class ModelSource : public LogitsSource {
public:
  explicit ModelSource(LoadedModel loaded) : loaded(std::move(loaded)) {}

  Status start(uint32_t longest, uint32_t mostRows) {
    if (longest > loaded.info.max_positions)
      return errorAt(loaded.path, "",
                     formatted("found a model of %u positions, expected at least the window of %u; "
                               "lower --window or compile with a larger --max-seq",
                               loaded.info.max_positions, longest));
    llmc_session_options sizes = {};
    sizes.max_tokens = longest;
    sizes.max_rows = sizes.max_outputs = std::min(mostRows, longest);
    Result<SessionOwner> made = makeSession(loaded, sizes);
    if (!made)
      return made.takeError();
    session = std::move(*made);
    CallError error;
    if (llmc_sequence_create(session.get(), &sequence, error.raw()))
      return error.take();
    return {};
  }

  Status begin() override {
    CallError error;
    if (llmc_sequence_truncate(sequence, 0, error.raw()))
      return error.take();
    return {};
  }

  Result<const float *> next(const int32_t *tokens, uint32_t count) override {
    const llmc_rows rows = {sizeof rows, count, sequence, tokens, LLMC_OUTPUTS_ALL, 0, nullptr};
    CallError error;
    llmc_step_result result = {};
    result.struct_size = sizeof result;
    if (llmc_session_step(session.get(), &rows, 1, nullptr, &result, error.raw()))
      return error.take();
    return result.logits;
  }

  uint32_t vocabulary() const override { return loaded.info.vocabulary; }

private:
  LoadedModel loaded;
  SessionOwner session; // after the model, so that it goes first
  llmc_sequence *sequence = nullptr;
};

class NpySource : public LogitsSource {
public:
  explicit NpySource(NpyReader reader) : reader(std::move(reader)) {}
  Status begin() override { return {}; }
  Result<const float *> next(const int32_t *, uint32_t count) override {
    rows.resize(static_cast<size_t>(count) * reader.columns());
    if (Status status = reader.readRows(rows.data(), count); !status)
      return status.takeError();
    return rows.data();
  }
  uint32_t vocabulary() const override { return static_cast<uint32_t>(reader.columns()); }

private:
  NpyReader reader;
  std::vector<float> rows;
};

enum class Kind { Artifact, Npy, Uncompiled };

Kind kindOf(const std::string &path) {
  char start[6] = {};
  if (FILE *file = fopen(path.c_str(), "rb")) {
    const size_t count = fread(start, 1, sizeof start, file); // 0 of a folder
    fclose(file);
    if (count == sizeof start && !memcmp(start, "\x93NUMPY", 6))
      return Kind::Npy;
    if (count == sizeof start && !memcmp(start,
                                         "\x7f"
                                         "ELF",
                                         4))
      return Kind::Artifact;
  }
  return Kind::Uncompiled;
}

Result<std::unique_ptr<LogitsSource>> sourceOfNpy(const std::string &path, uint64_t tokens) {
  Result<NpyReader> reader = NpyReader::open(path);
  if (!reader)
    return reader.takeError();
  if (reader->rows() != tokens || !reader->columns() || reader->columns() > INT32_MAX)
    return errorAt(
        path, "shape",
        formatted("found %llu rows of %llu, expected a row of logits for each of the %llu "
                  "tokens",
                  static_cast<unsigned long long>(reader->rows()),
                  static_cast<unsigned long long>(reader->columns()),
                  static_cast<unsigned long long>(tokens)));
  return std::unique_ptr<LogitsSource>(new NpySource(std::move(*reader)));
}

} // namespace

Result<std::unique_ptr<LogitsSource>> sourceOfModel(LoadedModel loaded, uint32_t longest,
                                                    uint32_t mostRows) {
  auto source = std::make_unique<ModelSource>(std::move(loaded));
  if (Status status = source->start(longest, mostRows); !status)
    return status.takeError();
  return std::unique_ptr<LogitsSource>(std::move(source));
}

Result<std::unique_ptr<LogitsSource>> sourceOf(const std::string &path, uint32_t threads,
                                               uint32_t longest, uint32_t mostRows,
                                               uint64_t tokens) {
  const Kind kind = kindOf(path);
  if (kind == Kind::Npy)
    return sourceOfNpy(path, tokens);
  ModelOptions options;
  options.path = path;
  options.threads = threads;
  Result<LoadedModel> loaded =
      kind == Kind::Artifact ? loadModel(options, nullptr) : compileAndLoad(options, longest);
  if (!loaded)
    return loaded.takeError();
  return sourceOfModel(std::move(*loaded), longest, mostRows);
}

} // namespace llmc::tool
