// SPDX-License-Identifier: Apache-2.0
//
// The last step of a kernel inside MLIR: upstream's patterns turn maths into polynomials and the rest into LLVM ops.
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/codegen/cpu/Passes.h"

namespace llmc::cpu {
#define GEN_PASS_DEF_LOWERKERNELSTOLLVMPASS
#include "passes/codegen/cpu/Passes.h.inc"
} // namespace llmc::cpu

using namespace mlir;

/// Only the three functions whose error was measured (README.md).
static LogicalResult expandMath(LLVM::LLVMFuncOp function) {
  RewritePatternSet patterns(function.getContext());
  populateMathPolynomialApproximationPatterns(
      patterns, [](StringRef name) { return name == "math.exp" || name == "math.tanh" || name == "math.erf"; });
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  return applyPatternsGreedily(function, std::move(patterns));
}

/// Loops and branches first: their block arguments then get their types from one conversion.
static LogicalResult convertToLLVM(LLVM::LLVMFuncOp function) {
  MLIRContext *context = function.getContext();
  ConversionTarget flat(*context);
  flat.addIllegalDialect<scf::SCFDialect>();
  flat.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  RewritePatternSet flatten(context);
  populateSCFToControlFlowConversionPatterns(flatten);
  if (failed(applyPartialConversion(function, flat, std::move(flatten))))
    return failure();
  LLVMTypeConverter converter(context);
  LLVMConversionTarget target(*context);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  return applyFullConversion(function, target, std::move(patterns));
}

namespace {
struct LowerKernelsToLLVM : llmc::cpu::impl::LowerKernelsToLLVMPassBase<LowerKernelsToLLVM> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (failed(expandMath(function)) || failed(convertToLLVM(function)))
        return signalPassFailure();
  }
};
} // namespace
