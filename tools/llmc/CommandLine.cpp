// SPDX-License-Identifier: Apache-2.0
// Every option of every command: a command is a function that binds options to plain values and
// gives back what to do with them. CLI11, which throws, is known to the CommandLine files alone;
// the commands run after it is done.
#include "tools/llmc/CommandLine.h"
#include "tools/llmc/CommandLineExplain.h"
#include "tools/llmc/CommandLineParts.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <csignal>

namespace llmc::tool {
namespace {

class HelpFormatter : public CLI::Formatter {
public:
  HelpFormatter() { column_width(30); }
  std::string make_group(std::string group, bool isPositional,
                         std::vector<const CLI::Option *> options) const override {
    return group == kHiddenGroup ? "" : CLI::Formatter::make_group(group, isPositional, options);
  }
  // A group that is left out leaves an empty line behind.
  std::string make_help(const CLI::App *app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, name, mode);
    for (size_t at; (at = text.find("\n\n\n")) != text.npos;)
      text.erase(at, 1);
    return text;
  }
};

struct Command {
  const char *name;
  const char *sentence;
  Body (*declare)(CLI::App &app); // null: llmc-compiler has it, and reads its own options
};

Body declareInspect(CLI::App &app) {
  auto options = std::make_shared<InspectOptions>();
  declareModel(app, options->model);
  app.add_option("--commands", options->commands, "table of a graph: prefill, decode or verify")
      ->type_name("GRAPH")
      ->check(CLI::IsMember({"prefill", "decode", "verify"}).description(""));
  app.add_flag("--weights", options->weights, "table of the packed weights");
  app.add_flag("--manifest", options->manifest, "the manifest, JSON");
  app.add_flag("--verify", options->verify,
               "recompute the hash of each weight; exit 1 at the first "
               "that differs");
  app.footer("Without an option: name, limits, graphs, kernels, caches, memory; sizes in bytes.\n"
             "  llmc inspect model.so --commands decode");
  return [options] { return inspectModel(*options); };
}

Body declareImport(CLI::App &app) {
  auto options = std::make_shared<ImportOptions>();
  CLI::Option *folder =
      app.add_option("folder", options->folder, "folder with config.json and *.safetensors")
          ->type_name("FOLDER");
  CLI::Option *output =
      app.add_option("-o,--output", options->output, "the model.json to write")->type_name("F");
  app.add_flag("--force", options->force, "replace it if it is there");
  CLI::Option *schema =
      app.add_flag("--schema", options->schema, "print the JSON Schema of model.json instead");
  app.footer("Writes a description of the model; its weights stay where they are.\n"
             "  llmc import SmolLM2-135M -o model.json");
  app.callback([=] {
    if (schema->count())
      return;
    if (!folder->count())
      throw CLI::RequiredError("folder");
    if (!output->count())
      throw CLI::RequiredError("--output");
  });
  return [options] { return importModel(*options); };
}

Body declareExplain(CLI::App &app) {
  auto options = std::make_shared<ExplainOptions>();
  declareExplainOptions(app, *options);
  return [options] { return explainArtifact(*options); };
}

constexpr Command kCommands[] = {
    {"compile", "make a model.so of a model folder, .gguf or model.json", nullptr},
    {"run", "append tokens to a prompt", declareRun},
    {"tokenize", "text to token ids, and back", declareTokenize},
    {"eval", "predict a text: perplexity, divergence from another model", declareEval},
    {"bench", "measure tokens a second against what the machine can do", declareBench},
    {"inspect", "show what is in a model.so, or check its weights", declareInspect},
    {"explain", "say what steps cost op by op, and what binds them", declareExplain},
    {"import", "write a model.json for a Hugging Face folder", declareImport},
    {"compare", "name the first op that differs from the reference", nullptr},
};

// "--threads: Value X not in range" as an error line; CLI11 starts with a capital and may end with
// a line break.
std::string lineOf(const CLI::Error &error, const std::string &command) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  if (!text.empty())
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return command + ": error: " + escaped(text, 1000) + "; see '" + command + " --help'";
}

// CLI11 only says that a subcommand is required.
std::string commandMistake(int argc, char **argv) {
  if (argc < 2)
    return "found no command, expected one";
  for (const Command &command : kCommands)
    if (argv[1][0] == '-' || std::string_view(argv[1]) == command.name)
      return "";
  return "found \"" + escaped(argv[1], 40) + "\", expected a command";
}

struct Parsed {
  Body body; // empty: done already, exit with `code`
  int code = Fine;
};

Parsed parse(int argc, char **argv) {
  CLI::App app("Ahead-of-time compiler for LLM inference.", "llmc");
  app.set_version_flag("--version", "llmc " LLMC_VERSION, "print the version");
  app.set_help_flag("-h,--help", "print this help");
  app.require_subcommand(1);
  app.footer("'llmc COMMAND --help' tells the options of a command.\n"
             "  llmc compile SmolLM2-135M -o model.so && llmc run model.so --prompt-ids 1,2,3\n"
             "Exit code: 0 fine, 1 an error (on stderr), 2 wrong usage.");
  app.formatter(std::make_shared<HelpFormatter>());
  std::vector<std::pair<CLI::App *, Body>> commands;
  for (const Command &command : kCommands) {
    CLI::App *sub = app.add_subcommand(command.name, command.sentence);
    sub->set_help_flag("-h,--help", "print this help");
    commands.emplace_back(sub, command.declare ? command.declare(*sub) : Body());
  }
  if (const std::string mistake = commandMistake(argc, argv); !mistake.empty()) {
    fprintf(stderr, "llmc: error: %s; see 'llmc --help'\n", mistake.c_str());
    return {{}, Usage};
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &help) {
    return {{}, app.exit(help)};
  } catch (const CLI::Error &error) {
    const auto chosen = app.get_subcommands();
    const std::string name = chosen.empty() ? "llmc" : "llmc " + chosen[0]->get_name();
    fprintf(stderr, "%s\n", lineOf(error, name).c_str());
    return {{}, Usage};
  }
  for (const auto &[sub, body] : commands)
    if (sub->parsed() && body)
      return {body, Fine};
  fprintf(stderr, "llmc: error: found a command for llmc-compiler behind other arguments, expected "
                  "it first\n");
  return {{}, Usage};
}

} // namespace

int runCommandLine(int argc, char **argv) {
  const Parsed parsed = parse(argc, argv);
  if (!parsed.body)
    return parsed.code;
  signal(SIGXFSZ, SIG_IGN); // a limit on file sizes is then an error of write
  const Status status = parsed.body();
  if (status)
    return Fine;
  fprintf(stderr, "%s\n", status.error().str().c_str());
  return Failed;
}

} // namespace llmc::tool
