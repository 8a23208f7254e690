// SPDX-License-Identifier: Apache-2.0
// Matches a mnemonic against the rows of the semantics tables and checks operand kinds.
#include "tools/ptx-interpreter/Forms.h"

#include <algorithm>

namespace llmc::ptx {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t end = std::min(text.find(separator), text.size());
    if (end > 0)
      parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool listed(std::string_view list, std::string_view word) {
  for (std::string_view part : split(list, ' '))
    if (part == word)
      return true;
  return false;
}

struct ComparisonName {
  std::string_view name;
  Comparison comparison;
  bool unordered;
};
constexpr ComparisonName comparisonNames[] = {
    {"eq", Comparison::Equal, false},   {"ne", Comparison::NotEqual, false},
    {"lt", Comparison::Less, false},    {"le", Comparison::LessEqual, false},
    {"gt", Comparison::Greater, false}, {"ge", Comparison::GreaterEqual, false},
    {"lo", Comparison::Less, false},    {"ls", Comparison::LessEqual, false},
    {"hi", Comparison::Greater, false}, {"hs", Comparison::GreaterEqual, false},
    {"equ", Comparison::Equal, true},   {"neu", Comparison::NotEqual, true},
    {"ltu", Comparison::Less, true},    {"leu", Comparison::LessEqual, true},
    {"gtu", Comparison::Greater, true}, {"geu", Comparison::GreaterEqual, true},
    {"num", Comparison::Number, false}, {"nan", Comparison::NotNumber, true},
};

struct RoundingName {
  std::string_view name;
  Rounding rounding;
  bool toWhole;
};
constexpr RoundingName roundingNames[] = {
    {"rn", Rounding::NearestEven, false}, {"rz", Rounding::Zero, false},
    {"rm", Rounding::Down, false},        {"rp", Rounding::Up, false},
    {"rni", Rounding::NearestEven, true}, {"rzi", Rounding::Zero, true},
    {"rmi", Rounding::Down, true},        {"rpi", Rounding::Up, true},
};

struct SpaceName {
  std::string_view name;
  Space space;
};
constexpr SpaceName spaceNames[] = {
    {"global", Space::Global},          {"const", Space::Global},
    {"shared", Space::Shared},          {"local", Space::Local},
    {"shared::cta", Space::Shared},     {"param", Space::Parameter},
    {"param::entry", Space::Parameter},
};

struct ExchangeName {
  std::string_view name;
  Exchange exchange;
};
constexpr ExchangeName exchangeNames[] = {
    {"up", Exchange::Up},       {"down", Exchange::Down},     {"bfly", Exchange::Butterfly},
    {"idx", Exchange::Index},   {"all", Exchange::All},       {"any", Exchange::Any},
    {"uni", Exchange::Uniform}, {"ballot", Exchange::Ballot},
};

/// Notes what a modifier says. Modifiers without an entry (cache hints and the like) have no effect
/// here.
void apply(std::string_view modifier, Modifiers &modifiers) {
  for (const RoundingName &entry : roundingNames)
    if (entry.name == modifier) {
      modifiers.rounding = entry.rounding;
      modifiers.toWhole = entry.toWhole;
    }
  for (const SpaceName &entry : spaceNames)
    if (entry.name == modifier)
      modifiers.space = entry.space;
  for (const ExchangeName &entry : exchangeNames)
    if (entry.name == modifier)
      modifiers.exchange = entry.exchange;
  if (modifier == "ftz")
    modifiers.flush = true;
  else if (modifier == "sat")
    modifiers.saturate = true;
  else if (modifier == "NaN")
    modifiers.nan = true;
  else if (modifier == "trans")
    modifiers.transposed = true;
  else if (modifier == "bf16")
    modifiers.brain = true;
  else if (modifier == "x2" || modifier == "x4")
    modifiers.vectorWidth = uint8_t(modifier[1] - '0');
  else if (modifier == "wrap")
    modifiers.wrap = true;
  else if (modifier == "and")
    modifiers.combination = Combination::And;
  else if (modifier == "or")
    modifiers.combination = Combination::Or;
  else if (modifier == "xor")
    modifiers.combination = Combination::Xor;
  else if (modifier == "v2" || modifier == "v4" || modifier == "v8")
    modifiers.vectorWidth = uint8_t(modifier[1] - '0');
}

void applyComparison(std::string_view modifier, Modifiers &modifiers) {
  for (const ComparisonName &entry : comparisonNames)
    if (entry.name == modifier) {
      modifiers.comparison = entry.comparison;
      modifiers.unordered = entry.unordered;
      modifiers.compares = true;
    }
}

bool rowMatches(const Form &row, const std::vector<std::string_view> &parts,
                Instruction &instruction) {
  if (row.name.substr(0, parts.front().size()) != parts.front())
    return false; // most rows, before any is taken apart
  std::vector<std::string_view> required = split(row.name, '.');
  if (required.front() != parts.front())
    return false;
  size_t seen = 1;
  Modifiers modifiers;
  std::vector<ScalarType> types;
  for (size_t index = 1; index < parts.size(); ++index) {
    std::string_view part = parts[index];
    if (std::find(required.begin() + 1, required.end(), part) != required.end()) {
      ++seen;
    } else if (ScalarType type = scalarTypeFromName(part); type != ScalarType::None) {
      if (!listed(types.empty() ? row.types : row.sourceTypes, part) || types.size() == 2)
        return false;
      types.push_back(type);
      continue;
    } else if (!listed(row.optional, part)) {
      return false;
    }
    apply(part, modifiers);
    if (row.action == Action::SetPredicate)
      applyComparison(part, modifiers);
  }
  size_t expectedTypes = size_t(!row.types.empty()) + size_t(!row.sourceTypes.empty());
  if (seen != required.size() || types.size() != expectedTypes ||
      modifiers.compares != (row.action == Action::SetPredicate))
    return false;
  instruction.form = &row;
  instruction.modifiers = modifiers;
  instruction.type = types.empty() ? ScalarType::None : types[0];
  instruction.sourceType = types.size() < 2 ? instruction.type : types[1];
  return true;
}

bool isPredicate(const Operand &operand, const Kernel &kernel) {
  return operand.kind == Operand::Kind::Register && kernel.registerBits[size_t(operand.index)] == 1;
}

bool isDestination(const Operand &operand, const Kernel &kernel, bool predicate) {
  if (operand.kind == Operand::Kind::Sink)
    return true;
  return operand.kind == Operand::Kind::Register && !operand.negated &&
         isPredicate(operand, kernel) == predicate;
}

bool isSource(const Operand &operand, const Kernel &kernel) {
  using Kind = Operand::Kind;
  if (operand.negated)
    return false;
  return operand.kind == Kind::Register || operand.kind == Kind::Immediate ||
         operand.kind == Kind::Special || operand.kind == Kind::ModuleAddress;
}

bool allScalar(const Operand &vector, const Kernel &kernel, size_t width, bool store) {
  if (vector.kind != Operand::Kind::Vector || (width && vector.elements.size() != width))
    return false;
  for (const Operand &element : vector.elements)
    if (store ? !isSource(element, kernel) : !isDestination(element, kernel, false))
      return false;
  return !vector.elements.empty();
}

bool isPair(const Operand &operand, const Kernel &kernel, bool firstIsPredicate) {
  return operand.kind == Operand::Kind::Pair &&
         isDestination(operand.elements[0], kernel, firstIsPredicate) &&
         isDestination(operand.elements[1], kernel, true);
}

bool operandFits(char letter, const Instruction &instruction, const Operand &operand,
                 const Kernel &kernel) {
  bool predicateTyped = instruction.type == ScalarType::Pred;
  size_t width = instruction.modifiers.vectorWidth;
  bool store = instruction.form->action == Action::Store;
  switch (letter) {
  case 'd':
    return isDestination(operand, kernel, predicateTyped);
  case 'q':
    return isDestination(operand, kernel, true) || isPair(operand, kernel, true);
  case 'D':
    return isDestination(operand, kernel, false) || isPair(operand, kernel, false);
  case 's':
    return isSource(operand, kernel) && (operand.kind != Operand::Kind::Register ||
                                         isPredicate(operand, kernel) == predicateTyped);
  case 'p':
    return isPredicate(operand, kernel) || operand.kind == Operand::Kind::Immediate;
  case 'i':
    return operand.kind == Operand::Kind::Immediate;
  case 'a':
    return operand.kind == Operand::Kind::Address;
  case 'v':
    if (width > 1 || operand.kind == Operand::Kind::Vector)
      return allScalar(operand, kernel, width, store);
    return store ? isSource(operand, kernel) && !isPredicate(operand, kernel)
                 : isDestination(operand, kernel, false);
  case 'm':
    return isSource(operand, kernel) || allScalar(operand, kernel, 0, true);
  case 'x':
    return allScalar(operand, kernel, 4, false);
  case 'y':
  case 'z':
    return allScalar(operand, kernel, letter == 'y' ? 4 : 2, true);
  case 'n':
    return isDestination(operand, kernel, predicateTyped) || allScalar(operand, kernel, 0, false);
  default:
    return false;
  }
}

bool operandsFit(const Instruction &instruction, const Kernel &kernel, std::string &error) {
  std::string_view letters = instruction.form->operands;
  size_t least = std::min(letters.find('?'), letters.size());
  size_t most = letters.size() - (least < letters.size() ? 1 : 0);
  size_t found = instruction.operands.size();
  if (found < least || found > most) {
    error = "'" + instruction.mnemonic + "' has " + std::to_string(found) + " operands, expected " +
            std::to_string(most);
    return false;
  }
  for (size_t index = 0; index < found; ++index) {
    char letter = letters[index < least ? index : index + 1];
    if (!operandFits(letter, instruction, instruction.operands[index], kernel)) {
      error = "unsupported form '" + instruction.mnemonic + "': operand " +
              std::to_string(index + 1) + " is of a kind it does not take";
      return false;
    }
  }
  return true;
}

/// mov between a vector and a register: the parts have to divide the whole.
bool moveFits(const Instruction &instruction, std::string &error) {
  bool packs = instruction.operands[1].kind == Operand::Kind::Vector;
  bool unpacks = instruction.operands[0].kind == Operand::Kind::Vector;
  size_t parts =
      packs ? instruction.operands[1].elements.size() : instruction.operands[0].elements.size();
  if (!packs && !unpacks)
    return true;
  if (!(packs && unpacks) && (parts == 2 || parts == 4) && sizeInBytes(instruction.type) >= parts &&
      instruction.type != ScalarType::Pred)
    return true;
  error =
      "unsupported form '" + instruction.mnemonic + "' with a vector of " + std::to_string(parts);
  return false;
}

unsigned bitsOf(const Operand &operand, const Kernel &kernel) {
  return operand.kind == Operand::Kind::Register ? kernel.registerBits[size_t(operand.index)] : 64;
}

/// The registers of a load or store hold at least the type; a wider one is filled or cut.
bool transferFits(const Instruction &instruction, const Kernel &kernel, std::string &error) {
  const Operand &value = instruction.operands[instruction.form->action == Action::Store ? 1 : 0];
  unsigned narrowest = value.kind == Operand::Kind::Vector ? 64 : bitsOf(value, kernel);
  for (const Operand &element : value.elements)
    narrowest = std::min(narrowest, bitsOf(element, kernel));
  if (narrowest >= sizeInBits(instruction.type))
    return true;
  error = "'" + instruction.mnemonic + "' has a register of " + std::to_string(narrowest) +
          " bits, expected at least " + std::to_string(sizeInBits(instruction.type));
  return false;
}

/// 4, 8 or 16 bytes, of which the kind that bypasses the first cache takes 16 only.
bool copyFits(const Instruction &instruction, std::string &error) {
  uint64_t size = instruction.operands[2].immediate;
  bool bypasses = instruction.mnemonic.find(".cg.") != std::string::npos;
  if (size == 16 || (!bypasses && (size == 4 || size == 8)))
    return true;
  error = "'" + instruction.mnemonic + "' copies " + std::to_string(size) + " bytes, expected " +
          (bypasses ? "16" : "4, 8 or 16");
  return false;
}

/// Matrix fragments sit in 32-bit registers.
bool matrixFits(const Instruction &instruction, const Kernel &kernel, std::string &error) {
  for (const Operand &operand : instruction.operands) {
    bool fits = operand.kind != Operand::Kind::Register || bitsOf(operand, kernel) == 32;
    for (const Operand &element : operand.elements)
      fits &= element.kind == Operand::Kind::Register && bitsOf(element, kernel) == 32;
    if (fits)
      continue;
    error = "'" + instruction.mnemonic + "' takes fragments in 32-bit registers only";
    return false;
  }
  return true;
}

bool actionFits(const Instruction &instruction, const Kernel &kernel, std::string &error) {
  switch (instruction.form->action) {
  case Action::Move:
    return moveFits(instruction, error);
  case Action::Load:
  case Action::Store:
    return transferFits(instruction, kernel, error);
  case Action::AsyncCopy:
    return copyFits(instruction, error);
  case Action::LoadMatrix:
  case Action::MultiplyMatrices:
    return matrixFits(instruction, kernel, error);
  case Action::SetPredicate:
    if ((instruction.operands.size() > 3) ==
        (instruction.modifiers.combination != Combination::None))
      return true;
    error = "'" + instruction.mnemonic + "' has " + std::to_string(instruction.operands.size()) +
            " operands, expected a fourth exactly when it combines with and, or, xor";
    return false;
  default:
    return true;
  }
}

} // namespace

bool decodeForm(Instruction &instruction, const Kernel &kernel, std::string &error) {
  std::vector<std::string_view> parts = split(instruction.mnemonic, '.');
  for (const FormList &list :
       {integerForms(), bitForms(), floatForms(), convertForms(), controlForms()})
    for (size_t row = 0; row < list.count && !parts.empty(); ++row)
      if (rowMatches(list.rows[row], parts, instruction))
        return operandsFit(instruction, kernel, error) && actionFits(instruction, kernel, error);
  error = "unsupported form '" + instruction.mnemonic + "'";
  if (parts.size() && parts.front() == "call")
    error += "; device functions are not modelled, inline them";
  return false;
}

} // namespace llmc::ptx
