// SPDX-License-Identifier: Apache-2.0
//
// The CPU as a target: facts of an instruction-set level and the schedules that suit it.
#pragma once

#include "passes/Target.h"

namespace llmc {

/// `level` as parseCpuLevel takes it; null and the reason in `error` for an unknown one.
std::unique_ptr<Target> createCpuTarget(llvm::StringRef level, std::string &error);

} // namespace llmc
