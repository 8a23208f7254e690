// SPDX-License-Identifier: Apache-2.0
// `llmc eval`: how well a model predicts a text, and how far its logits are from another's. The
// text is cut into windows, each a text of its own; logits come a few rows at a time and are gone
// again.
#include "llmc/text.h"
#include "tools/llmc/Clock.h"
#include "tools/llmc/EvalStatistics.h"
#include "tools/llmc/Format.h"
#include "tools/llmc/LogitsSource.h"
#include "tools/llmc/ModelText.h"
#include "tools/llmc/TokenIds.h"
#include <algorithm>
#include <cmath>
#include <unistd.h>

namespace llmc::tool {
namespace {

constexpr uint64_t kLogitsBytes = uint64_t(64) << 20; // held at a time, of each model
constexpr uint32_t kMostRows = 256;

// The tokens of all windows, one after the other.
struct EvalText {
  std::string where;
  std::vector<int32_t> tokens;
  std::vector<size_t> starts; // of windows, and the end
  uint32_t prefix = 0;        // tokens at the front of each that are not predicted
};

// Every window begins as a text of its own would, with the model's BOS where it has one.
EvalText cutIntoWindows(const std::vector<int32_t> &prefix, const std::vector<int32_t> &body,
                        uint32_t window) {
  EvalText text;
  text.prefix = static_cast<uint32_t>(prefix.size());
  const size_t step = window - prefix.size();
  for (size_t at = 0; at < body.size(); at += step) {
    text.starts.push_back(text.tokens.size());
    text.tokens.insert(text.tokens.end(), prefix.begin(), prefix.end());
    const size_t end = std::min(body.size(), at + step);
    text.tokens.insert(text.tokens.end(), body.begin() + static_cast<long>(at),
                       body.begin() + static_cast<long>(end));
  }
  text.starts.push_back(text.tokens.size());
  return text;
}

Result<std::vector<int32_t>> prefixOf(const LoadedModel &loaded) {
  CallError error;
  llmc_tokenizer_info info = {};
  info.struct_size = sizeof info;
  if (llmc_model_get_tokenizer_info(loaded.model.get(), &info, error.raw()))
    return errorAt(loaded.path, "", error.take().message);
  std::vector<int32_t> tokens(info.n_prefix + info.n_suffix + 1u);
  size_t count = 0;
  if (llmc_encode(loaded.model.get(), "", 0, LLMC_ENCODE_ADD_SPECIAL, tokens.data(), tokens.size(),
                  &count, error.raw()))
    return errorAt(loaded.path, "", error.take().message);
  tokens.resize(std::min<size_t>(count, info.n_prefix));
  return tokens;
}

Result<std::vector<int32_t>> readIds(const std::string &path, uint32_t vocabulary) {
  Result<std::string> text = readIdsFile(path);
  if (!text)
    return text.takeError();
  const ParsedIds parsed = parseIds(*text);
  if (!parsed.badPlace.empty())
    return errorAt(path, parsed.badPlace, parsed.badText);
  std::vector<int32_t> tokens;
  for (const int64_t id : parsed.ids) {
    if (id < 0 || id >= vocabulary)
      return errorAt(
          path, formatted("id %zu", tokens.size() + 1),
          formatted("found %lld, expected 0 to %u", static_cast<long long>(id), vocabulary - 1));
    tokens.push_back(static_cast<int32_t>(id));
  }
  return tokens;
}

Result<EvalText> readEvalText(const EvalOptions &options, const LoadedModel &loaded) {
  std::vector<int32_t> prefix;
  Result<std::vector<int32_t>> body = std::vector<int32_t>();
  if (options.isIds) {
    body = readIds(options.file, loaded.info.vocabulary);
  } else {
    Result<std::string> text = readTextFile(options.file);
    if (!text)
      return text.takeError();
    Result<std::vector<int32_t>> special = prefixOf(loaded);
    if (!special)
      return special.takeError();
    prefix = std::move(*special);
    body = encodeText(loaded, options.file, *text, 0);
  }
  if (!body)
    return body.takeError();
  if (options.tokens && options.tokens < body->size())
    body->resize(options.tokens);
  if (body->size() + prefix.size() < 2)
    return errorAt(options.file, "",
                   formatted("found %zu tokens, expected at least 2: the first predicts the second",
                             body->size()));
  const uint32_t window = options.window ? options.window : loaded.info.max_positions;
  if (window > loaded.info.max_positions || window < prefix.size() + 2)
    return errorAt("--window", "",
                   formatted("found %u, expected %zu to %u, the model's positions", window,
                             prefix.size() + 2, loaded.info.max_positions));
  EvalText text = cutIntoWindows(prefix, *body, window);
  text.where = options.file;
  return text;
}

// Of all rows so far.
struct Tally {
  std::vector<double> losses, otherLosses; // of predicted tokens
  std::vector<double> divergences;         // of all rows
  uint64_t agreements = 0;
};

class Evaluation {
public:
  Evaluation(const EvalText &text, LogitsSource &model, LogitsSource *other)
      : text(text), model(model), other(other), vocabulary(model.vocabulary()) {}

  Status run(uint32_t mostRows) {
    for (size_t window = 0; window + 1 < text.starts.size(); ++window)
      if (Status status = runWindow(text.starts[window], text.starts[window + 1], mostRows);
          !status)
        return status;
    return {};
  }
  const Tally &tally() const { return total; }

private:
  Status runWindow(size_t begin, size_t end, uint32_t mostRows);
  Status take(size_t row, size_t begin, size_t end, const float *logits, const float *others);
  void tell(size_t done) const {
    if (isatty(STDERR_FILENO))
      fprintf(stderr, done < text.tokens.size() ? "\r%zu of %zu tokens" : "\r\033[K", done,
              text.tokens.size());
  }

  const EvalText &text;
  LogitsSource &model;
  LogitsSource *other; // may be null
  const uint32_t vocabulary;
  Tally total;
};

Status Evaluation::runWindow(size_t begin, size_t end, uint32_t mostRows) {
  for (LogitsSource *source : {&model, other})
    if (source)
      if (Status status = source->begin(); !status)
        return status;
  for (size_t at = begin; at < end;) {
    const auto count = static_cast<uint32_t>(std::min<size_t>(mostRows, end - at));
    Result<const float *> logits = model.next(&text.tokens[at], count);
    if (!logits)
      return logits.takeError();
    Result<const float *> others = other ? other->next(&text.tokens[at], count) : nullptr;
    if (!others)
      return others.takeError();
    for (uint32_t row = 0; row < count; ++row) {
      const size_t offset = static_cast<size_t>(row) * vocabulary;
      if (Status status =
              take(at + row, begin, end, *logits + offset, other ? *others + offset : nullptr);
          !status)
        return status;
    }
    at += count;
    tell(at);
  }
  return {};
}

Status Evaluation::take(size_t row, size_t begin, size_t end, const float *logits,
                        const float *others) {
  // The prefix is given, not predicted; and nothing follows the last token.
  const bool predicts = row + 1 < end && row + 1 >= begin + text.prefix;
  const double sum = logSumExp(logits, vocabulary);
  const double otherSum = others ? logSumExp(others, vocabulary) : 0;
  if (!std::isfinite(sum) || !std::isfinite(otherSum))
    return errorAt(
        text.where, formatted("token %zu", row + 1),
        std::string("found a logit that is no number in ") +
            (std::isfinite(sum) ? "the other model" : "the model") +
            ", expected finite ones; the weights may be damaged, 'llmc inspect --verify' "
            "tells");
  const auto token = predicts ? static_cast<size_t>(text.tokens[row + 1]) : 0;
  if (predicts)
    total.losses.push_back(sum - static_cast<double>(logits[token]));
  if (!others)
    return {};
  if (predicts)
    total.otherLosses.push_back(otherSum - static_cast<double>(others[token]));
  total.divergences.push_back(divergence(others, otherSum, logits, sum, vocabulary));
  total.agreements += llmc_argmax(logits, vocabulary) == llmc_argmax(others, vocabulary);
  return {};
}

void printLosses(const char *whose, const std::vector<double> &losses) {
  const double mean = meanOf(losses);
  print(
      formatted("%smean NLL: %.6f nats\n%sperplexity: %.6g\n", whose, mean, whose, std::exp(mean)));
}

void report(const EvalOptions &options, const EvalText &text, const Tally &tally) {
  print(formatted("tokens: %zu in %zu window%s, %zu predicted\n", text.tokens.size(),
                  text.starts.size() - 1, text.starts.size() == 2 ? "" : "s", tally.losses.size()));
  printLosses("", tally.losses);
  if (options.against.empty())
    return;
  print("against: " + escaped(options.against) + "\n");
  printLosses("its ", tally.otherLosses);
  const std::vector<double> &divergences = tally.divergences;
  print(formatted("mean KL: %.4g nats\np99 KL: %.4g nats\nlargest KL: %.4g nats\n",
                  meanOf(divergences), percentile99(divergences),
                  *std::max_element(divergences.begin(), divergences.end())));
  print(formatted("top-1 agreement: %.2f %%\n", 100 * static_cast<double>(tally.agreements) /
                                                    static_cast<double>(divergences.size())));
}

uint32_t longestWindow(const EvalText &text) {
  size_t longest = 0;
  for (size_t i = 0; i + 1 < text.starts.size(); ++i)
    longest = std::max(longest, text.starts[i + 1] - text.starts[i]);
  return static_cast<uint32_t>(longest);
}

} // namespace

Status evalModel(const EvalOptions &options) {
  Result<LoadedModel> loaded = loadModel(options.model, nullptr);
  if (!loaded)
    return loaded.takeError();
  Result<EvalText> text = readEvalText(options, *loaded);
  if (!text)
    return text.takeError();
  const uint32_t longest = longestWindow(*text);
  const uint64_t fitting = kLogitsBytes / (uint64_t(loaded->info.vocabulary) * sizeof(float));
  const auto mostRows = static_cast<uint32_t>(std::clamp<uint64_t>(fitting, 1, kMostRows));
  Result<std::unique_ptr<LogitsSource>> model =
      sourceOfModel(std::move(*loaded), longest, mostRows);
  if (!model)
    return model.takeError();
  Result<std::unique_ptr<LogitsSource>> other = std::unique_ptr<LogitsSource>();
  if (!options.against.empty())
    other =
        sourceOf(options.against, options.model.threads, longest, mostRows, text->tokens.size());
  if (!other)
    return other.takeError();
  if (*other && (*other)->vocabulary() != (*model)->vocabulary())
    return errorAt(options.against, "vocabulary",
                   formatted("found %u, expected %u as in %s", (*other)->vocabulary(),
                             (*model)->vocabulary(), escaped(options.model.path).c_str()));
  const double begin = secondsNow();
  Evaluation evaluation(*text, **model, other->get());
  if (Status status = evaluation.run(mostRows); !status)
    return status;
  report(options, *text, evaluation.tally());
  fprintf(stderr, "evaluated in %s\n", timeInWords(secondsNow() - begin).c_str());
  return finishOutput();
}

} // namespace llmc::tool
