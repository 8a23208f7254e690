// SPDX-License-Identifier: Apache-2.0
// Puts the seal of llmc/seal.h into a planned shared object, so that the engine tells a damaged
// model.so before the dynamic loader trusts it.
#pragma once

#include "passes/codegen/artifact/FilePlan.h"

#include <string>

namespace llmc::artifact {

// The note's section: the linker gives it a PT_NOTE segment, before the weights.
constexpr const char *kSealSection = ".note.llmc";

// Its content as linked: a seal that covers nothing, with hash 0.
std::string emptySealNote();

// `plan` is final but for the note, whose covered_loads and hash are filled in.
Status seal(FilePlan &plan);

} // namespace llmc::artifact
