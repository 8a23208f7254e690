// SPDX-License-Identifier: Apache-2.0
// The options of `llmc tokenize`.
#include "tools/llmc/CommandLineParts.h"
#include <array>

namespace llmc::tool {
namespace {

struct Input {
  TokenizeInput input;
  CLI::Option *option;
  std::string value;
};
using Inputs = std::array<Input, 4>;

void chooseInput(const Inputs &inputs, TokenizeOptions &options) {
  std::string chosen;
  for (const Input &input : inputs) {
    if (!input.option->count())
      continue;
    if (!chosen.empty())
      throw CLI::ValidationError("found both of " + chosen + " and " + input.option->get_name() +
                                 ", expected one of them");
    chosen = input.option->get_name();
    options.input = input.input;
    options.text = input.value;
  }
  if (chosen.empty())
    throw CLI::ValidationError(
        "found none of --text, --file, --decode and --chat, expected one of them");
}

// Two options of which one says no; told in one line of the help.
struct Switch {
  CLI::Option *on;
  CLI::Option *off;

  std::optional<bool> chosen() const {
    if (on->count() && off->count())
      throw CLI::ValidationError("found both of " + on->get_name() + " and " + off->get_name() +
                                 ", expected one of them");
    return on->count()    ? std::optional<bool>(true)
           : off->count() ? std::optional<bool>(false)
                          : std::nullopt;
  }
};

Switch declareSwitch(CLI::App &app, const std::string &on, const std::string &off,
                     const std::string &about) {
  return {app.add_flag(on, about), app.add_flag(off, "or not")};
}

} // namespace

Body declareTokenize(CLI::App &app) {
  auto options = std::make_shared<TokenizeOptions>();
  auto inputs = std::make_shared<Inputs>();
  app.add_option("model", options->model.path,
                 "compiled model (.so), or its source: a folder with tokenizer.json, a .gguf file")
      ->type_name("M.so|IN")
      ->required();
  const auto declare = [&](size_t index, TokenizeInput input, const char *name, const char *about,
                           const char *type) {
    (*inputs)[index].input = input;
    (*inputs)[index].option = app.add_option(name, (*inputs)[index].value, about)->type_name(type);
  };
  declare(0, TokenizeInput::Text, "--text", "text to put into tokens", "TEXT");
  declare(1, TokenizeInput::File, "--file", "a file with the text, - for standard input", "F");
  declare(2, TokenizeInput::Ids, "--decode", "token ids: print their bytes", "1,2,3");
  declare(3, TokenizeInput::Chat, "--chat", "messages: print them in the chat template", "F.json");
  const Switch bos =
      declareSwitch(app, "--add-bos", "--no-bos",
                    "put the first token of texts in front, or nothing [as trained]");
  const Switch special =
      declareSwitch(app, "--parse-special", "--no-parse-special",
                    "special tokens in the text are read as such [yes], or as plain text");
  app.footer("Ids are printed on one line. A conversation is a list of {\"role\", \"content\"}, or "
             "an\nobject of the template's variables; it ends for the assistant to answer.\n"
             "  llmc tokenize model.so --text \"Hello world\"");
  app.callback([=] {
    chooseInput(*inputs, *options);
    if (const std::optional<bool> wanted = bos.chosen())
      options->bos = *wanted ? TokenizeBos::Yes : TokenizeBos::No;
    options->parseSpecial = special.chosen().value_or(true);
  });
  return [options, inputs] { return tokenizeText(*options); };
}

} // namespace llmc::tool
