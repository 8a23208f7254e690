// SPDX-License-Identifier: Apache-2.0
//
// Schedule fields forced by the user: `[graph:][kind or region name:]field=value`, separated by
// commas.
#pragma once

#include "passes/Target.h"

namespace llmc {

struct ForcedField {
  std::string text;     ///< as written, for messages
  std::string graph;    ///< empty: all
  std::string selector; ///< kind or region name; empty: all
  std::string field;
  int64_t value = 0;
  mutable bool used = false;
};

/// Parses; false and a message in `error` for what is no such list.
bool parseForced(llvm::StringRef text, llvm::SmallVectorImpl<ForcedField> &fields,
                 std::string &error);

/// Whether the field fixes a reduction tree, so must be equal in all graphs of an artefact.
bool fixesTree(llvm::StringRef field);

/// The schedule with every matching field replaced. Null, with a message at the region, when the
/// result is out of range.
llm::ScheduleAttr applyForced(llm::FusedOp region, llm::ScheduleAttr schedule,
                              llvm::ArrayRef<ForcedField> fields);

} // namespace llmc
