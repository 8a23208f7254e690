// SPDX-License-Identifier: Apache-2.0
// Module level: directives, variables, kernel headers with their parameters.
#include "tools/ptx-interpreter/Parser.h"

#include "tools/ptx-interpreter/TokenStream.h"

#include <algorithm>

namespace llmc::ptx {

namespace {

class ModuleParser {
public:
  ModuleParser(TokenStream &stream, Module &module) : stream(stream), module(module) {}
  bool parse();

private:
  bool parseDirective();
  bool parseFunctionDeclaration();
  bool skipSection();
  bool parseKernel();
  bool parseParameter(Kernel &kernel, Symbols &symbols);
  bool parseParameterType(uint64_t &size, uint64_t &alignment, std::string_view &name);
  bool parseAttributes(Kernel &kernel);
  bool parseTriple(uint32_t (&values)[3], std::string_view what);

  TokenStream &stream;
  Module &module;
  Symbols moduleSymbols;
  Kernel shared; // holds the sizes of module-level shared variables
};

bool ModuleParser::parse() {
  while (!stream.atEnd()) {
    stream.kernelName.clear();
    if (!parseDirective())
      return false;
  }
  return true;
}

bool ModuleParser::parseDirective() {
  // Linkage words come first; what is declared follows.
  size_t ahead = 0;
  while (stream.peek(ahead).is(".visible") || stream.peek(ahead).is(".extern") ||
         stream.peek(ahead).is(".weak") || stream.peek(ahead).is(".common"))
    ++ahead;
  const Token &word = stream.peek(ahead);
  if (word.is(".version") || word.is(".target") || word.is(".address_size")) {
    uint32_t line = word.line;
    while (!stream.atEnd() && stream.peek().line == line)
      stream.next();
    return true;
  }
  if (word.is(".file")) {
    uint32_t line = word.line;
    while (!stream.atEnd() && stream.peek().line == line)
      stream.next();
    return true;
  }
  if (word.is(".section"))
    return skipSection();
  if (word.is(".global") || word.is(".const") || word.is(".shared"))
    return parseVariable(stream, module, shared, moduleSymbols);
  if (word.is(".func"))
    return parseFunctionDeclaration();
  if (!word.is(".entry"))
    return stream.failAt(word.line, "unsupported module directive '" + printable(word.text) + "'");
  for (size_t skipped = 0; skipped <= ahead; ++skipped)
    stream.next();
  return parseKernel();
}

/// A declaration is harmless, since a call is refused where it happens; a definition is refused
/// here.
bool ModuleParser::parseFunctionDeclaration() {
  uint32_t line = stream.peek().line;
  while (!stream.atEnd()) {
    if (stream.peek().is("{"))
      return stream.failAt(line, "unsupported directive '.func' with a body; device functions are "
                                 "not modelled, inline them");
    if (stream.next().is(";"))
      return true;
  }
  return stream.expect(";");
}

bool ModuleParser::skipSection() {
  while (!stream.atEnd())
    if (stream.next().is("}"))
      return true;
  return stream.expect("}");
}

/// `.align 8 .b8 name[16]`, `.u64 .ptr .global .align 4 name`, `.f32 name`.
bool ModuleParser::parseParameterType(uint64_t &size, uint64_t &alignment, std::string_view &name) {
  bool pointer = false;
  for (;;) {
    uint32_t line = stream.peek().line;
    std::string_view word;
    if (!stream.name(word, "a parameter"))
      return false;
    if (word.front() != '.') {
      name = word;
      return size != 0 || stream.failAt(line, "parameter '" + printable(word) + "' has no type");
    }
    if (ScalarType type = scalarTypeFromName(word.substr(1)); type != ScalarType::None) {
      size = sizeInBytes(type);
      alignment = std::max(alignment, size);
    } else if (word == ".ptr") {
      pointer = true;
    } else if (word == ".align") {
      uint64_t value = 0;
      if (!stream.bounded(value, 1 << 16, "alignment"))
        return false;
      if (!pointer) // after .ptr it is the pointee's
        alignment = std::max<uint64_t>(value, 1);
    } else if (word != ".param" && word != ".global" && word != ".shared" && word != ".const" &&
               word != ".local" && word != ".generic") {
      return stream.failAt(line, "unsupported directive '" + printable(word) + "' in a parameter");
    }
  }
}

bool ModuleParser::parseParameter(Kernel &kernel, Symbols &symbols) {
  uint64_t size = 0, alignment = 0, count = 1;
  std::string_view name;
  if (!parseParameterType(size, alignment, name))
    return false;
  if (stream.accept("[") &&
      (!stream.bounded(count, limits::parameterBytes, "array size") || !stream.expect("]")))
    return false;
  uint64_t offset = (kernel.parameterBytes + alignment - 1) / alignment * alignment;
  uint64_t end = offset + size * count;
  if (end > limits::parameterBytes)
    return stream.fail("parameters take " + std::to_string(end) + " bytes, expected at most " +
                       std::to_string(limits::parameterBytes));
  kernel.parameters.push_back({uint32_t(offset), uint32_t(size * count)});
  kernel.parameterBytes = uint32_t(end);
  symbols[name] = {Space::Parameter, offset};
  return true;
}

bool ModuleParser::parseTriple(uint32_t (&values)[3], std::string_view what) {
  for (uint32_t &value : values)
    value = 1;
  for (uint32_t &value : values) {
    uint64_t number = 0;
    if (!stream.bounded(number, limits::threadsPerBlock, what.data()))
      return false;
    value = uint32_t(number);
    if (!stream.accept(","))
      break;
  }
  return true;
}

bool ModuleParser::parseAttributes(Kernel &kernel) {
  while (!stream.accept("{")) {
    uint32_t line = stream.peek().line;
    std::string_view word;
    if (!stream.name(word, "a kernel attribute or '{'"))
      return false;
    uint32_t triple[3];
    uint64_t ignored;
    if (word == ".reqntid") {
      if (!parseTriple(kernel.requiredThreads, ".reqntid"))
        return false;
    } else if (word == ".maxntid") {
      if (!parseTriple(triple, ".maxntid"))
        return false;
      kernel.maximumThreads = uint32_t(
          std::min<uint64_t>(limits::threadsPerBlock, uint64_t(triple[0]) * triple[1] * triple[2]));
    } else if (word == ".minnctapersm" || word == ".maxnreg") {
      if (!stream.number(ignored))
        return false;
    } else {
      return stream.failAt(line, "unsupported kernel attribute '" + printable(word) + "'");
    }
  }
  return true;
}

bool ModuleParser::parseKernel() {
  Kernel kernel;
  std::string_view name;
  if (!stream.name(name, "a kernel's name"))
    return false;
  kernel.name = std::string(name);
  stream.kernelName = kernel.name;
  if (module.find(name))
    return stream.fail("kernel is defined twice");
  Symbols symbols = moduleSymbols;
  kernel.sharedBytes = shared.sharedBytes;
  kernel.dynamicAlignment = shared.dynamicAlignment;
  if (stream.accept("(") && !stream.accept(")")) {
    do {
      if (!parseParameter(kernel, symbols))
        return false;
    } while (stream.accept(","));
    if (!stream.expect(")"))
      return false;
  }
  if (!parseAttributes(kernel) || !parseBody(stream, module, kernel, symbols))
    return false;
  module.kernels.push_back(std::move(kernel));
  return true;
}

} // namespace

std::optional<Module> parseModule(std::string_view text, const std::string &fileName,
                                  std::string &error) {
  error.clear();
  if (text.size() > limits::textBytes) {
    error = fileName + ": error: text has " + std::to_string(text.size()) +
            " bytes, expected at most " + std::to_string(limits::textBytes);
    return std::nullopt;
  }
  std::vector<Token> tokens;
  uint32_t line = 0;
  std::string message;
  if (!lex(text, tokens, line, message)) {
    error = fileName + ":" + std::to_string(line) + ": error: " + message;
    return std::nullopt;
  }
  Module module;
  module.fileName = fileName;
  TokenStream stream(tokens, fileName);
  if (!ModuleParser(stream, module).parse()) {
    error = stream.error;
    return std::nullopt;
  }
  return module;
}

} // namespace llmc::ptx
