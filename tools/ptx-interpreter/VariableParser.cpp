// SPDX-License-Identifier: Apache-2.0
// Variables in .shared, .local, .global and .const memory: size, alignment, place, and initial
// bytes of module variables.
#include "tools/ptx-interpreter/TokenStream.h"

#include <algorithm>

namespace llmc::ptx {

namespace {

struct Variable {
  Space space = Space::Generic;
  std::string_view name;
  ScalarType type = ScalarType::None;
  uint64_t alignment = 0;
  uint64_t count = 1;
  bool unsized = false; // name[]: dynamic shared memory
};

/// Reads `[n]` and `[n][m]` and `[]` after the name.
bool parseExtents(TokenStream &stream, Variable &variable) {
  while (stream.accept("[")) {
    uint64_t extent = 0;
    if (stream.accept("]")) {
      variable.unsized = true;
      continue;
    }
    if (!stream.bounded(extent, limits::globalBytes, "array size") || !stream.expect("]"))
      return false;
    variable.count *= extent;
    if (variable.count > limits::globalBytes)
      return stream.fail("variable '" + printable(variable.name) + "' is larger than " +
                         std::to_string(limits::globalBytes) + " bytes");
  }
  return true;
}

bool parseHead(TokenStream &stream, Variable &variable) {
  unsigned lanes = 1;
  for (;;) {
    uint32_t line = stream.peek().line;
    std::string_view word;
    if (!stream.name(word, "a variable"))
      return false;
    if (word == ".shared")
      variable.space = Space::Shared;
    else if (word == ".local")
      variable.space = Space::Local;
    else if (word == ".global" || word == ".const")
      variable.space = Space::Global;
    else if (word == ".v2" || word == ".v4")
      lanes = unsigned(word[2] - '0');
    else if (word == ".align") {
      if (!stream.bounded(variable.alignment, 1 << 16, "alignment"))
        return false;
      if (variable.alignment == 0 || (variable.alignment & (variable.alignment - 1)))
        return stream.failAt(line, "alignment is " + std::to_string(variable.alignment) +
                                       ", expected a power of two");
    } else if (word.front() == '.' && scalarTypeFromName(word.substr(1)) != ScalarType::None) {
      variable.type = scalarTypeFromName(word.substr(1));
    } else if (word.front() != '.') {
      variable.name = word;
      break;
    } else if (word != ".visible" && word != ".extern" && word != ".weak" && word != ".common") {
      return stream.failAt(line, "unsupported directive '" + printable(word) + "' in a variable");
    }
  }
  if (variable.type == ScalarType::None || variable.type == ScalarType::Pred)
    return stream.fail("variable '" + printable(variable.name) + "' has no element type");
  variable.count = lanes;
  variable.alignment = std::max<uint64_t>(variable.alignment, sizeInBytes(variable.type) * lanes);
  return parseExtents(stream, variable);
}

/// `= {1, 2}` or `= 5` into the bytes from `offset`.
bool parseInitialiser(TokenStream &stream, const Variable &variable, std::vector<uint8_t> &bytes,
                      uint64_t offset) {
  unsigned size = sizeInBytes(variable.type);
  bool list = stream.accept("{");
  for (uint64_t index = 0;; ++index) {
    if (list && stream.accept("}"))
      return true;
    if (index >= variable.count)
      return stream.fail("more initial values than the " + std::to_string(variable.count) +
                         " elements of '" + printable(variable.name) + "'");
    uint64_t value = 0;
    if (!stream.number(value))
      return false;
    std::memcpy(&bytes[offset + index * size], &value, size);
    if (!list)
      return true;
    if (!stream.accept(",") && !stream.peek().is("}"))
      return stream.expect("}");
  }
}

uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Takes room at the end of `used`; false when it would pass `most`.
bool place(TokenStream &stream, const Variable &variable, uint32_t &used, uint64_t most,
           uint64_t &offset) {
  offset = alignUp(used, variable.alignment);
  uint64_t end = offset + variable.count * sizeInBytes(variable.type);
  if (end > most)
    return stream.fail("variable '" + printable(variable.name) + "' brings its memory to " +
                       std::to_string(end) + " bytes, expected at most " + std::to_string(most));
  used = uint32_t(end);
  return true;
}

} // namespace

bool parseVariable(TokenStream &stream, Module &module, Kernel &kernel, Symbols &symbols) {
  Variable variable;
  if (!parseHead(stream, variable))
    return false;
  uint64_t offset = 0;
  if (variable.unsized && variable.space != Space::Shared)
    return stream.fail("variable '" + printable(variable.name) + "' has no size");
  if (variable.space == Space::Global) {
    uint32_t used = uint32_t(module.globals.size());
    if (!place(stream, variable, used, limits::globalBytes, offset))
      return false;
    module.globals.resize(used);
    if (stream.accept("=") && !parseInitialiser(stream, variable, module.globals, offset))
      return false;
  } else if (variable.unsized) {
    kernel.dynamicAlignment = std::max(kernel.dynamicAlignment, uint32_t(variable.alignment));
  } else {
    bool local = variable.space == Space::Local;
    if (!place(stream, variable, local ? kernel.localBytes : kernel.sharedBytes,
               local ? limits::localBytes : limits::sharedBytes, offset))
      return false;
  }
  if (!symbols.insert({variable.name, Symbol{variable.space, offset, variable.unsized}}).second)
    return stream.fail("'" + printable(variable.name) + "' is declared twice");
  return stream.expect(";");
}

} // namespace llmc::ptx
