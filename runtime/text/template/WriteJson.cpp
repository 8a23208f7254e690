// SPDX-License-Identifier: Apache-2.0
// Values as JSON, as Python's json.dumps writes them.
#include "runtime/text/template/Builtins.h"
#include "runtime/text/template/Number.h"
#include <cmath>
#include <cstdio>

namespace llmc::templates {

namespace {
class Writer {
public:
  Writer(TextBuilder &result, Job &job, const JsonStyle &style)
      : result(result), job(job), style(style) {}

  void write(const Value &value);

private:
  void writeString(Text text);
  void writeEscaped(uint32_t code);
  void writeList(const Value &list);
  void writeDict(const Dict &dict);
  void writeKey(const Value &key);
  void writeFloat(double number);
  void newLine();

  TextBuilder &result;
  Job &job;
  const JsonStyle &style;
  uint64_t level = 0;
};
} // namespace

void Writer::newLine() {
  if (!style.indented)
    return;
  result.append('\n');
  result.appendRepeated(style.indent, level);
}

void Writer::writeEscaped(uint32_t code) {
  char escape[16];
  if (code >= 0x10000) {
    snprintf(escape, sizeof escape, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
             0xdc00 + ((code - 0x10000) & 0x3ff));
  } else {
    snprintf(escape, sizeof escape, "\\u%04x", code);
  }
  result.append(escape);
}

void Writer::writeString(Text text) {
  static const char kNames[] = "\"\\nrtbf", kBytes[] = "\"\\\n\r\t\b\f";
  result.append('"');
  for (size_t offset = 0; offset < text.size && job.spendBytes(0);) {
    const Character character = characterAt(text, offset);
    const Text bytes = text.slice(offset, offset + character.size);
    offset += character.size;
    const char *named = character.code && character.code < 0x80
                            ? strchr(kBytes, static_cast<int>(character.code))
                            : nullptr;
    if (named)
      result.append('\\'), result.append(kNames[named - kBytes]);
    else if (character.code < 0x20 ||
             (style.ascii && character.code >= 0x7f && character.code != kInvalid))
      writeEscaped(character.code);
    else
      result.append(bytes);
  }
  result.append('"');
}

void Writer::writeFloat(double number) {
  if (std::isnan(number))
    result.append("NaN");
  else if (std::isinf(number))
    result.append(number > 0 ? "Infinity" : "-Infinity");
  else
    result.append(printFloat(number).text());
}

void Writer::writeList(const Value &list) {
  if (!list.size) {
    result.append("[]");
    return;
  }
  result.append('[');
  ++level;
  for (size_t i = 0; i < list.size && !job.failed(); ++i) {
    result.append(i ? style.between : Text());
    newLine();
    write(list.elements[i]);
  }
  --level;
  newLine();
  result.append(']');
}

// Keys that are no strings become strings.
void Writer::writeKey(const Value &key) {
  if (key.isString())
    return writeString(key.text());
  result.append('"');
  write(key);
  result.append('"');
}

void Writer::writeDict(const Dict &dict) {
  if (!dict.size) {
    result.append("{}");
    return;
  }
  Value *keys = job.allocate<Value>(dict.size), *values = job.allocate<Value>(dict.size);
  if (!keys || !values)
    return;
  for (size_t i = 0; i < dict.size; ++i)
    keys[i] = dict.entries[i].key, values[i] = dict.entries[i].value;
  if (style.sorted)
    sortValues(job, values, keys, dict.size, false);
  result.append('{');
  ++level;
  for (size_t i = 0; i < dict.size && !job.failed(); ++i) {
    result.append(i ? style.between : Text());
    newLine();
    writeKey(keys[i]);
    result.append(style.colon);
    write(values[i]);
  }
  --level;
  newLine();
  result.append('}');
}

void Writer::write(const Value &value) {
  Nested nested(job);
  if (!nested || !job.spend(1))
    return;
  switch (value.kind) {
  case Kind::None:
    result.append("null");
    break;
  case Kind::Bool:
    result.append(value.boolean ? "true" : "false");
    break;
  case Kind::Int:
    result.append(printInteger(value.integer).text());
    break;
  case Kind::Float:
    writeFloat(value.number);
    break;
  case Kind::String:
    writeString(value.text());
    break;
  case Kind::List:
    writeList(value);
    break;
  case Kind::Dict:
    writeDict(*value.dict);
    break;
  default:
    job.failHere("found %s, expected a value that JSON can hold", describe(value.kind));
  }
}

void appendJson(TextBuilder &result, Job &job, const Value &value, const JsonStyle &style) {
  Writer(result, job, style).write(value);
}

} // namespace llmc::templates
