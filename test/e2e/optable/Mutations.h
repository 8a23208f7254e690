// SPDX-License-Identifier: Apache-2.0
//
// Seeded faults in PTX text: each changes one instruction, as a wrong lowering would.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace llmc::test {

struct Mutation {
  std::string kind;
  size_t line; ///< of the text, from 1
  std::string before, after;
};

/// `count` mutations of `ptx`, of as many kinds as it offers places for; the same seed gives the
/// same ones.
std::vector<Mutation> mutationsOf(const std::string &ptx, size_t count, unsigned seed);

std::string mutated(const std::string &ptx, const Mutation &mutation);

} // namespace llmc::test
