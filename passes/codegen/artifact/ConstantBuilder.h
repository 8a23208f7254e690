// SPDX-License-Identifier: Apache-2.0
// Makes constant globals of an LLVM module from C++ values, with the layout that abi.h's structs
// have in C: fields in order at their natural alignment. Used by TablesObject.cpp.
#pragma once

#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

namespace llmc::artifact {

class ConstantBuilder {
public:
  explicit ConstantBuilder(llvm::Module &module) : module(module), context(module.getContext()) {}

  using Fields = llvm::ArrayRef<llvm::Constant *>;

  llvm::Constant *u16(uint16_t value) { return integer(16, value); }
  llvm::Constant *u32(uint32_t value) { return integer(32, value); }
  llvm::Constant *u64(uint64_t value) { return integer(64, value); }
  llvm::Constant *null() {
    return llvm::ConstantPointerNull::get(llvm::PointerType::get(context, 0));
  }
  llvm::Constant *record(Fields fields) { return llvm::ConstantStruct::getAnon(context, fields); }

  // A hidden function that another object defines.
  llvm::Function *function(llvm::StringRef name) {
    auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
    auto *result = llvm::cast<llvm::Function>(module.getOrInsertFunction(name, type).getCallee());
    result->setVisibility(llvm::GlobalValue::HiddenVisibility);
    return result;
  }

  llvm::GlobalVariable *global(llvm::Constant *value, uint64_t alignment = 8) {
    auto *result = new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::PrivateLinkage, value);
    result->setAlignment(llvm::Align(alignment));
    return result;
  }

  // A pointer to NUL-terminated bytes, or to exactly `bytes` where they end in a NUL of their own.
  llvm::Constant *string(llvm::StringRef text) {
    return global(llvm::ConstantDataArray::getString(context, text, /*AddNull=*/true), 1);
  }
  llvm::Constant *bytes(llvm::StringRef text, uint64_t alignment = 1) {
    return global(llvm::ConstantDataArray::getString(context, text, /*AddNull=*/false), alignment);
  }

  // A pointer to an array; null when it is empty.
  llvm::Constant *array(Fields elements) {
    if (elements.empty())
      return null();
    auto *type = llvm::ArrayType::get(elements.front()->getType(), elements.size());
    return global(llvm::ConstantArray::get(type, elements));
  }
  template <typename T> llvm::Constant *numbers(llvm::ArrayRef<T> values) {
    return values.empty() ? null() : global(llvm::ConstantDataArray::get(context, values));
  }

private:
  llvm::Constant *integer(unsigned bits, uint64_t value) {
    return llvm::ConstantInt::get(llvm::Type::getIntNTy(context, bits), value);
  }

  llvm::Module &module;
  llvm::LLVMContext &context;
};

} // namespace llmc::artifact
