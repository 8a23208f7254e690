// SPDX-License-Identifier: Apache-2.0
// The values of the template language. Small and copied freely; what they point to lives in the
// rendering's arena and never changes, namespaces and loops apart. So a slice of a list or of a
// text shares its memory.
#pragma once

#include "runtime/text/template/Text.h"

namespace llmc::templates {

struct Dict;
struct Namespace;
struct Loop;
struct Callable;

enum class Kind : uint8_t {
  Undefined, // a name or an attribute that is not there; `text` is its name
  None,
  Bool,
  Int,
  Float,
  String,
  List, // a tuple too
  Dict,
  Namespace,
  Loop, // the variable `loop`
  Callable,
};

struct Value {
  Kind kind = Kind::Undefined;
  bool isTuple = false; // of a list
  size_t size = 0;      // of a string in bytes, of a list in elements
  union {
    bool boolean;
    int64_t integer;
    double number;
    const char *bytes = "";
    const Value *elements;
    const Dict *dict;
    Namespace *space;
    Loop *loop;
    const Callable *callable;
  };

  static Value undefined(Text name = Text()) { return ofBytes(Kind::Undefined, name); }
  static Value none() {
    Value value;
    value.kind = Kind::None;
    return value;
  }
  static Value of(bool boolean) {
    Value value;
    value.kind = Kind::Bool, value.boolean = boolean;
    return value;
  }
  static Value of(int64_t integer) {
    Value value;
    value.kind = Kind::Int, value.integer = integer;
    return value;
  }
  static Value of(double number) {
    Value value;
    value.kind = Kind::Float, value.number = number;
    return value;
  }
  static Value of(Text text) { return ofBytes(Kind::String, text); }
  static Value of(const char *text) { return of(Text(text)); }
  static Value of(const Dict *dict) {
    Value value;
    value.kind = Kind::Dict, value.dict = dict;
    return value;
  }
  static Value of(const Callable *callable) {
    Value value;
    value.kind = Kind::Callable, value.callable = callable;
    return value;
  }
  static Value list(const Value *elements, size_t size, bool isTuple = false) {
    Value value;
    value.kind = Kind::List, value.isTuple = isTuple, value.size = size, value.elements = elements;
    return value;
  }

  bool is(Kind wanted) const { return kind == wanted; }
  bool isString() const { return kind == Kind::String; }
  // An integer in Python's sense: a boolean counts.
  bool isIntegral() const { return kind == Kind::Int || kind == Kind::Bool; }
  bool isNumber() const { return isIntegral() || kind == Kind::Float; }
  int64_t asInteger() const { return kind == Kind::Bool ? boolean : integer; }
  double asNumber() const { return kind == Kind::Float ? number : double(asInteger()); }
  Text text() const { return Text(bytes, size); } // of a string or undefined

private:
  static Value ofBytes(Kind kind, Text text) {
    Value value;
    value.kind = kind, value.size = text.size, value.bytes = text.data;
    return value;
  }
};

// "a string", "undefined 'tools'": for messages.
const char *describe(Kind kind);

struct Entry {
  Value key;
  Value value;
};

// Keys in the order of insertion. Large ones have a hash table of entry numbers + 1.
struct Dict {
  const Entry *entries = nullptr;
  size_t size = 0;
  const uint32_t *slots = nullptr;
  size_t slotCount = 0; // a power of two, or 0

  // Null when there is none.
  const Value *find(const Value &key) const;
  const Value *find(Text key) const { return find(Value::of(key)); }
};

// None, booleans, numbers and strings can be keys; 1, 1.0 and true are the same one.
bool canBeKey(const Value &value);
bool sameKey(const Value &left, const Value &right);
uint64_t hashKey(const Value &key);

bool isTrue(const Value &value);

} // namespace llmc::templates
