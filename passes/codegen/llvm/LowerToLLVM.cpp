// SPDX-License-Identifier: Apache-2.0
//
// Upstream's patterns turn maths into polynomials and the rest into LLVM ops.
#include "passes/codegen/llvm/LowerToLLVM.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace {
/// exp(x) = 2^n * p(r) with n = round(x / ln 2), r = x - n ln 2. Replaces MLIR's expansion, which
/// spends as many instructions again on special values; here clamping x gives them: n = -127 makes
/// the power 0, n = 128 makes it infinite, NaN passes.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return rewriter.notifyMatchFailure(op, "only f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto constant = [&](float value) -> Value {
      TypedAttr element = b.getF32FloatAttr(value);
      auto shaped = dyn_cast<ShapedType>(type);
      return arith::ConstantOp::create(
          b, shaped ? TypedAttr(DenseElementsAttr::get(shaped, Attribute(element))) : element);
    };
    auto fma = [&](Value x, Value y, Value z) -> Value { return math::FmaOp::create(b, x, y, z); };
    auto clamp = [&](Value x, arith::CmpFPredicate beyond, Value limit) -> Value {
      return arith::SelectOp::create(b, arith::CmpFOp::create(b, beyond, x, limit), limit, x);
    };
    Value x = clamp(op.getOperand(), arith::CmpFPredicate::OLT, constant(-88.1f));
    x = clamp(x, arith::CmpFPredicate::OGT, constant(89.0f));
    // Adding 1.5 * 2^23 rounds to an integer, which then lies in the low bits.
    Value shift = constant(12582912.0f), shifted = fma(x, constant(1.44269504f), shift);
    Value n = arith::SubFOp::create(b, shifted, shift);
    Value r = fma(n, constant(-0.693359375f), x);
    r = fma(n, constant(2.12194440e-4f), r);
    Value p = constant(1.9875691e-4f);
    for (float coefficient :
         {1.3981999e-3f, 8.3334519e-3f, 4.1665796e-2f, 1.6666665e-1f, 5.0000001e-1f})
      p = fma(p, r, constant(coefficient));
    p = arith::AddFOp::create(b, fma(p, arith::MulFOp::create(b, r, r), r), constant(1.0f));
    Type bits = type;
    if (auto shaped = dyn_cast<ShapedType>(type))
      bits = shaped.clone(b.getI32Type());
    else
      bits = b.getI32Type();
    auto integer = [&](int32_t value) -> Value {
      TypedAttr element = b.getI32IntegerAttr(value);
      auto shaped = dyn_cast<ShapedType>(bits);
      return arith::ConstantOp::create(
          b, shaped ? TypedAttr(DenseElementsAttr::get(shaped, Attribute(element))) : element);
    };
    Value exponent =
        arith::AddIOp::create(b, arith::BitcastOp::create(b, bits, shifted), integer(127));
    Value power =
        arith::BitcastOp::create(b, type, arith::ShLIOp::create(b, exponent, integer(23)));
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, p, power);
    return success();
  }
};
} // namespace

/// Only the three functions whose error was measured (README.md).
static LogicalResult expandMath(LLVM::LLVMFuncOp function) {
  RewritePatternSet patterns(function.getContext());
  patterns.add<ExpandExp>(function.getContext());
  populateMathPolynomialApproximationPatterns(
      patterns, [](StringRef name) { return name == "math.tanh" || name == "math.erf"; });
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateExpandBFloat16Patterns(patterns); // the CPU's own conversions flush subnormals
  return applyPatternsGreedily(function, std::move(patterns));
}

/// Loops and branches first: their block arguments then get their types from one conversion.
static LogicalResult convertToLLVM(LLVM::LLVMFuncOp function, StringRef ownDialect) {
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
  if (!ownDialect.empty())
    target.addLegalDialect(ownDialect);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  return applyFullConversion(function, target, std::move(patterns));
}

LogicalResult llmc::lowerToLLVM(LLVM::LLVMFuncOp function, StringRef ownDialect) {
  return success(succeeded(expandMath(function)) && succeeded(convertToLLVM(function, ownDialect)));
}
