// SPDX-License-Identifier: Apache-2.0
//
// llmc.h with owners: contexts, models, sessions and sequences that destroy themselves and can be
// moved. No exceptions; what can fail gives a Result, which holds a value or an error. Everything
// else is llmc.h, reachable through get().
#ifndef LLMC_LLMC_HPP
#define LLMC_LLMC_HPP

#include "llmc/generate.h"
#include "llmc/llmc.h"
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
using Sampler = Owner<llmc_sampler, llmc_sampler_destroy>;
// Must go before its session does.
using Generator = Owner<llmc_generator, llmc_generator_destroy>;
using StopStrings = Owner<llmc_stop, llmc_stop_destroy>;
using Decoder = Owner<llmc_decoder, llmc_decoder_destroy>;

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

inline Result<Sampler> createSampler(const Context &context, uint32_t vocabulary,
                                     const llmc_sampler_options *options = nullptr) {
  Error error;
  llmc_sampler *sampler = nullptr;
  if (llmc_sampler_create(context.get(), vocabulary, options, &sampler, &error.raw))
    return error;
  return Sampler(sampler);
}

inline Result<Generator> createGenerator(const Session &session, const Sequence &sequence,
                                         const llmc_generator_options *options = nullptr) {
  Error error;
  llmc_generator *generator = nullptr;
  if (llmc_generator_create(session.get(), sequence.get(), options, &generator, &error.raw))
    return error;
  return Generator(generator);
}

inline Result<void> prompt(const Generator &generator, const int32_t *tokens, uint32_t count) {
  Error error;
  if (llmc_generator_prompt(generator.get(), tokens, count, &error.raw))
    return error;
  return {};
}

// The next tokens, at most `most` (0: no limit).
inline Result<llmc_generated> next(const Generator &generator, uint32_t most = 0) {
  Error error;
  llmc_generated generated{};
  generated.struct_size = sizeof generated;
  if (llmc_generator_next(generator.get(), most, &generated, &error.raw))
    return error;
  return generated;
}

inline Result<StopStrings> createStopStrings(const Context &context, const char *const *strings,
                                             uint32_t count) {
  Error error;
  llmc_stop *stop = nullptr;
  if (llmc_stop_create(context.get(), strings, count, &stop, &error.raw))
    return error;
  return StopStrings(stop);
}

// `flags`: LLMC_ENCODE_*.
inline Result<std::vector<int32_t>> encode(const Model &model, std::string_view text,
                                           uint32_t flags) {
  Error error;
  std::vector<int32_t> tokens(text.size() + 8);
  for (;;) {
    size_t count = 0;
    const llmc_status status = llmc_encode(model.get(), text.data(), text.size(), flags,
                                           tokens.data(), tokens.size(), &count, &error.raw);
    if (status && status != LLMC_TOO_SMALL)
      return error;
    tokens.resize(count);
    if (!status)
      return tokens;
  }
}

// `flags`: LLMC_DECODE_*.
inline Result<std::string> decode(const Model &model, const std::vector<int32_t> &tokens,
                                  uint32_t flags) {
  Error error;
  std::string text(8 * tokens.size(), '\0');
  for (;;) {
    size_t bytes = 0;
    const llmc_status status = llmc_decode(model.get(), tokens.data(), tokens.size(), flags,
                                           &text[0], text.size(), &bytes, &error.raw);
    if (status && status != LLMC_TOO_SMALL)
      return error;
    text.resize(bytes);
    if (!status)
      return text;
  }
}

inline Result<Decoder> createDecoder(const Model &model, uint32_t flags) {
  Error error;
  llmc_decoder *decoder = nullptr;
  if (llmc_decoder_create(model.get(), flags, &decoder, &error.raw))
    return error;
  return Decoder(decoder);
}

// What `token` completes; borrowed until the decoder's next call.
inline Result<std::string_view> decodeNext(const Decoder &decoder, int32_t token) {
  Error error;
  const char *text = nullptr;
  size_t bytes = 0;
  if (llmc_decoder_add(decoder.get(), token, &text, &bytes, &error.raw))
    return error;
  return std::string_view(text, bytes);
}

} // namespace host
} // namespace llmc

#endif // LLMC_LLMC_HPP
