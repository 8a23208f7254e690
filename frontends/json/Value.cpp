// SPDX-License-Identifier: Apache-2.0
// Builds the tree from nlohmann's event parser, which keeps its own stack on the heap, so that
// depth, duplicates and the number of values are judged while reading and no recursion depends on
// the input.
#include "frontends/json/Value.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace llmc::json {

Value::~Value() {
  if (kind == Kind::String)
    delete chars;
  else if (isParent())
    delete children;
}

Children &Value::makeChildren() {
  if (!children)
    children = new Children();
  return *children;
}

size_t Value::size() const { return isParent() && children ? children->values.size() : 0; }
const Value &Value::operator[](size_t index) const { return children->values[index]; }
const std::string &Value::key(size_t index) const { return children->keys[index]; }

const Value *Value::find(std::string_view key) const {
  for (size_t i = 0; kind == Kind::Object && i < size(); ++i)
    if (children->keys[i] == key)
      return &children->values[i];
  return nullptr;
}

std::string describe(const Value &value) {
  char buffer[40];
  switch (value.kind) {
  case Value::Kind::Null:
    return "null";
  case Value::Kind::Boolean:
    return value.boolean ? "true" : "false";
  case Value::Kind::Integer:
    return std::to_string(value.integer);
  case Value::Kind::Real:
    std::snprintf(buffer, sizeof buffer, "%.9g", value.real);
    return buffer;
  case Value::Kind::String:
    return "\"" + escaped(value.text(), 80) + "\"";
  case Value::Kind::Array:
    return "a list of " + std::to_string(value.size());
  case Value::Kind::Object:
    return "an object";
  }
  return "";
}

namespace {

class TreeBuilder {
public:
  TreeBuilder(std::string_view text, std::string_view file, size_t bytesPerValue)
      : text(text), file(file), valuesLeft(text.size() / bytesPerValue + 4096) {}

  // The events of nlohmann's interface; false stops the parser.
  bool null() { return add(Value()); }
  bool boolean(bool flag) { return add(Value(flag)); }
  bool number_integer(int64_t number) { return add(Value(number)); }
  bool number_unsigned(uint64_t number) {
    return number <= INT64_MAX ? add(Value(static_cast<int64_t>(number)))
                               : add(Value(static_cast<double>(number)));
  }
  bool number_float(double number, const std::string &) { return add(Value(number)); }
  bool string(std::string &chars) { return add(Value(std::move(chars))); }
  bool binary(std::vector<uint8_t> &) { return false; } // not an event of JSON text
  bool start_object(size_t) { return open(Value::Kind::Object); }
  bool start_array(size_t) { return open(Value::Kind::Array); }
  bool key(std::string &name) {
    openValues.back()->makeChildren().keys.push_back(std::move(name));
    return true;
  }
  bool end_object() { return checkKeys() && close(); }
  bool end_array() { return close(); }
  bool parse_error(size_t position, const std::string &token,
                   const nlohmann::detail::exception &problem);

  Value root;
  std::optional<Error> error;

private:
  bool add(Value value);
  bool open(Value::Kind kind);
  bool close() {
    openValues.pop_back();
    return true;
  }
  bool checkKeys();
  std::string pointer() const;
  bool fail(std::string_view place, std::string_view what) {
    error = errorAt(file, place, what);
    return false;
  }

  std::string_view text, file;
  size_t valuesLeft;
  std::vector<Value *>
      openValues; // a child vector grows only while its parent is the innermost open value
};

bool TreeBuilder::add(Value value) {
  if (valuesLeft-- == 0)
    return fail(pointer(), "found far more values than a file of " + std::to_string(text.size()) +
                               " bytes needs, expected a model's description");
  if (openValues.empty())
    root = std::move(value);
  else
    openValues.back()->makeChildren().values.push_back(std::move(value));
  return true;
}

bool TreeBuilder::open(Value::Kind kind) {
  if (openValues.size() == static_cast<size_t>(maxDepth))
    return fail(pointer(), "found JSON nested deeper than " + std::to_string(maxDepth) +
                               " levels, expected at most " + std::to_string(maxDepth));
  Value *parent = openValues.empty() ? nullptr : openValues.back();
  if (!add(Value(kind)))
    return false;
  openValues.push_back(parent ? &parent->children->values.back() : &root);
  return true;
}

bool TreeBuilder::checkKeys() {
  if (!openValues.back()->children)
    return true;
  const std::vector<std::string> &keys = openValues.back()->children->keys;
  std::vector<std::string_view> sorted(keys.begin(), keys.end());
  std::sort(sorted.begin(), sorted.end());
  auto twin = std::adjacent_find(sorted.begin(), sorted.end());
  if (twin == sorted.end())
    return true;
  return fail(pointer(), "found key \"" + escaped(*twin, 80) + "\" twice, expected each key once");
}

// Where the innermost open value is: "/layers/3".
std::string TreeBuilder::pointer() const {
  std::string path;
  for (size_t i = 0; i + 1 < openValues.size(); ++i) {
    const Value &value = *openValues[i];
    path += "/";
    path += value.is(Value::Kind::Object) ? escaped(value.children->keys.back(), 40)
                                          : std::to_string(value.size() - 1);
  }
  return path.empty() ? "/" : path;
}

bool TreeBuilder::parse_error(size_t position, const std::string &token,
                              const nlohmann::detail::exception &problem) {
  // `position` counts the characters read, the offending one included.
  size_t offender = std::min(position == 0 ? 0 : position - 1, text.size());
  std::string_view before = text.substr(0, offender);
  size_t line = 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
  size_t column = offender - (line == 1 ? 0 : before.rfind('\n') + 1) + 1;
  std::string_view reason = problem.what();
  size_t expected = reason.rfind("expected ");
  bool named = expected != std::string_view::npos && expected > 0 && reason[expected - 1] == ' ';
  std::string found = position > text.size() || token.empty() ? "the end of the file"
                                                              : "'" + escaped(token, 60) + "'";
  return fail(
      "line " + std::to_string(line) + ", column " + std::to_string(column),
      "found malformed JSON at " + found + ", " +
          (named ? escaped(reason.substr(expected), 100) : std::string("expected a JSON value")));
}

} // namespace

Result<Value> parse(std::string_view text, std::string_view file, size_t bytesPerValue) {
  TreeBuilder builder(text, file, bytesPerValue);
  bool fine = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  if (builder.error)
    return std::move(*builder.error);
  if (!fine)
    return errorAt(file, "", "found malformed JSON, expected a JSON value");
  return std::move(builder.root);
}

Result<Value> parseFile(const std::string &path, uint64_t maxBytes) {
  Result<std::string> text = readTextFile(path, maxBytes);
  if (!text)
    return text.takeError();
  return parse(*text, path);
}

} // namespace llmc::json
