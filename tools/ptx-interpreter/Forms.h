// SPDX-License-Identifier: Apache-2.0
// The semantics tables: every instruction form the interpreter knows is one row. A mnemonic that no
// row covers, down to its last modifier, is refused when the module is loaded, so a new form in a
// compiler's output is noticed.
#ifndef LLMC_TOOLS_PTX_INTERPRETER_FORMS_H
#define LLMC_TOOLS_PTX_INTERPRETER_FORMS_H

#include "tools/ptx-interpreter/Module.h"

#include <cstddef>

namespace llmc::ptx {

/// What the warp does with an instruction. Evaluate covers all that computes one result from a
/// lane's own operands.
enum class Action : uint8_t {
  Evaluate,
  Move,
  Select,
  SetPredicate,
  Load,
  Store,
  Branch,
  Exit,
  Barrier,
  WarpBarrier,
  Shuffle,
  Vote,
  ActiveMask,
  AsyncCopy,
  CommitCopies,
  WaitForCopies,
  LoadMatrix,
  MultiplyMatrices,
  Trap,
  Nothing
};

/// One lane's result from its source cells (operands after the destination, in order).
using Evaluate = uint64_t (*)(const Instruction &, const uint64_t *sources);

struct Form {
  /// Opcode and the modifiers that must be present, in any order: "mul.wide".
  std::string_view name;
  /// Types allowed, and (for two-typed forms) source types allowed; separated by spaces, empty for
  /// none.
  std::string_view types;
  std::string_view sourceTypes;
  /// Further modifiers that may be present.
  std::string_view optional;
  /// One letter an operand; after '?' those that may be missing:
  /// d destination register or _, q predicate destination or pair, D destination or
  /// destination|predicate, s source, p predicate source, i immediate, a address, v register or
  /// vector of the form's width, m source of any register kind, or vector of sources; n destination
  /// or vector of destinations.
  /// x destination vector of 4, y source vector of 4, z source vector of 2.
  std::string_view operands;
  Action action = Action::Evaluate;
  Evaluate evaluate = nullptr;
};

struct FormList {
  const Form *rows;
  size_t count;
};

FormList integerForms();
FormList bitForms();
FormList floatForms();
FormList convertForms();
FormList controlForms();

/// Finds the row for `instruction.mnemonic` and fills form, types and modifiers; checks the
/// operands' kinds against it. Returns false with a message that names the form.
bool decodeForm(Instruction &instruction, const Kernel &kernel, std::string &error);

/// setp's comparison of two cells, without the combining predicate.
bool compareCells(const Instruction &instruction, uint64_t left, uint64_t right);

/// A float cell with a subnormal replaced by a zero of its sign, where the instruction says ftz
/// (f32 only).
uint64_t flushed(const Instruction &instruction, uint64_t cell, ScalarType type);

} // namespace llmc::ptx

#endif
