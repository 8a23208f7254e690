// SPDX-License-Identifier: Apache-2.0
// Links objects in this process with lld. Files live in a scratch folder beside the output and are
// gone when the call returns. One link at a time, since lld keeps global state.
#pragma once

#include "dialects/model/Error.h"

#include <string>
#include <string_view>
#include <vector>

namespace llmc::artifact {

struct LinkInput {
  std::string name; // a plain file name, for messages: "tables.o"
  std::string_view bytes;
};

struct LinkRequest {
  std::vector<LinkInput> objects;
  std::string exported;        // the one symbol that stays visible
  std::string output;          // for messages; the scratch folder is made beside it
  bool allowUndefined = false; // for instrumented objects, whose runtime is in the program
};

// A shared object without DT_NEEDED; unused sections are dropped.
Result<std::string> linkSharedObject(const LinkRequest &request);

// One relocatable object whose every symbol but the exported one is local, so that two models can
// be linked into one program.
Result<std::string> linkRelocatable(const LinkRequest &request);

} // namespace llmc::artifact
