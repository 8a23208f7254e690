// SPDX-License-Identifier: Apache-2.0
// A table of keys says everything about one JSON object: each key's name, type, home in a struct,
// whether it must be there, and a sentence about it. The same table reads the object, writes it and
// prints its JSON Schema, so the three cannot disagree. A key that is in no table is an error
// naming it; there is no way to ignore one silently.
#pragma once

#include "frontends/json/Value.h"

#include <nlohmann/json.hpp>
#include <variant>

namespace llmc::json {

using Written = nlohmann::ordered_json;

// One of a few words, kept as an enumeration.
template <typename T> struct Choice {
  std::vector<const char *> words; // words[i] stands for value i
  int (*get)(const T &);
  void (*set)(T &, int);
};

// A list or object with tables of its own: the reader leaves it in `slot` for the caller.
template <typename T> struct Nested {
  const Value *T::*slot;
  Value::Kind kind;
  Written (*schema)();
};

enum class Need {
  Required,
  Optional, // the member keeps its default when the key is absent
  Harmless, // known not to change the result; any value
  Fixed,    // only the values listed in `allowed` are understood
};

template <typename T>
using Member = std::variant<std::monostate, int64_t T::*, double T::*, bool T::*, std::string T::*,
                            std::optional<int64_t> T::*, std::optional<double> T::*,
                            std::optional<bool> T::*, std::optional<std::string> T::*,
                            std::vector<int32_t> T::*, const Value * T::*, Choice<T>, Nested<T>,
                            std::vector<double> T::*>;

template <typename T> struct Key {
  const char *name;
  Need need;
  Member<T> member;
  const char *about;
  const char *allowed = ""; // Fixed: spellings as `describe` gives them, parted by '|'
  unsigned groups = ~0u;    // the key exists for readers of these groups only
};

// Where an object is: file and JSON pointer, "" at the root.
struct Place {
  std::string file;
  std::string pointer;

  Place at(std::string_view key) const { return {file, pointer + "/" + escaped(key, 80)}; }
  Error error(std::string_view text) const {
    return errorAt(file, pointer.empty() ? "/" : pointer, text);
  }
  std::string note(std::string_view text) const {
    return noteAt(file, pointer.empty() ? "/" : pointer, text);
  }
};

// "found X, expected Y" at `place`.
Error wrongValue(const Place &place, const Value &found, std::string_view expected);
Error unknownKey(const Place &place, std::string_view advice);
bool allows(std::string_view allowed, const Value &value);

// Each reads one type; `null` is never accepted.
Status read(const Value &value, const Place &place, int64_t &out);
Status read(const Value &value, const Place &place, double &out);
Status read(const Value &value, const Place &place, bool &out);
Status read(const Value &value, const Place &place, std::string &out);
Status read(const Value &value, const Place &place, std::vector<int32_t> &out);
Status read(const Value &value, const Place &place, std::vector<double> &out);
Status readWord(const Value &value, const Place &place, const std::vector<const char *> &words,
                int &out);

// JSON Schema of one type.
template <typename T> Written schemaOfMember(const Member<T> &member) {
  switch (member.index()) {
  case 1:
  case 5:
    return {{"type", "integer"}};
  case 2:
  case 6:
    return {{"type", "number"}};
  case 3:
  case 7:
    return {{"type", "boolean"}};
  case 4:
  case 8:
    return {{"type", "string"}};
  case 9:
    return {{"type", "array"}, {"items", {{"type", "integer"}}}};
  case 13:
    return {{"type", "array"}, {"items", {{"type", "number"}}}};
  default:
    break;
  }
  if (const auto *choice = std::get_if<Choice<T>>(&member)) {
    Written words = Written::array();
    for (const char *word : choice->words)
      words.push_back(word);
    return {{"enum", std::move(words)}};
  }
  if (const auto *nested = std::get_if<Nested<T>>(&member))
    return nested->schema();
  return Written::object();
}

template <typename T>
Status readMember(const Key<T> &key, const Value &value, const Place &place, T &out) {
  return std::visit(
      [&](const auto &member) -> Status {
        using M = std::decay_t<decltype(member)>;
        if constexpr (std::is_same_v<M, std::monostate>) {
          return {};
        } else if constexpr (std::is_same_v<M, Choice<T>>) {
          int word = 0;
          Status status = readWord(value, place, member.words, word);
          if (status)
            member.set(out, word);
          return status;
        } else if constexpr (std::is_same_v<M, Nested<T>>) {
          if (!value.is(member.kind))
            return wrongValue(place, value,
                              member.kind == Value::Kind::Array ? "a list" : "an object");
          out.*member.slot = &value;
          return {};
        } else {
          auto &home = out.*member;
          using H = std::decay_t<decltype(home)>;
          if constexpr (std::is_same_v<H, const Value *>) {
            home = &value;
            return {};
          } else if constexpr (std::is_same_v<H, std::optional<int64_t>> ||
                               std::is_same_v<H, std::optional<double>> ||
                               std::is_same_v<H, std::optional<bool>> ||
                               std::is_same_v<H, std::optional<std::string>>) {
            typename H::value_type inner{};
            Status status = read(value, place, inner);
            if (status)
              home = std::move(inner);
            return status;
          } else {
            return read(value, place, home);
          }
        }
      },
      key.member);
}

template <typename T> using Table = std::vector<Key<T>>;

template <typename T>
const Key<T> *findKey(const Table<T> &table, std::string_view name, unsigned groups) {
  for (const Key<T> &key : table)
    if (name == key.name && (key.groups & groups) != 0)
      return &key;
  return nullptr;
}

struct ReadOptions {
  unsigned groups = ~0u;
  bool nullIsAbsent = false; // of keys that are not Required
  const char *unknownAdvice = "";
};

// Fills `out` from an object; the first thing wrong is returned.
template <typename T>
Status readObject(const Table<T> &table, const Value &object, const Place &place, T &out,
                  const ReadOptions &options = {}) {
  if (!object.is(Value::Kind::Object))
    return wrongValue(place, object, "an object");
  for (size_t i = 0; i < object.size(); ++i) {
    Place keyPlace = place.at(object.key(i));
    const Key<T> *key = findKey(table, object.key(i), options.groups);
    if (!key)
      return unknownKey(keyPlace, options.unknownAdvice);
    if (key->need == Need::Harmless ||
        (options.nullIsAbsent && object[i].is(Value::Kind::Null) && key->need == Need::Optional))
      continue;
    if (key->need == Need::Fixed) {
      if (!allows(key->allowed, object[i]))
        return wrongValue(keyPlace, object[i], std::string(key->allowed) + " (" + key->about + ")");
      continue;
    }
    if (Status status = readMember(*key, object[i], keyPlace, out); !status)
      return status;
  }
  for (const Key<T> &key : table)
    if (key.need == Need::Required && (key.groups & options.groups) != 0 && !object.find(key.name))
      return place.error("found no key \"" + std::string(key.name) + "\", expected it (" +
                         key.about + ")");
  return {};
}

// The object that readObject would read back into `in`. Nested members are the caller's.
template <typename T> Written writeObject(const Table<T> &table, const T &in) {
  Written object = Written::object();
  for (const Key<T> &key : table) {
    std::visit(
        [&](const auto &member) {
          using M = std::decay_t<decltype(member)>;
          if constexpr (std::is_same_v<M, Choice<T>>) {
            object[key.name] = member.words[static_cast<size_t>(member.get(in))];
          } else if constexpr (!std::is_same_v<M, std::monostate> &&
                               !std::is_same_v<M, Nested<T>>) {
            const auto &home = in.*member;
            using H = std::decay_t<decltype(home)>;
            if constexpr (std::is_same_v<H, int64_t> || std::is_same_v<H, double> ||
                          std::is_same_v<H, bool> || std::is_same_v<H, std::string> ||
                          std::is_same_v<H, std::vector<int32_t>>) {
              object[key.name] = home;
            } else if constexpr (std::is_same_v<H, std::vector<double>>) {
              if (!home.empty())
                object[key.name] = home;
            } else if constexpr (!std::is_same_v<H, const Value *>) {
              if (home)
                object[key.name] = *home;
            }
          }
        },
        key.member);
  }
  return object;
}

template <typename T> Written schemaOf(const Table<T> &table) {
  Written properties = Written::object(), required = Written::array();
  for (const Key<T> &key : table) {
    Written property = schemaOfMember<T>(key.member);
    property["description"] = key.about;
    properties[key.name] = std::move(property);
    if (key.need == Need::Required)
      required.push_back(key.name);
  }
  return {{"type", "object"},
          {"properties", properties},
          {"required", required},
          {"additionalProperties", false}};
}

} // namespace llmc::json
