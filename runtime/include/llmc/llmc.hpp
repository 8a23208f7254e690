// SPDX-License-Identifier: Apache-2.0
//
// llmc.h with owners: contexts, models, sessions and sequences that destroy themselves and can be
// moved. No exceptions; what can fail gives a Result, which holds a value or an error. Everything
// else is llmc.h, reachable through get().
#ifndef LLMC_LLMC_HPP
#define LLMC_LLMC_HPP

#include "llmc/llmc.h"
#include <utility>

namespace llmc {
// Inline, so that these names do not collide when a program links the compiler's own llmc::Error and llmc::Result too.
inline namespace host {

struct Error {
  llmc_error raw{};
  Error() { raw.struct_size = sizeof raw; }
  llmc_status status() const { return raw.status; }
  const char *message() const { return raw.message; }
};

// A value, or an error. Ask before taking the value; that of a failed result is empty.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : held(std::move(value)) {}
  Result(const Error &error) : failure(error), failed(true) {}
  explicit operator bool() const { return !failed; }
  T &operator*() { return held; }
  T *operator->() { return &held; }
  const Error &error() const { return failure; }

private:
  T held{};
  Error failure;
  bool failed = false;
};

template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(const Error &error) : failure(error), failed(true) {}
  explicit operator bool() const { return !failed; }
  const Error &error() const { return failure; }

private:
  Error failure;
  bool failed = false;
};

// Owns one C object; empty after a move.
template <typename T, void (*Destroy)(T *)> class Owner {
public:
  Owner() = default;
  explicit Owner(T *object) : object(object) {}
  Owner(Owner &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Owner &operator=(Owner &&other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Owner() { Destroy(object); }
  T *get() const { return object; }

private:
  T *object = nullptr;
};

inline void releaseSequence(llmc_sequence *sequence) {
  if (sequence)
    llmc_sequence_release(sequence, nullptr);
}

using Context = Owner<llmc_context, llmc_context_destroy>;
using Model = Owner<llmc_model, llmc_model_destroy>;
using Session = Owner<llmc_session, llmc_session_destroy>;
// Must go before its session does.
using Sequence = Owner<llmc_sequence, releaseSequence>;

inline Result<Context> createContext(const llmc_context_options *options = nullptr) {
  Error error;
  llmc_context *context = nullptr;
  if (llmc_context_create(options, &context, &error.raw))
    return error;
  return Context(context);
}

inline Result<Model> openModel(const Context &context, const char *path,
                               const llmc_model_options *options = nullptr) {
  Error error;
  llmc_model *model = nullptr;
  if (llmc_model_open(context.get(), path, options, &model, &error.raw))
    return error;
  return Model(model);
}

inline Result<Model> linkedModel(const Context &context, llmc_model_query query,
                                 const llmc_model_options *options = nullptr) {
  Error error;
  llmc_model *model = nullptr;
  if (llmc_model_from_artifact(context.get(), query, options, &model, &error.raw))
    return error;
  return Model(model);
}

inline Result<Session> createSession(const Model &model,
                                     const llmc_session_options *options = nullptr) {
  Error error;
  llmc_session *session = nullptr;
  if (llmc_session_create(model.get(), options, &session, &error.raw))
    return error;
  return Session(session);
}

inline Result<Sequence> createSequence(const Session &session) {
  Error error;
  llmc_sequence *sequence = nullptr;
  if (llmc_sequence_create(session.get(), &sequence, &error.raw))
    return error;
  return Sequence(sequence);
}

inline Result<llmc_step_result> step(const Session &session, const llmc_rows *rows,
                                     uint32_t entries, const llmc_step_options *options = nullptr) {
  Error error;
  llmc_step_result result{};
  result.struct_size = sizeof result;
  if (llmc_session_step(session.get(), rows, entries, options, &result, &error.raw))
    return error;
  return result;
}

// Logits of the last token.
inline Result<llmc_step_result> prefill(const Session &session, const Sequence &sequence,
                                        const int32_t *tokens, uint32_t count) {
  Error error;
  llmc_step_result result{};
  result.struct_size = sizeof result;
  if (llmc_prefill(session.get(), sequence.get(), tokens, count, &result, &error.raw))
    return error;
  return result;
}

inline Result<void> truncate(const Sequence &sequence, uint32_t length) {
  Error error;
  if (llmc_sequence_truncate(sequence.get(), length, &error.raw))
    return error;
  return {};
}

} // namespace host
} // namespace llmc

#endif // LLMC_LLMC_HPP
