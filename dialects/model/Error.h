// SPDX-License-Identifier: Apache-2.0
// How the parts without MLIR say that something failed: `Error` (one line and its notes), `Status`
// (fine, or an Error) and `Result<T>` (a T, or an Error). No exceptions, no LLVM. The line reads
// `FILE: PLACE: error: what was found, expected what`; bytes that come from a file go through
// `escaped` first.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace llmc {

struct [[nodiscard]] Error {
  std::string message;            // `FILE: PLACE: error: ...`, one line
  std::vector<std::string> notes; // each `FILE: PLACE: note: ...` or `note: ...`, one line

  // The message and its notes, one a line, without a newline at the end.
  std::string str() const;
  Error &&withNote(std::string note) &&;
};

// Control bytes and everything that is not printable ASCII or well-formed UTF-8 as \xNN, cut after
// `limit` bytes.
std::string escaped(std::string_view text, size_t limit = 200);

// `FILE: PLACE: error: TEXT`; an empty place is left out. The file's name is escaped, `place` and
// `text` are expected to be escaped where they hold bytes of a file.
Error errorAt(std::string_view file, std::string_view place, std::string_view text);
std::string noteAt(std::string_view file, std::string_view place, std::string_view text);

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Error error) : failure(std::move(error)) {}

  bool ok() const { return !failure; }
  explicit operator bool() const { return ok(); }
  const Error &error() const { return *failure; }
  Error takeError() { return std::move(*failure); }

private:
  std::optional<Error> failure;
};

template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::move(value)) {}
  Result(Error error) : state(std::move(error)) {}

  bool ok() const { return state.index() == 0; }
  explicit operator bool() const { return ok(); }
  T &operator*() { return *std::get_if<0>(&state); }
  const T &operator*() const { return *std::get_if<0>(&state); }
  T *operator->() { return std::get_if<0>(&state); }
  const T *operator->() const { return std::get_if<0>(&state); }
  const Error &error() const { return *std::get_if<1>(&state); }
  Error takeError() { return std::move(*std::get_if<1>(&state)); }

private:
  std::variant<T, Error> state;
};

} // namespace llmc
