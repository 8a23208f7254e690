// SPDX-License-Identifier: Apache-2.0
// An object of a tokenizer.json, read field by field: each field has a type and may have a default,
// and a key that nobody asked for is an error once all have asked.
#pragma once

#include "frontends/json/KeyTable.h"

#include <set>

namespace llmc::tokenizers {

class Fields {
public:
  Fields(const json::Value &object, const json::Place &place) : object(object), place(place) {
    if (!object.is(json::Value::Kind::Object))
      status = json::wrongValue(place, object, "an object");
  }

  const json::Value *find(const char *key) {
    asked.insert(key);
    return status ? object.find(key) : nullptr;
  }
  // Null counts as absent where there is a default.
  bool boolean(const char *key, bool otherwise) {
    bool result = otherwise;
    take(key, result);
    return result;
  }
  std::string text(const char *key, const std::string &otherwise = "") {
    std::string result = otherwise;
    take(key, result);
    return result;
  }
  int64_t number(const char *key, int64_t otherwise) {
    int64_t result = otherwise;
    take(key, result);
    return result;
  }
  // Must be there.
  const json::Value *required(const char *key) {
    const json::Value *found = find(key);
    if (!found && status)
      status = place.error("found no key \"" + std::string(key) + "\", expected it");
    return found;
  }
  std::string requiredText(const char *key) {
    required(key);
    return text(key);
  }
  // One of a few words, as an index.
  int word(const char *key, const std::vector<const char *> &words, int otherwise) {
    int result = otherwise;
    const json::Value *found = find(key);
    if (found && !found->is(json::Value::Kind::Null) && status)
      status = json::readWord(*found, place.at(key), words, result);
    return result;
  }
  void harmless(std::initializer_list<const char *> keys) {
    for (const char *key : keys)
      asked.insert(key);
  }
  void fail(Error error) {
    if (status)
      status = std::move(error);
  }

  // The first thing wrong; else a key that was not asked for.
  Status finish() {
    for (size_t i = 0; status && i < object.size(); ++i)
      if (!asked.count(object.key(i)))
        status = json::unknownKey(place.at(object.key(i)), "");
    return std::move(status);
  }
  bool ok() const { return status.ok(); }

private:
  template <typename T> void take(const char *key, T &out) {
    const json::Value *found = find(key);
    if (found && !found->is(json::Value::Kind::Null) && status)
      status = json::read(*found, place.at(key), out);
  }

  const json::Value &object;
  const json::Place place;
  std::set<std::string, std::less<>> asked;
  Status status;
};

} // namespace llmc::tokenizers
