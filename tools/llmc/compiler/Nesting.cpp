// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/compiler/Nesting.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using llvm::StringRef;

static constexpr size_t kDeepest = 1000, kMostDigits = 6;

/// Where a comment or a string that begins at `at` ends; `at` where none does.
static size_t skipText(StringRef text, size_t at) {
  if (text.substr(at).starts_with("//"))
    return std::min(text.find('\n', at), text.size());
  if (text[at] != '"')
    return at;
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    at += text[at] == '\\';
  return std::min(at + 1, text.size());
}

llmc::Status llmc::checkNesting(const std::string &file) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return {};
  StringRef text = (*buffer)->getBuffer();
  size_t depth = 0;
  auto refuse = [&](size_t at, const std::string &found) -> Status {
    return errorAt(file, "line " + std::to_string(text.take_front(at).count('\n') + 1), found + ", expected IR that llmc printed");
  };
  for (size_t at = 0; at < text.size();) {
    if (size_t end = skipText(text, at); end > at) {
      at = end;
      continue;
    }
    const char c = text[at];
    if (StringRef("{[(<").contains(c) && ++depth > kDeepest)
      return refuse(at, "nests deeper than " + std::to_string(kDeepest) + " brackets");
    bool isArrow = c == '>' && at > 0 && text[at - 1] == '-';
    if (StringRef("}])>").contains(c) && !isArrow && depth > 0)
      --depth;
    if (c == '#' && text.substr(at + 1).take_while(llvm::isDigit).size() > kMostDigits)
      return refuse(at, "names a result by a number of more than " + std::to_string(kMostDigits) + " digits");
    ++at;
  }
  return {};
}
