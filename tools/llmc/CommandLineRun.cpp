// SPDX-License-Identifier: Apache-2.0
// The options of `llmc run`. Help has one screen, so those of sampling are told in its last lines.
#include "llmc/generate.h"
#include "tools/llmc/CommandLineParts.h"
#include "tools/llmc/TokenIds.h"
#include <array>
#include <cfloat>
#include <charconv>
#include <unistd.h>

namespace llmc::tool {
namespace {

std::string checkIdList(const std::string &text) {
  const ParsedIds parsed = parseIds(text);
  return parsed.badPlace.empty() ? "" : parsed.badPlace + ": " + parsed.badText;
}

// A number with a range; CLI11's own check takes NaN and says "Value nan not in range".
CLI::Option *declareNumber(CLI::App &app, const char *name, float &value, float least, float most,
                           const char *range) {
  return app.add_option(name, value, "")
      ->type_name("X")
      ->check([=](const std::string &text) -> std::string {
        char *end = nullptr;
        const float number = std::strtof(text.c_str(), &end);
        if (!text.empty() && !*end && number >= least && number <= most)
          return "";
        return "found " + escaped(text, 40) + ", expected " + range;
      });
}

// The conversion alone takes -1 and what is larger than 64 bits as the largest number.
CLI::Option *declareSeed(CLI::App &app, uint64_t &seed) {
  return app.add_option("--seed", seed, "")
      ->type_name("N")
      ->check([](const std::string &text) -> std::string {
        uint64_t number = 0;
        const char *end = text.data() + text.size();
        const auto [read, error] = std::from_chars(text.data(), end, number);
        if (error == std::errc() && read == end)
          return "";
        return "found " + escaped(text, 40) + ", expected a whole number from 0 to 2^64 - 1";
      });
}

// Left out of the list of options: told at the end of the help, or for tests alone. Options all
// have a group, so that no empty heading is printed for the hidden ones.
void hide(CLI::Option *option) { option->group(kHiddenGroup); }

struct Source {
  PromptSource source;
  CLI::Option *option;
  std::string value;
};
// One of each; addresses stay, since options are bound to them.
using Sources = std::array<Source, 4>;

void declarePrompt(CLI::App &app, RunOptions &options, Sources &sources) {
  const auto declare = [&](size_t index, PromptSource source, const char *name, const char *about,
                           const char *type) {
    sources[index].source = source;
    sources[index].option = app.add_option(name, sources[index].value, about)->type_name(type);
  };
  declare(0, PromptSource::Text, "--prompt", "text to go on with; with --chat a message", "TEXT");
  declare(1, PromptSource::TextFile, "--prompt-file", "", "F");
  declare(2, PromptSource::Ids, "--prompt-ids", "token ids instead; ids are printed too", "1,2,3");
  declare(3, PromptSource::IdsFile, "--prompt-ids-file", "", "F");
  sources[2].option->check(checkIdList);
  hide(sources[1].option);
  hide(sources[3].option);
  app.add_flag("--chat", options.chat, "put the prompt into the model's chat template");
  app.add_option("--system", options.system, "system message before it; means --chat")
      ->type_name("TEXT");
  app.add_option("--stop", options.stop, "text that ends an answer, may be given again")
      ->type_name("TEXT")
      ->allow_extra_args(false);
}

bool isIds(PromptSource source) {
  return source == PromptSource::Ids || source == PromptSource::IdsFile;
}

// Takes the prompt that was given; refuses two of them.
void choosePrompt(const Sources &sources, RunOptions &options) {
  options.source = PromptSource::Conversation;
  std::string chosen;
  for (const Source &source : sources) {
    if (!source.option->count())
      continue;
    if (!chosen.empty())
      throw CLI::ValidationError("found both of " + chosen + " and " + source.option->get_name() +
                                 ", expected one prompt");
    chosen = source.option->get_name();
    options.source = source.source;
    options.prompt = source.value;
  }
  options.chat |= options.system.has_value();
  if (isIds(options.source) && options.chat)
    throw CLI::ValidationError("found --chat or --system with " + chosen +
                               ", expected them with text");
}

// Without a prompt there is a conversation, if somebody is there.
void checkConversation(const RunOptions &options) {
  if (options.source != PromptSource::Conversation)
    return;
  if (!isatty(STDIN_FILENO) && !options.chat)
    throw CLI::ValidationError("found neither of --prompt, --prompt-file, --prompt-ids and "
                               "--prompt-ids-file, expected one of them, or --chat for a "
                               "conversation, a line of input each turn");
  if (!options.logitsOut.empty() || options.printIds)
    throw CLI::ValidationError("found --logits-out or --print-ids in a conversation, expected them "
                               "with a prompt");
}

// Options that mean nothing where the likeliest token is taken.
using NeedTemperature = std::vector<CLI::Option *>;

NeedTemperature declareSampling(CLI::App &app, SamplingOptions &sampling) {
  declareNumber(app, "--temperature", sampling.temperature, 0, FLT_MAX, "a number of 0 or more")
      ->description("of sampling (below) [0: the likeliest token, always]")
      ->type_name("T");
  const char *penalty = "a number from -1e6 to 1e6";
  const NeedTemperature drawing = {
      declareCount(app, "--top-k", sampling.topK, "", 1, kMostTokens),
      declareNumber(app, "--top-p", sampling.topP, FLT_MIN, 1, "a number above 0, at most 1"),
      declareNumber(app, "--min-p", sampling.minP, 0, 1, "a number from 0 to 1"),
  };
  NeedTemperature all = {
      declareNumber(app, "--repeat-penalty", sampling.repetitionPenalty, FLT_MIN, 1e6f,
                    "a number above 0, at most 1e6"),
      declareNumber(app, "--frequency-penalty", sampling.frequencyPenalty, -1e6f, 1e6f, penalty),
      declareNumber(app, "--presence-penalty", sampling.presencePenalty, -1e6f, 1e6f, penalty),
      declareCount(app, "--penalty-window", sampling.penaltyWindow, "", 1, kMostTokens),
      declareSeed(app, sampling.seed),
      app.add_option_function<std::string>("--sampler-order",
                                           [&sampling](const std::string &order) {
                                             sampling.llamaCppOrder = order == "llama.cpp";
                                           })
          ->check(CLI::IsMember({"hf", "llama.cpp"}).description("")),
  };
  all.insert(all.end(), drawing.begin(), drawing.end());
  for (CLI::Option *option : all)
    hide(option);
  return drawing;
}

void checkSampling(const NeedTemperature &drawing, const SamplingOptions &sampling) {
  for (const CLI::Option *option : drawing)
    if (option->count() && sampling.temperature == 0)
      throw CLI::ValidationError("found " + option->get_name() +
                                 " with temperature 0, expected --temperature above 0 with it");
}

void declareSpeculation(CLI::App &app, SamplingOptions &sampling) {
  app.add_option_function<std::string>(
         "--speculate",
         [&sampling](const std::string &) { sampling.draftTokens = LLMC_MOST_DRAFT_TOKENS; },
         "draft where the text repeats itself; the same tokens, sooner")
      ->type_name("ngram")
      ->check(CLI::IsMember({"ngram"}).description(""));
}

constexpr char kFooter[] =
    "Without a prompt: a conversation, a line a turn; Ctrl-C ends an answer, Ctrl-D the program.\n"
    "From files, - is standard input: --prompt-file F, --prompt-ids-file F. Text appears as it "
    "comes,\n"
    "ids in the last line with the one that ends a text, times on stderr.\n"
    "Sampling: --top-k N --top-p P --min-p P --seed N [0] --repeat-penalty X --frequency-penalty "
    "X\n"
    "  --presence-penalty X --penalty-window N (latest tokens) [all] --sampler-order hf|llama.cpp "
    "[hf]\n"
    "  llmc run model.so --chat --prompt \"Why is the sky blue?\"\n"
    "  llmc run model.json --reference --prompt-ids 1,2,3    interprets, compiles nothing";

} // namespace

Body declareRun(CLI::App &app) {
  auto options = std::make_shared<RunOptions>();
  auto sources = std::make_shared<Sources>();
  declareModel(app, options->model);
  declarePrompt(app, *options, *sources);
  app.add_option("--max-new-tokens", options->maxNewTokens,
                 "most tokens to append [32 ids, 256 of text]")
      ->type_name("N")
      ->check(CLI::Range(0u, kMostTokens).description(""));
  const NeedTemperature drawing = declareSampling(app, options->sampling);
  declareSpeculation(app, options->sampling);
  app.add_flag("--ignore-eos", options->ignoreEos, "go on after an id that ends a text");
  declareThreads(app, options->model);
  declareWeightsPlace(app, options->model);
  app.add_flag("--print-ids", options->printIds, "print new ids, not text");
  app.add_option("--logits-out", options->logitsOut, "f32 [prompt tokens, vocabulary] as .npy")
      ->type_name("F.npy");
  declareCount(app, "--prefill-chunk", options->prefillChunk,
               "most prompt tokens in a step [256]; the same bits", 1, kMostTokens);
  hide(app.add_option("--kv-junk", options->kvJunk, "")->type_name("SEED"));
  app.footer(kFooter);
  app.callback([=] {
    choosePrompt(*sources, *options);
    checkConversation(*options);
    checkSampling(drawing, options->sampling);
  });
  return [options, sources] { return runModel(*options); };
}

} // namespace llmc::tool
