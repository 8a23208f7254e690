// SPDX-License-Identifier: Apache-2.0
// JSON read into values. Texts without escapes are not copied.
#include "runtime/text/template/ReadJson.h"
#include "runtime/text/template/Number.h"

namespace llmc::templates {

namespace {

class Reader {
public:
  Reader(Job &job, const Source &source) : job(job), source(source), text(source.text) {}

  Value readWhole() {
    const Value value = readValue();
    skipBlanks();
    if (!job.failed() && at < text.size)
      unexpected("the end of the JSON");
    return job.failed() ? Value() : value;
  }

private:
  Value readValue();
  Value readObject();
  Value readArray();
  Value readNumber();
  Value readWord();
  Text readString();
  Text unescape(Text written);
  uint32_t readCode(Text written, size_t *index);

  void skipBlanks() {
    while (at < text.size && strchr(" \t\n\r", text[at]) && text[at])
      ++at;
  }
  bool skip(char byte) {
    skipBlanks();
    const bool found = at < text.size && text[at] == byte;
    at += found;
    return found;
  }
  void unexpected(const char *expected) {
    if (at >= text.size)
      return job.fail(source, at, "found the end of the JSON, expected %s", expected);
    const size_t size = characterAt(text, at).size;
    job.fail(source, at, "found '%.*s', expected %s", static_cast<int>(size), text.data + at,
             expected);
  }

  Job &job;
  const Source &source;
  const Text text;
  size_t at = 0;
};

} // namespace

Value Reader::readValue() {
  skipBlanks();
  job.at(source, at);
  Nested nested(job);
  if (!nested || !job.spend(1))
    return Value();
  const char first = at < text.size ? text[at] : '\0';
  if (first == '{')
    return readObject();
  if (first == '[')
    return readArray();
  if (first == '"')
    return Value::of(readString());
  if (first == '-' || (first >= '0' && first <= '9'))
    return readNumber();
  return readWord();
}

Value Reader::readObject() {
  DictBuilder dict(job);
  ++at;
  if (skip('}'))
    return dict.value();
  do {
    skipBlanks();
    if (at >= text.size || text[at] != '"') {
      unexpected("a key in double quotes");
      return Value();
    }
    const Value key = Value::of(readString());
    if (!job.failed() && !skip(':'))
      unexpected("':'");
    const Value value = job.failed() ? Value() : readValue();
    dict.set(key, value);
  } while (!job.failed() && skip(','));
  if (!job.failed() && !skip('}'))
    unexpected("',' or '}'");
  return dict.value();
}

Value Reader::readArray() {
  ListBuilder list(job);
  ++at;
  if (skip(']'))
    return listOf(list);
  do
    list.push(readValue());
  while (!job.failed() && skip(','));
  if (!job.failed() && !skip(']'))
    unexpected("',' or ']'");
  return listOf(list);
}

static bool isDigit(char byte) { return byte >= '0' && byte <= '9'; }

Value Reader::readNumber() {
  const size_t start = at;
  auto digits = [this] {
    const size_t before = at;
    while (at < text.size && isDigit(text[at]))
      ++at;
    return at > before;
  };
  at += text[at] == '-';
  const bool zero = at < text.size && text[at] == '0';
  bool valid = digits() && !(zero && at - start > 1 + size_t(text[start] == '-'));
  bool isFloat = false;
  if (valid && at < text.size && text[at] == '.') {
    isFloat = true;
    ++at;
    valid = digits();
  }
  if (valid && at < text.size && (text[at] | 0x20) == 'e') {
    isFloat = true;
    ++at;
    at += at < text.size && (text[at] == '-' || text[at] == '+');
    valid = digits();
  }
  const Text written = text.slice(start, at);
  int64_t integer = 0;
  double number = 0;
  if (valid && !isFloat && parseInteger(written, 10, &integer))
    return Value::of(integer);
  if (valid && parseFloat(written, &number))
    return Value::of(number);
  at = start;
  unexpected("a number as JSON has it, of at most 400 characters");
  return Value();
}

Value Reader::readWord() {
  const struct {
    const char *word;
    Value value;
  } words[] = {{"true", Value::of(true)}, {"false", Value::of(false)}, {"null", Value::none()}};
  for (const auto &word : words)
    if (text.from(at).startsWith(word.word)) {
      at += strlen(word.word);
      return word.value;
    }
  unexpected("a value");
  return Value();
}

Text Reader::readString() {
  const size_t start = at++;
  bool escapes = false;
  for (; at < text.size && text[at] != '"'; ++at) {
    if (text[at] == '\\') {
      escapes = true;
      ++at;
    } else if (static_cast<unsigned char>(text[at]) < 0x20) {
      job.fail(source, at, "found a control character in a string, expected an escape such as \\n");
      return Text();
    }
  }
  if (at >= text.size) {
    job.fail(source, start, "found a string without an end, expected '\"'");
    return Text();
  }
  const Text inner = text.slice(start + 1, at++);
  return escapes ? unescape(inner) : inner;
}

Text Reader::unescape(Text written) {
  static const char kNames[] = "\"\\/bfnrt", kBytes[] = "\"\\/\b\f\n\r\t";
  TextBuilder result(job);
  for (size_t i = 0; i < written.size && job.spendBytes(0);) {
    const size_t next = written.find("\\", i);
    const size_t end = next == Text::kNone ? written.size : next;
    result.append(written.slice(i, end));
    if (end == written.size)
      break;
    i = end + 2;
    const char letter = written[end + 1];
    const char *named = letter ? strchr(kNames, letter) : nullptr;
    if (named) {
      result.append(kBytes[named - kNames]);
      continue;
    }
    const uint32_t code = letter == 'u' ? readCode(written, &i) : kInvalid;
    if (code == kInvalid) {
      job.fail(source, size_t(written.data - text.data) + end,
               "found a bad escape, expected one of JSON's, such as \\n or \\u00e9");
      break;
    }
    char bytes[4];
    result.append(Text(bytes, encode(code, bytes)));
  }
  return result.text();
}

static bool readHex(Text written, size_t at, uint32_t *code) {
  *code = 0;
  if (at + 4 > written.size)
    return false;
  for (size_t i = at; i < at + 4; ++i) {
    const char lower = static_cast<char>(written[i] | 0x20);
    const bool digit = isDigit(written[i]);
    if (!digit && !(lower >= 'a' && lower <= 'f'))
      return false;
    *code = *code * 16 + uint32_t(digit ? written[i] - '0' : lower - 'a' + 10);
  }
  return true;
}

// Four hexadecimal digits at *index, or a pair of surrogates; half a pair reads as U+FFFD.
uint32_t Reader::readCode(Text written, size_t *index) {
  uint32_t code = 0, low = 0;
  if (!readHex(written, *index, &code))
    return kInvalid;
  *index += 4;
  if (code < 0xd800 || code > 0xdfff)
    return code;
  if (code < 0xdc00 && written.from(*index).startsWith("\\u") &&
      readHex(written, *index + 2, &low) && low >= 0xdc00 && low <= 0xdfff) {
    *index += 6;
    return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  return 0xfffd;
}

Value readJson(Job &job, const Source &source) { return Reader(job, source).readWhole(); }

} // namespace llmc::templates
