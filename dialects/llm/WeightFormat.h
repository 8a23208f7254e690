// SPDX-License-Identifier: Apache-2.0
//
// The element type of an `llm.weight` as plain data and back.
#pragma once

#include "dialects/llm/LLMDialect.h"
#include "dialects/model/Quantize.h"

namespace llmc::llm {

inline model::Format formatOf(mlir::Type element) {
  if (auto groups = llvm::dyn_cast<GroupType>(element))
    return {model::ElementType::F32,
            model::GroupFormat{int(groups.getBits()), groups.getMinimum()}};
  if (element.isF16())
    return {model::ElementType::F16, std::nullopt};
  return {element.isBF16() ? model::ElementType::BF16 : model::ElementType::F32, std::nullopt};
}

inline mlir::Type elementTypeOf(mlir::MLIRContext *context, const model::Format &format) {
  if (format.groups)
    return GroupType::get(context, format.groups->bits, format.groups->hasMinimum);
  if (format.floats == model::ElementType::F16)
    return mlir::Float16Type::get(context);
  if (format.floats == model::ElementType::BF16)
    return mlir::BFloat16Type::get(context);
  return mlir::Float32Type::get(context);
}

} // namespace llmc::llm
