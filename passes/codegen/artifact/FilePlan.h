// SPDX-License-Identifier: Apache-2.0
// Where a file's parts lie: everything before the weights, the weights, everything after them. The
// linker has placed 64 bytes in the weights' stead; a plan stretches them to their size by changing
// a few numbers of the headers, so weights of any size are never in memory and never seen by a
// linker.
#pragma once

#include "dialects/model/Error.h"

#include <cstdint>
#include <string>

namespace llmc::artifact {

struct FilePlan {
  std::string prefix;        // the weights begin right behind it
  uint64_t weightsBytes = 0; // 0: the file holds none
  std::string suffix;

  uint64_t fileBytes() const { return prefix.size() + weightsBytes + suffix.size(); }
};

// `linked` has section .llmc.weights as its last loaded segment, unless weightsBytes is 0.
Result<FilePlan> planSharedObject(std::string linked, uint64_t weightsBytes);

// `object` has section .lrodata.llmc, unless weightsBytes is 0. Its new bytes lie behind the
// object.
Result<FilePlan> planObject(std::string object, uint64_t weightsBytes);

// An archive with one member, `object`, that defines `symbol`.
Result<FilePlan> planArchive(FilePlan object, const std::string &symbol);

// Bytes of all executable sections.
uint64_t executableBytes(const std::string &elf);

} // namespace llmc::artifact
