// SPDX-License-Identifier: Apache-2.0
//
// Plain searches in printed IR, and regular expressions inside single lines.
#include "test/e2e/compare/TileText.h"
#include <regex>
#include <sstream>
#include <utility>

namespace llmc::test {

KernelText &KernelText::replace(const std::string &pattern, const std::string &replacement) {
  std::regex expression(pattern);
  std::istringstream lines(text);
  std::string result;
  bool found = false;
  for (std::string line; std::getline(lines, line);) {
    std::string edited =
        line.size() < 2000 ? std::regex_replace(line, expression, replacement) : line;
    found |= edited != line;
    result += edited + "\n";
  }
  good &= found;
  text = result;
  return *this;
}

std::string KernelText::value(const std::string &op) const {
  size_t at = text.find(" = " + op);
  return at == std::string::npos
             ? ""
             : text.substr(text.rfind(' ', at - 1) + 1, at - text.rfind(' ', at - 1) - 1);
}

std::string KernelText::rowParameter(int number) const {
  std::string header = text.substr(0, text.find('\n'));
  std::regex expression("(%arg[0-9]+): !tile.view<[0-9]+xf32>");
  for (std::sregex_iterator match(header.begin(), header.end(), expression), end; match != end;
       ++match)
    if (number-- == 0)
      return (*match)[1];
  return "";
}

std::pair<size_t, size_t> TileText::launchLine(const std::string &graph,
                                               const std::string &name) const {
  size_t function = text.find("func.func @" + graph + "(");
  size_t end = text.find("\n  }\n", function);
  size_t at = text.find(" \"" + name + "\" grid", function);
  if (function == std::string::npos || at > end)
    return {0, 0};
  return {text.rfind('\n', at) + 1, text.find('\n', at)};
}

static std::string kernelName(const std::string &line) {
  size_t at = line.find("tile.launch @") + 13;
  return line.substr(at, line.find(' ', at) - at);
}

std::string TileText::kernelOf(const std::string &graph, const std::string &name) const {
  auto [first, end] = launchLine(graph, name);
  if (first == end)
    return "";
  size_t kernel = text.find("  tile.kernel @" + kernelName(text.substr(first, end - first)) + "(");
  size_t last = text.find("\n  }\n", kernel);
  return kernel == std::string::npos ? "" : text.substr(kernel, last + 5 - kernel);
}

bool TileText::setKernel(const std::string &graph, const std::string &name,
                         const std::string &kernel) {
  auto [first, end] = launchLine(graph, name);
  if (first == end)
    return false;
  std::string line = text.substr(first, end - first), old = kernelName(line), copy = kernel;
  line.replace(line.find("@" + old), old.size() + 1, "@planted");
  copy.replace(copy.find("@" + old), old.size() + 1, "@planted");
  text.replace(first, end - first, line);
  text.insert(text.rfind("\n}") + 1, copy);
  return true;
}

bool TileText::setLastOperand(const std::string &graph, const std::string &name,
                              const std::string &producer) {
  auto [from, fromEnd] = launchLine(graph, producer);
  auto [first, end] = launchLine(graph, name);
  if (first == end || from == fromEnd)
    return false;
  std::string source = text.substr(from, fromEnd - from), line = text.substr(first, end - first);
  source = source.substr(source.find('%'), source.find(" =") - source.find('%'));
  size_t close = line.find(") : "), last = line.rfind('%', close);
  line.replace(last, close - last, source);
  text.replace(first, end - first, line);
  return true;
}

} // namespace llmc::test
