// SPDX-License-Identifier: Apache-2.0
// Forms that need more than a lane's own operands: moves, comparisons, memory, branches, barriers,
// warp exchange. The warp executes them; here are only their rows, and the comparison.
#include "tools/ptx-interpreter/Forms.h"

#include <cmath>

namespace llmc::ptx {

namespace {

template <typename Value> bool ordered(Comparison comparison, Value left, Value right) {
  switch (comparison) {
  case Comparison::Equal:
    return left == right;
  case Comparison::NotEqual:
    return left != right;
  case Comparison::Less:
    return left < right;
  case Comparison::LessEqual:
    return left <= right;
  case Comparison::Greater:
    return left > right;
  case Comparison::GreaterEqual:
    return left >= right;
  default:
    return comparison == Comparison::Number;
  }
}

constexpr std::string_view any =
    "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f32 f64 pred f16x2 bf16x2";
constexpr std::string_view memory = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64";
constexpr std::string_view loads =
    "global shared shared::cta local param param::entry const nc volatile weak v2 v4 v8 ca cg cs "
    "lu cv "
    "L1::evict_last L1::evict_first L1::evict_normal L1::evict_unchanged L1::no_allocate "
    "L2::64B L2::128B L2::256B L2::evict_last L2::evict_first L2::evict_normal";
constexpr std::string_view stores =
    "global shared shared::cta local volatile weak v2 v4 v8 wb cg cs wt "
    "L1::evict_last L1::evict_first L1::evict_normal L1::no_allocate";
constexpr std::string_view signedComparisons = "eq ne lt le gt ge and or xor";
constexpr std::string_view unsignedComparisons = "eq ne lt le gt ge lo ls hi hs and or xor";
constexpr std::string_view floatComparisons =
    "eq ne lt le gt ge equ neu ltu leu gtu geu num nan and or xor ftz";

constexpr std::string_view copies = "L2::64B L2::128B L2::256B";

constexpr Form rows[] = {
    {"mov", any, "", "", "nm", Action::Move},
    {"selp", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f32 f64", "", "", "dssp",
     Action::Select},
    {"setp", "b16 b32 b64", "", "eq ne and or xor", "qss?p", Action::SetPredicate},
    {"setp", "u16 u32 u64", "", unsignedComparisons, "qss?p", Action::SetPredicate},
    {"setp", "s16 s32 s64", "", signedComparisons, "qss?p", Action::SetPredicate},
    {"setp", "f16 bf16 f32 f64", "", floatComparisons, "qss?p", Action::SetPredicate},
    {"ld", memory, "", loads, "va", Action::Load},
    {"ldu", memory, "", "global v2 v4", "va", Action::Load},
    {"st", memory, "", stores, "av", Action::Store},
    {"bra", "", "", "uni", "", Action::Branch}, // its label is resolved by the parser
    {"ret", "", "", "uni", "", Action::Exit},
    {"exit", "", "", "", "", Action::Exit},
    {"trap", "", "", "", "", Action::Trap},
    {"bar.sync", "", "", "cta", "i?i", Action::Barrier},
    {"barrier.sync", "", "", "aligned cta", "i?i", Action::Barrier},
    {"bar.warp.sync", "", "", "", "m", Action::WarpBarrier},
    {"shfl.sync.up", "b32", "", "", "Dssss", Action::Shuffle},
    {"shfl.sync.down", "b32", "", "", "Dssss", Action::Shuffle},
    {"shfl.sync.bfly", "b32", "", "", "Dssss", Action::Shuffle},
    {"shfl.sync.idx", "b32", "", "", "Dssss", Action::Shuffle},
    {"vote.sync.all", "pred", "", "", "dpm", Action::Vote},
    {"vote.sync.any", "pred", "", "", "dpm", Action::Vote},
    {"vote.sync.uni", "pred", "", "", "dpm", Action::Vote},
    {"vote.sync.ballot", "b32", "", "", "dpm", Action::Vote},
    {"activemask", "b32", "", "", "d", Action::ActiveMask},
    {"cp.async.ca.shared.global", "", "", copies, "aai?s", Action::AsyncCopy},
    {"cp.async.ca.shared::cta.global", "", "", copies, "aai?s", Action::AsyncCopy},
    {"cp.async.cg.shared.global", "", "", copies, "aai?s", Action::AsyncCopy},
    {"cp.async.cg.shared::cta.global", "", "", copies, "aai?s", Action::AsyncCopy},
    {"cp.async.commit_group", "", "", "", "", Action::CommitCopies},
    {"cp.async.wait_group", "", "", "", "i", Action::WaitForCopies},
    {"cp.async.wait_all", "", "", "", "", Action::WaitForCopies},
    {"ldmatrix.sync.aligned.m8n8", "b16", "", "x1 x2 x4 trans shared shared::cta", "va",
     Action::LoadMatrix},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "", "", "", "xyzy",
     Action::MultiplyMatrices},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "", "", "", "xyzy",
     Action::MultiplyMatrices},
    {"membar", "", "", "cta gl sys", "", Action::Nothing},
    {"prefetch", "", "", "global L1 L2", "a", Action::Nothing},
};

} // namespace

FormList controlForms() { return {rows, sizeof rows / sizeof *rows}; }

bool compareCells(const Instruction &instruction, uint64_t left, uint64_t right) {
  const Modifiers &modifiers = instruction.modifiers;
  ScalarType type = instruction.type;
  if (isFloat(type)) {
    double a = cellToDouble(flushed(instruction, left, type), type);
    double b = cellToDouble(flushed(instruction, right, type), type);
    if (std::isnan(a) || std::isnan(b))
      return modifiers.unordered;
    return ordered(modifiers.comparison, a, b);
  }
  if (isSigned(type))
    return ordered(modifiers.comparison, signExtend(left, type), signExtend(right, type));
  return ordered(modifiers.comparison, zeroExtend(left, type), zeroExtend(right, type));
}

} // namespace llmc::ptx
