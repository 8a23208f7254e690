// SPDX-License-Identifier: Apache-2.0
// A compiled model as the commands use it: owners for the C objects of llmc.h, and statuses turned
// into errors. Not llmc.hpp, whose Error and Result are those of applications.
#pragma once

#include "llmc/llmc.h"
#include "tools/llmc/Options.h"
#include <memory>

namespace llmc::tool {

template <auto Destroy> struct Destroyer {
  template <typename T> void operator()(T *object) const { Destroy(object); }
};
using ContextOwner = std::unique_ptr<llmc_context, Destroyer<llmc_context_destroy>>;
using ModelOwner = std::unique_ptr<llmc_model, Destroyer<llmc_model_destroy>>;
using SessionOwner = std::unique_ptr<llmc_session, Destroyer<llmc_session_destroy>>;

// The C library's error; give raw() to a call, then take() if it failed.
class CallError {
public:
  CallError() { error.struct_size = sizeof error; }
  llmc_error *raw() { return &error; }
  Error take() const { return Error{error.message, {}}; }

private:
  llmc_error error{};
};

struct LoadedModel {
  std::string path;
  ContextOwner context;
  ModelOwner model;
  llmc_model_info info{};
};

// `allocator` may be NULL.
Result<LoadedModel> loadModel(const ModelOptions &options, const llmc_allocator *allocator);
Result<SessionOwner> makeSession(const LoadedModel &loaded, llmc_session_options options);

// The greedy pick from one row of logits; an error where a damaged model gives no number at all.
Result<int32_t> pickToken(const LoadedModel &loaded, const llmc_step_result &result, uint32_t row);

} // namespace llmc::tool
