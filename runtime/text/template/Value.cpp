// SPDX-License-Identifier: Apache-2.0
// Truth, keys and mappings.
#include "runtime/text/template/Value.h"

namespace llmc::templates {

const char *describe(Kind kind) {
  switch (kind) {
  case Kind::Undefined:
    return "an undefined value";
  case Kind::None:
    return "none";
  case Kind::Bool:
    return "a boolean";
  case Kind::Int:
    return "an integer";
  case Kind::Float:
    return "a float";
  case Kind::String:
    return "a string";
  case Kind::List:
    return "a list";
  case Kind::Dict:
    return "a mapping";
  case Kind::Namespace:
    return "a namespace";
  case Kind::Loop:
    return "a loop";
  case Kind::Callable:
    return "a function";
  }
  return "a value";
}

bool isTrue(const Value &value) {
  switch (value.kind) {
  case Kind::Undefined:
  case Kind::None:
    return false;
  case Kind::Bool:
    return value.boolean;
  case Kind::Int:
    return value.integer != 0;
  case Kind::Float:
    return value.number != 0;
  case Kind::String:
  case Kind::List:
    return value.size != 0;
  case Kind::Dict:
    return value.dict->size != 0;
  case Kind::Namespace:
  case Kind::Loop:
  case Kind::Callable:
    return true;
  }
  return false;
}

bool canBeKey(const Value &value) {
  return value.isNumber() || value.isString() || value.is(Kind::None);
}

bool sameKey(const Value &left, const Value &right) {
  if (left.isNumber() && right.isNumber())
    return left.is(Kind::Float) || right.is(Kind::Float) ? left.asNumber() == right.asNumber()
                                                         : left.asInteger() == right.asInteger();
  if (left.isString() && right.isString())
    return left.text() == right.text();
  return left.kind == right.kind;
}

uint64_t hashKey(const Value &key) {
  uint64_t hash = 0xcbf29ce484222325u; // FNV-1a, with a last mix
  if (key.isString()) {
    for (char byte : key.text())
      hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  } else if (key.isNumber()) {
    const double number = key.asNumber() + 0.0; // -0.0 and 0 are one key
    uint64_t bits = 0;
    memcpy(&bits, &number, sizeof bits);
    hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
  }
  return hash ^ (hash >> 29);
}

const Value *Dict::find(const Value &key) const {
  if (!canBeKey(key))
    return nullptr;
  if (!slotCount) {
    for (size_t i = 0; i < size; ++i)
      if (sameKey(entries[i].key, key))
        return &entries[i].value;
    return nullptr;
  }
  for (uint64_t slot = hashKey(key);; ++slot) {
    const uint32_t number = slots[slot & (slotCount - 1)];
    if (!number)
      return nullptr;
    if (sameKey(entries[number - 1].key, key))
      return &entries[number - 1].value;
  }
}

} // namespace llmc::templates
