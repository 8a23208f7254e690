// SPDX-License-Identifier: Apache-2.0
// Reads single values with their types checked, and words the errors that every reader of JSON
// shares.
#include "frontends/json/KeyTable.h"

namespace llmc::json {

Error wrongValue(const Place &place, const Value &found, std::string_view expected) {
  return place.error("found " + describe(found) + ", expected " + std::string(expected));
}

Error unknownKey(const Place &place, std::string_view advice) {
  std::string name = place.pointer.substr(place.pointer.rfind('/') + 1);
  std::string text = "found unknown key \"" + name + "\", expected only keys that llmc knows";
  if (!advice.empty())
    text += "; " + std::string(advice);
  return place.error(text);
}

bool allows(std::string_view allowed, const Value &value) {
  std::string found = describe(value);
  while (true) {
    size_t bar = allowed.find('|');
    if (allowed.substr(0, bar) == found)
      return true;
    if (bar == std::string_view::npos)
      return false;
    allowed.remove_prefix(bar + 1);
  }
}

Status read(const Value &value, const Place &place, int64_t &out) {
  if (!value.is(Value::Kind::Integer))
    return wrongValue(place, value, "an integer");
  out = value.integer;
  return {};
}

Status read(const Value &value, const Place &place, double &out) {
  if (!value.isNumber())
    return wrongValue(place, value, "a number");
  out = value.number();
  return {};
}

Status read(const Value &value, const Place &place, bool &out) {
  if (!value.is(Value::Kind::Boolean))
    return wrongValue(place, value, "true or false");
  out = value.boolean;
  return {};
}

Status read(const Value &value, const Place &place, std::string &out) {
  if (!value.is(Value::Kind::String))
    return wrongValue(place, value, "a string");
  out = value.text();
  return {};
}

Status read(const Value &value, const Place &place, std::vector<int32_t> &out) {
  if (!value.is(Value::Kind::Array))
    return wrongValue(place, value, "a list of integers");
  out.clear();
  for (size_t i = 0; i < value.size(); ++i) {
    const Value &element = value[i];
    if (!element.is(Value::Kind::Integer) || element.integer < 0 || element.integer > INT32_MAX)
      return wrongValue(place.at(std::to_string(i)), element, "an integer from 0 to 2147483647");
    out.push_back(static_cast<int32_t>(element.integer));
  }
  return {};
}

Status read(const Value &value, const Place &place, std::vector<double> &out) {
  if (!value.is(Value::Kind::Array))
    return wrongValue(place, value, "a list of numbers");
  out.clear();
  for (size_t i = 0; i < value.size(); ++i) {
    double number = 0;
    if (Status status = read(value[i], place.at(std::to_string(i)), number); !status)
      return status;
    out.push_back(number);
  }
  return {};
}

Status readWord(const Value &value, const Place &place, const std::vector<const char *> &words,
                int &out) {
  std::string list;
  for (size_t i = 0; i < words.size(); ++i) {
    if (value.is(Value::Kind::String) && value.text() == words[i]) {
      out = static_cast<int>(i);
      return {};
    }
    list += (i == 0                  ? "\""
             : i + 1 == words.size() ? " or \""
                                     : ", \"") +
            std::string(words[i]) + "\"";
  }
  return wrongValue(place, value, list);
}

} // namespace llmc::json
