// SPDX-License-Identifier: Apache-2.0
// A kernel's body: scopes, registers, labels, instructions with their operands. Branches are
// resolved at the end, each against the scopes that enclosed it.
#include "tools/ptx-interpreter/Forms.h"
#include "tools/ptx-interpreter/TokenStream.h"

#include <algorithm>

namespace llmc::ptx {

namespace {

struct Scope {
  std::unordered_map<std::string, int32_t> registers;
  Symbols symbols;
  size_t labels; // index into BodyParser::labels
};

struct Fixup {
  size_t instruction;
  std::string_view label;
  std::vector<size_t> scopes; // label tables, innermost last
};

class BodyParser {
public:
  BodyParser(TokenStream &stream, Module &module, Kernel &kernel, const Symbols &symbols)
      : stream(stream), module(module), kernel(kernel) {
    openScope();
    scopes.back().symbols = symbols;
  }
  bool parse();

private:
  bool parseStatement();
  bool parseRegisters();
  bool addRegister(const std::string &name, unsigned bits);
  bool parseInstruction();
  bool parseOperands(Instruction &instruction);
  bool parseBranchTarget(size_t index);
  bool parseOperand(Operand &operand);
  bool parseSimpleOperand(Operand &operand);
  bool parseAddress(Operand &operand);
  bool parseVector(Operand &operand);
  bool resolveBranches();
  void placeDynamicShared();
  void openScope();
  int32_t findRegister(std::string_view name) const;
  const Symbol *findSymbol(std::string_view name) const;

  TokenStream &stream;
  Module &module;
  Kernel &kernel;
  std::vector<Scope> scopes;
  std::vector<std::unordered_map<std::string_view, uint32_t>> labels;
  std::vector<Fixup> fixups;
};

void BodyParser::openScope() {
  scopes.push_back({{}, {}, labels.size()});
  labels.emplace_back();
}

int32_t BodyParser::findRegister(std::string_view name) const {
  std::string key(name);
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto found = scope->registers.find(key); found != scope->registers.end())
      return found->second;
  return -1;
}

const Symbol *BodyParser::findSymbol(std::string_view name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto found = scope->symbols.find(name); found != scope->symbols.end())
      return &found->second;
  return nullptr;
}

bool BodyParser::parse() {
  while (!scopes.empty())
    if (!parseStatement())
      return false;
  if (kernel.code.empty())
    return stream.fail("kernel has no instructions, expected at least 'ret'");
  placeDynamicShared();
  return resolveBranches();
}

bool BodyParser::parseStatement() {
  if (stream.atEnd())
    return stream.expect("}");
  if (stream.accept(";"))
    return true;
  if (stream.accept("}")) {
    scopes.pop_back();
    return true;
  }
  if (stream.accept("{")) {
    if (scopes.size() >= limits::nesting)
      return stream.fail("scopes are nested deeper than " + std::to_string(limits::nesting));
    openScope();
    return true;
  }
  const Token &word = stream.peek();
  if (word.isWord() && stream.peek(1).is(":")) {
    bool fresh =
        labels[scopes.back().labels].insert({word.text, uint32_t(kernel.code.size())}).second;
    if (!fresh)
      return stream.fail("label '" + printable(word.text) + "' is defined twice");
    stream.next();
    stream.next();
    return true;
  }
  if (word.is(".reg"))
    return parseRegisters();
  if (word.is(".shared") || word.is(".local") || word.is(".extern") || word.is(".global") ||
      word.is(".const"))
    return parseVariable(stream, module, kernel, scopes.back().symbols);
  if (word.is(".pragma"))
    return stream.skipStatement();
  if (word.is(".loc")) {
    uint32_t line = word.line;
    while (!stream.atEnd() && stream.peek().line == line)
      stream.next();
    return true;
  }
  if (word.is(".param"))
    return stream.fail(
        "unsupported form 'call' (found its '.param' declaration); device functions are not "
        "modelled, inline them");
  if (word.isWord() && word.text.front() == '.')
    return stream.fail("unsupported directive '" + printable(word.text) + "'");
  return parseInstruction();
}

bool BodyParser::addRegister(const std::string &name, unsigned bits) {
  if (kernel.registerBits.size() >= limits::registers)
    return stream.fail("more than " + std::to_string(limits::registers) + " registers");
  scopes.back().registers[name] = int32_t(kernel.registerBits.size());
  kernel.registerBits.push_back(uint8_t(bits));
  kernel.registerNames.push_back(name);
  return true;
}

bool BodyParser::parseRegisters() {
  stream.next();
  std::string_view word, name;
  if (!stream.name(word, "a register type"))
    return false;
  ScalarType type = word.front() == '.' ? scalarTypeFromName(word.substr(1)) : ScalarType::None;
  if (type == ScalarType::None)
    return stream.fail("unsupported register type '" + printable(word) + "'");
  unsigned bits = type == ScalarType::Pred ? 1 : sizeInBits(type);
  do {
    if (!stream.name(name, "a register"))
      return false;
    if (!stream.accept("<")) {
      if (!addRegister(std::string(name), bits))
        return false;
      continue;
    }
    uint64_t count = 0;
    if (!stream.bounded(count, limits::registers, "register count") || !stream.expect(">"))
      return false;
    for (uint64_t index = 0; index < count; ++index)
      if (!addRegister(std::string(name) + std::to_string(index), bits))
        return false;
  } while (stream.accept(","));
  return stream.expect(";");
}

struct SpecialName {
  std::string_view name;
  SpecialRegister which;
};
constexpr SpecialName specialNames[] = {
    {"%tid.x", SpecialRegister::ThreadX},
    {"%tid.y", SpecialRegister::ThreadY},
    {"%tid.z", SpecialRegister::ThreadZ},
    {"%ntid.x", SpecialRegister::BlockSizeX},
    {"%ntid.y", SpecialRegister::BlockSizeY},
    {"%ntid.z", SpecialRegister::BlockSizeZ},
    {"%ctaid.x", SpecialRegister::BlockX},
    {"%ctaid.y", SpecialRegister::BlockY},
    {"%ctaid.z", SpecialRegister::BlockZ},
    {"%nctaid.x", SpecialRegister::GridSizeX},
    {"%nctaid.y", SpecialRegister::GridSizeY},
    {"%nctaid.z", SpecialRegister::GridSizeZ},
    {"%laneid", SpecialRegister::Lane},
    {"%warpid", SpecialRegister::Warp},
    {"WARP_SZ", SpecialRegister::WarpSize},
    {"%lanemask_eq", SpecialRegister::LaneMaskEqual},
    {"%lanemask_le", SpecialRegister::LaneMaskLessEqual},
    {"%lanemask_lt", SpecialRegister::LaneMaskLess},
    {"%lanemask_ge", SpecialRegister::LaneMaskGreaterEqual},
    {"%lanemask_gt", SpecialRegister::LaneMaskGreater},
};

bool BodyParser::parseAddress(Operand &operand) {
  operand.kind = Operand::Kind::Address;
  if (stream.peek().isWord() && !numberFromText(stream.peek().text, operand.immediate)) {
    std::string_view base = stream.next().text;
    operand.immediate = 0;
    operand.index = findRegister(base);
    const Symbol *symbol = operand.index < 0 ? findSymbol(base) : nullptr;
    if (operand.index < 0 && !symbol)
      return stream.fail("unknown name '" + printable(base) + "' in an address");
    if (symbol) {
      operand.immediate = symbol->offset;
      operand.inDynamicShared = symbol->dynamicShared;
      operand.inModuleGlobals = symbol->space == Space::Global;
    }
    if (operand.index >= 0 && kernel.registerBits[size_t(operand.index)] < 32)
      return stream.fail("register '" + printable(base) + "' is too narrow for an address");
  } else if (!stream.number(operand.immediate)) {
    return false;
  }
  if (stream.peek().is("+") || stream.peek().is("-")) {
    stream.accept("+");
    uint64_t displacement = 0;
    if (!stream.number(displacement))
      return false;
    operand.immediate += displacement;
  }
  return stream.expect("]");
}

bool BodyParser::parseVector(Operand &operand) {
  operand.kind = Operand::Kind::Vector;
  do {
    if (operand.elements.size() >= 8)
      return stream.fail("vector operand has more than 8 elements");
    operand.elements.emplace_back();
    if (!parseSimpleOperand(operand.elements.back()))
      return false;
  } while (stream.accept(","));
  return stream.expect("}");
}

bool BodyParser::parseSimpleOperand(Operand &operand) {
  if (stream.peek().is("-") ||
      (stream.peek().isWord() && numberFromText(stream.peek().text, operand.immediate))) {
    operand.kind = Operand::Kind::Immediate;
    return stream.number(operand.immediate);
  }
  operand.negated = stream.accept("!");
  std::string_view word;
  if (!stream.name(word, "an operand"))
    return false;
  if (word == "_") {
    operand.kind = Operand::Kind::Sink;
    return true;
  }
  operand.index = findRegister(word);
  if (operand.index >= 0) {
    operand.kind = Operand::Kind::Register;
    return true;
  }
  for (const SpecialName &special : specialNames)
    if (special.name == word) {
      operand.kind = Operand::Kind::Special;
      operand.index = int32_t(special.which);
      return true;
    }
  const Symbol *symbol = findSymbol(word);
  if (!symbol)
    return stream.fail("unknown operand '" + printable(word) + "'");
  operand.kind =
      symbol->space == Space::Global ? Operand::Kind::ModuleAddress : Operand::Kind::Immediate;
  operand.immediate = symbol->offset;
  operand.inDynamicShared = symbol->dynamicShared;
  return true;
}

bool BodyParser::parseOperand(Operand &operand) {
  if (stream.accept("["))
    return parseAddress(operand);
  if (stream.accept("{"))
    return parseVector(operand);
  if (!parseSimpleOperand(operand))
    return false;
  if (!stream.accept("|"))
    return true;
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.elements.push_back(operand);
  pair.elements.emplace_back();
  if (!parseSimpleOperand(pair.elements[1]))
    return false;
  operand = std::move(pair);
  return true;
}

bool BodyParser::parseBranchTarget(size_t index) {
  Fixup fixup{index, {}, {}};
  if (!stream.name(fixup.label, "a label"))
    return false;
  for (const Scope &scope : scopes)
    fixup.scopes.push_back(scope.labels);
  fixups.push_back(std::move(fixup));
  return true;
}

bool BodyParser::parseOperands(Instruction &instruction) {
  std::string_view mnemonic = instruction.mnemonic;
  if (mnemonic == "bra" || mnemonic.substr(0, 4) == "bra.")
    return parseBranchTarget(kernel.code.size());
  if (mnemonic.substr(0, 4) == "call") {
    std::string error;
    decodeForm(instruction, kernel, error);
    return stream.failAt(instruction.line, error);
  }
  if (stream.peek().is(";"))
    return true;
  do {
    instruction.operands.emplace_back();
    if (!parseOperand(instruction.operands.back()))
      return false;
  } while (stream.accept(","));
  return true;
}

bool BodyParser::parseInstruction() {
  Instruction instruction;
  instruction.line = stream.peek().line;
  std::string_view word;
  if (stream.accept("@")) {
    instruction.predicateNegated = stream.accept("!");
    if (!stream.name(word, "a predicate"))
      return false;
    instruction.predicate = findRegister(word);
    if (instruction.predicate < 0 || kernel.registerBits[size_t(instruction.predicate)] != 1)
      return stream.fail("found '" + printable(word) + "', expected a predicate register");
  }
  instruction.line = stream.peek().line;
  if (!stream.name(word, "an instruction"))
    return false;
  instruction.mnemonic = std::string(word);
  if (!parseOperands(instruction))
    return false;
  std::string error;
  if (!decodeForm(instruction, kernel, error))
    return stream.failAt(instruction.line, error);
  kernel.code.push_back(std::move(instruction));
  return stream.expect(";");
}

/// Dynamic shared memory starts after the static variables, whose size is known only now.
void BodyParser::placeDynamicShared() {
  kernel.dynamicOffset = (kernel.sharedBytes + kernel.dynamicAlignment - 1) /
                         kernel.dynamicAlignment * kernel.dynamicAlignment;
  for (Instruction &instruction : kernel.code)
    for (Operand &operand : instruction.operands) {
      if (operand.inDynamicShared)
        operand.immediate += kernel.dynamicOffset;
      for (Operand &element : operand.elements)
        if (element.inDynamicShared)
          element.immediate += kernel.dynamicOffset;
    }
}

bool BodyParser::resolveBranches() {
  for (const Fixup &fixup : fixups) {
    bool found = false;
    for (size_t depth = fixup.scopes.size(); depth-- > 0 && !found;) {
      const auto &table = labels[fixup.scopes[depth]];
      if (auto entry = table.find(fixup.label); entry != table.end()) {
        kernel.code[fixup.instruction].target = entry->second;
        found = true;
      }
    }
    if (!found)
      return stream.failAt(kernel.code[fixup.instruction].line,
                           "label '" + printable(fixup.label) + "' is not defined here");
  }
  return true;
}

} // namespace

bool parseBody(TokenStream &stream, Module &module, Kernel &kernel, const Symbols &symbols) {
  return BodyParser(stream, module, kernel, symbols).parse();
}

} // namespace llmc::ptx
