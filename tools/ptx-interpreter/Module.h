// SPDX-License-Identifier: Apache-2.0
// What a PTX text becomes: a module of kernels, each a list of decoded instructions plus its
// registers, parameters and the sizes of its shared and local memory. Plain data; the parser fills
// it, the machine runs it.
#ifndef LLMC_TOOLS_PTX_INTERPRETER_MODULE_H
#define LLMC_TOOLS_PTX_INTERPRETER_MODULE_H

#include "tools/ptx-interpreter/FloatFormat.h"
#include "tools/ptx-interpreter/Types.h"

#include <string>
#include <vector>

namespace llmc::ptx {

enum class Space : uint8_t { Generic, Global, Shared, Parameter, Local };

enum class SpecialRegister : uint8_t {
  ThreadX,
  ThreadY,
  ThreadZ,
  BlockSizeX,
  BlockSizeY,
  BlockSizeZ,
  BlockX,
  BlockY,
  BlockZ,
  GridSizeX,
  GridSizeY,
  GridSizeZ,
  Lane,
  Warp,
  WarpSize,
  LaneMaskEqual,
  LaneMaskLessEqual,
  LaneMaskLess,
  LaneMaskGreaterEqual,
  LaneMaskGreater
};

struct Operand {
  enum class Kind : uint8_t {
    Register,      // `index` is the register
    Immediate,     // `immediate`
    ModuleAddress, // `immediate` bytes into the module's global variables
    Special,       // `index` is a SpecialRegister
    Vector,        // {a, b}
    Address,       // [register + immediate]; `index` < 0: no register
    Pair,          // a|b
    Sink           // _
  };
  Kind kind = Kind::Immediate;
  bool negated = false;         // !%p
  bool inModuleGlobals = false; // an Address relative to the module's global variables
  bool inDynamicShared = false; // until the body is read to its end and the start is known
  int32_t index = -1;
  uint64_t immediate = 0;
  std::vector<Operand> elements;
};

enum class Comparison : uint8_t {
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Number,
  NotNumber
};
enum class Combination : uint8_t { None, And, Or, Xor };
enum class Exchange : uint8_t { None, Up, Down, Butterfly, Index, All, Any, Uniform, Ballot };

/// What the modifiers of a mnemonic say, beyond those that chose its form.
struct Modifiers {
  Rounding rounding = Rounding::NearestEven;
  bool toWhole = false;    // rni, rzi, rmi, rpi
  bool flush = false;      // ftz
  bool saturate = false;   // sat
  bool nan = false;        // NaN
  bool unordered = false;  // equ, neu, ltu, ...
  bool wrap = false;       // shf.*.wrap
  bool transposed = false; // ldmatrix.trans
  bool brain = false;      // a bf16 among the types
  bool compares = false;   // setp's comparison was named
  Comparison comparison = Comparison::Equal;
  Combination combination = Combination::None;
  Exchange exchange = Exchange::None; // of shfl and vote
  Space space = Space::Generic;
  uint8_t vectorWidth = 1;
};

struct Form;

struct Instruction {
  const Form *form = nullptr;
  ScalarType type = ScalarType::None;
  ScalarType sourceType = ScalarType::None;
  Modifiers modifiers;
  int32_t predicate = -1;
  bool predicateNegated = false;
  uint32_t target = 0; // of a branch
  uint32_t line = 0;
  std::string mnemonic;
  std::vector<Operand> operands;
};

struct Parameter {
  uint32_t offset = 0;
  uint32_t size = 0;
};

struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<uint8_t> registerBits; // declared width of each register; 1 for predicates
  std::vector<std::string> registerNames;
  std::vector<Instruction> code;
  uint32_t parameterBytes = 0;
  uint32_t sharedBytes = 0; // static
  uint32_t dynamicAlignment = 16;
  uint32_t dynamicOffset = 0;              // where dynamic shared memory starts
  uint32_t localBytes = 0;                 // a thread
  uint32_t requiredThreads[3] = {0, 0, 0}; // .reqntid; zeros: any
  uint32_t maximumThreads = 1024;          // .maxntid
};

struct Module {
  std::string fileName;
  std::vector<Kernel> kernels;
  std::vector<uint8_t> globals; // initial bytes of .global and .const variables

  const Kernel *find(std::string_view name) const {
    for (const Kernel &kernel : kernels)
      if (kernel.name == name)
        return &kernel;
    return nullptr;
  }
};

/// What hardware of the modelled kind offers; a text that asks for more is refused, which also
/// bounds memory.
namespace limits {
constexpr uint32_t textBytes = 16u << 20;
constexpr uint32_t registers = 65536;
constexpr uint32_t sharedBytes = 227u << 10;
constexpr uint32_t localBytes = 64u << 10;
constexpr uint32_t parameterBytes = 32764;
constexpr uint32_t globalBytes = 64u << 20;
constexpr uint32_t threadsPerBlock = 1024;
constexpr uint32_t nesting = 64;
} // namespace limits

} // namespace llmc::ptx

#endif
