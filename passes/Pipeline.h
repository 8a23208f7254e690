// SPDX-License-Identifier: Apache-2.0
//
// The road as one table: {stage, --emit name, one sentence, passes, contract}. `llmc`, `llmc-opt
// --llmc-stage`, the README's stage table and the pipeline test all read it.
#pragma once

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ArrayRef.h"

namespace llmc {

/// Made once in tools/, travels in arguments.
struct PipelineOptions {
  std::string target = "cpu:native";
  std::string kvLayout = "head_major";
  std::string fuseNorm = "cost"; ///< cost, always or never
  std::string schedule;          ///< forced schedule fields (passes/schedule/ForcedSchedule.h)
  std::string quant = "keep";    ///< keep, f32, bf16, int8 or int4
  int64_t panelRows = 32;
  std::string kv = "auto";       ///< f32, bf16, int8 or auto: f32 where all weights are f32, else bf16
};

struct Stage {
  llvm::StringLiteral name; ///< also the --emit name
  llvm::StringLiteral sentence;
  /// Appends the stage's passes, without clean-up and contract. Null: the driver itself does it
  /// (import, object).
  void (*build)(mlir::OpPassManager &, const PipelineOptions &);
  bool hasContract;
};

/// All stages in the order of the road.
llvm::ArrayRef<Stage> stages();
/// Null where there is no such stage.
const Stage *findStage(llvm::StringRef name);

/// Appends one stage: passes, clean-up, contract.
void addStage(mlir::OpPassManager &passes, const Stage &stage, const PipelineOptions &options);
/// Appends the check of what the stage promises, where it has one.
void addContract(mlir::OpPassManager &passes, const Stage &stage);
/// Appends the stages after `from` up to and including `to` ("import" ... "kernel").
void addStages(mlir::OpPassManager &passes, llvm::StringRef from, llvm::StringRef to,
               const PipelineOptions &options);

/// Registers every pass of llmc, and the stages as the pipeline `llmc-stage=NAME`, for llmc-opt.
void registerPasses();

} // namespace llmc
