// SPDX-License-Identifier: Apache-2.0
//
// llmc compare: options, and the answer in words.
#include "tools/llmc/Format.h"
#include "tools/llmc/compiler/Commands.h"
#include "tools/llmc/compiler/Compare.h"
#include <cstdio>

namespace {

using namespace llmc;
using tool::formatted;

void printDifference(const compare::Difference &d) {
  const compare::WorstElement &worst = d.worst;
  std::printf("first difference: command %u of graph %s, %s, in the %s\n", d.number,
              d.graph.c_str(), d.command.c_str(), d.step.c_str());
  std::printf("  op      %s%s%s\n", d.op.c_str(), d.why.empty() ? "" : ": ", d.why.c_str());
  std::printf("  ops     %s\n", d.ops.c_str());
  if (worst.count)
    std::printf("  where   %s, row %lld, column %lld: found %.9g, expected %.9g\n",
                d.result.c_str(), (long long)worst.row, (long long)worst.column,
                double(worst.found), double(worst.expected));
  if (worst.count)
    std::printf("  error   %.3g, bound %.3g; %llu of %llu elements are beyond it\n", worst.error,
                worst.bound, (unsigned long long)worst.beyond, (unsigned long long)worst.count);
  for (const std::string &note : d.notes)
    std::printf("  note    %s\n", note.c_str());
}

int run(const compare::CompareRequest &request) {
  if (request.bound && !(*request.bound >= 0)) {
    std::fprintf(stderr, "llmc compare: error: --bound: found no number, expected one from 0\n");
    return 2;
  }
  Result<compare::CompareReport> report = compare::compareModels(request);
  if (!report) {
    std::fprintf(stderr, "%s\n", report.error().str().c_str());
    return 1;
  }
  if (report->difference) {
    printDifference(*report->difference);
    return 1;
  }
  std::printf("no difference in %u steps, %u commands", report->steps, report->commands);
  if (!report->largestCommand.empty())
    std::printf("; nearest to its bound: %s, error %.3g, bound %.3g",
                report->largestCommand.c_str(), report->largestError, report->itsBound);
  std::printf("\n");
  if (const compare::Divergence &found = report->divergence; found.rows)
    std::printf("end to end: mean KL %.3g nats, largest %.3g, over %llu rows of logits; %llu undecided roundings taken over\n",
                found.sum / double(found.rows), found.largest, (unsigned long long)found.rows,
                (unsigned long long)found.taken);
  return 0;
}

} // namespace

void llmc::addCompareCommand(CLI::App &app, int &status) {
  auto request = std::make_shared<compare::CompareRequest>();
  auto bound = std::make_shared<double>(0);
  CLI::App *command = app.add_subcommand(
      "compare",
      "Name the first command and op of a compiled model that differs from the reference");
  command->footer("Each command is judged on the compiled side's own inputs, so errors do not add "
                  "up. Steps: the prompt in two\n"
                  "parts, then decode, then verify. An error is |found - expected| / (|expected| + "
                  "root mean square of the line).\n"
                  "Exit code 0: no difference; 1: a difference, or an error.\n"
                  "  llmc compare model.so model/ --prompt-ids 1,2,3");
  command->add_option("M.so", request->artifact.path, "what 'llmc compile' wrote")
      ->required()
      ->type_name("");
  command
      ->add_option("IN", request->model,
                   "what it was compiled from: GGUF file, Hugging Face folder or model.json")
      ->required()
      ->type_name("");
  addPromptOptions(*command, request->prompt);
  command->add_option("--new-tokens", request->newTokens, "decode steps")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 20).description(""));
  command
      ->add_option("--threads", request->artifact.threads,
                   "threads of the compiled side [all cores]")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""));
  CLI::Option *given =
      command
          ->add_option("--bound", *bound, "relative error allowed [each op's own]; 0: equal bits")
          ->type_name("X")
          ->check(CLI::Range(0.0, 1e30).description(""));
  command->add_flag("--end-to-end", request->endToEnd,
                    "also run the reference on its own values, undecided roundings taken over: KL of logits");
  command->add_option("--name", request->artifact.name,
                      "its name, where --name was given to compile");
  command
      ->add_option("--weights-file", request->artifact.weights,
                   "its weights, if compiled with --weights=separate")
      ->type_name("F");
  command->callback([request, bound, given, &status] {
    if (given->count())
      request->bound = *bound;
    status = run(*request);
  });
}
