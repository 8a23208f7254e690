// SPDX-License-Identifier: Apache-2.0
//
// Edits the text of `llmc compile --emit tile`: one launch is given a kernel of its own, or other
// operands. Kernels are shared by all layers, so a copy is what makes a fault one layer's.
#pragma once

#include <string>

namespace llmc::test {

/// The text of one kernel, edited line by line. An edit that finds nothing makes the kernel bad.
class KernelText {
public:
  explicit KernelText(std::string text) : text(std::move(text)) {}

  /// Replaces what `pattern` (a regular expression, within a line) matches, everywhere.
  KernelText &replace(const std::string &pattern, const std::string &replacement);
  /// The name of the value that the first `op` gives: value("tile.program_id inner") = "%1".
  std::string value(const std::string &op) const;
  /// The name of the n-th parameter whose type is a view of one dimension: a bias, or a norm's
  /// weight.
  std::string rowParameter(int number) const;

  std::string text;
  bool good = true;
};

class TileText {
public:
  explicit TileText(std::string text) : text(std::move(text)) {}

  /// A copy of the kernel that command `name` of `graph` launches; empty when there is none.
  std::string kernelOf(const std::string &graph, const std::string &name) const;
  /// Makes the command launch a kernel of this text instead.
  bool setKernel(const std::string &graph, const std::string &name, const std::string &kernel);
  /// Replaces the last operand of the command by the result of another command of the graph.
  bool setLastOperand(const std::string &graph, const std::string &name,
                      const std::string &producer);

  std::string text;

private:
  /// First and one past the last character of the launch's line; both 0 when there is none.
  std::pair<size_t, size_t> launchLine(const std::string &graph, const std::string &name) const;
};

} // namespace llmc::test
