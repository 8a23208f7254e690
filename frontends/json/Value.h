// SPDX-License-Identifier: Apache-2.0
// JSON from an untrusted file as a small tree. Parsing never throws, refuses duplicate keys and
// deep nesting before they cost anything, and bounds memory by the size of the text. Everything
// that reads JSON reads it through here.
#pragma once

#include "dialects/model/Error.h"

#include <cstdint>

namespace llmc::json {

struct Children;

// 16 bytes, because a hostile file is mostly values.
class Value {
public:
  enum class Kind : uint8_t { Null, Boolean, Integer, Real, String, Array, Object };

  Value() : integer(0) {}
  explicit Value(bool boolean) : kind(Kind::Boolean), boolean(boolean), integer(0) {}
  explicit Value(int64_t integer) : kind(Kind::Integer), integer(integer) {}
  explicit Value(double real) : kind(Kind::Real), real(real) {}
  explicit Value(std::string text) : kind(Kind::String), chars(new std::string(std::move(text))) {}
  // An empty Array or Object.
  explicit Value(Kind kind) : kind(kind), children(nullptr) {}
  Value(Value &&other) noexcept : Value() { swap(other); }
  Value &operator=(Value &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Value();

  Kind kind = Kind::Null;
  bool boolean = false;
  union {
    int64_t integer;    // Integer: fits 64 bits with a sign
    double real;        // Real: has a fraction or an exponent, or does not fit; always finite
    std::string *chars; // String, owned
    Children *children; // Array or Object, owned; null while it is empty
  };

  bool is(Kind other) const { return kind == other; }
  bool isNumber() const { return kind == Kind::Integer || kind == Kind::Real; }
  double number() const { return kind == Kind::Integer ? static_cast<double>(integer) : real; }
  const std::string &text() const { return *chars; } // of a String

  size_t size() const;                         // of an Array or Object, else 0
  const Value &operator[](size_t index) const; // of an Array or Object
  const std::string &key(size_t index) const;  // of an Object
  const Value *find(std::string_view key) const;
  Children &makeChildren(); // of an Array or Object

private:
  bool isParent() const { return kind == Kind::Array || kind == Kind::Object; }
  void swap(Value &other) {
    std::swap(kind, other.kind);
    std::swap(boolean, other.boolean);
    std::swap(integer, other.integer); // the widest member: exchanges whichever is alive
  }
};

struct Children {
  std::vector<std::string> keys; // of an Object, one for each value
  std::vector<Value> values;
};

// For messages: `32`, `1e-05`, `true`, `null`, `"text"` (escaped, shortened), `a list of 3`, `an
// object`.
std::string describe(const Value &value);

// Nesting beyond this is refused; no format that we read needs more than 6.
inline constexpr int maxDepth = 64;

// `file` is named in errors. Text of fewer bytes for each of its values is refused (but for a few
// thousand values): memory is bounded by the text's size, and descriptions of models have long
// keys.
Result<Value> parse(std::string_view text, std::string_view file, size_t bytesPerValue = 8);

// All of a regular file, refused when larger than `maxBytes`.
Result<std::string> readTextFile(const std::string &path, uint64_t maxBytes);

// Both; config files are a few kilobytes, so the default limit is generous.
Result<Value> parseFile(const std::string &path, uint64_t maxBytes = uint64_t(16) << 20);

} // namespace llmc::json
