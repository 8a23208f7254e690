// SPDX-License-Identifier: Apache-2.0
//
// Options that several commands have.
#include "tools/llmc/compiler/Commands.h"

void llmc::addPromptOptions(CLI::App &command, tool::PromptOptions &options) {
  CLI::Option *ids = command.add_option("--prompt-ids", options.ids, "token ids of the prompt")
                         ->type_name("1,2,3");
  CLI::Option *file = command
                          .add_option("--prompt-ids-file", options.file,
                                      "a file with the same, instead; - is standard input")
                          ->type_name("F");
  ids->excludes(file);
}
