// SPDX-License-Identifier: Apache-2.0
// A template's text cut into tokens.
#include "runtime/text/template/Lexer.h"
#include "runtime/text/template/Number.h"

namespace llmc::templates {

Text withPlainNewlines(Job &job, Text source) {
  char *plain = job.spendBytes(source.size) ? job.allocate<char>(source.size) : nullptr;
  if (!plain)
    return Text();
  size_t size = 0;
  for (size_t i = 0; i < source.size; ++i) {
    plain[size++] = source[i] == '\r' ? '\n' : source[i];
    if (source[i] == '\r' && i + 1 < source.size && source[i + 1] == '\n')
      ++i;
  }
  if (size && plain[size - 1] == '\n')
    --size;
  return Text(plain, size);
}

namespace {

// Tags and their ends. The sign before an end: '-' takes all whitespace after it, '+' leaves it.
struct Ending {
  size_t start = Text::kNone; // of the sign, or of the end itself
  size_t after = 0;
  char sign = 0;
};

class Lexer {
public:
  Lexer(Job &job, const Source &source)
      : job(job), source(source), text(source.text), tokens(job), open(job) {}

  Tokens read() {
    while (at < text.size && !job.failed())
      readRoot();
    add(TokenKind::End, text.size, Text());
    return job.failed() ? Tokens() : Tokens{tokens.data(), tokens.size()};
  }

private:
  struct Open {
    char closing;
    size_t offset;
  };

  void add(TokenKind kind, size_t offset, Text written, const Value &value = Value()) {
    Token token;
    token.kind = kind, token.offset = offset, token.text = written, token.value = value;
    if (job.spend(1))
      tokens.push(token);
  }

  void readRoot();
  void addData(size_t from, size_t to, char sign, bool mayStrip);
  void readComment(size_t from, size_t inner);
  bool readRaw(size_t begin, size_t afterSign);
  void readTag(size_t begin, TokenKind end);
  bool readTagEnd(TokenKind end);
  void readTagToken();
  void readNumber();
  void readString();
  void readOperator();
  Value unescape(Text written);
  bool readEscape(Text written, size_t *index, TextBuilder &result);

  // At `offset`: [-+]? then `end`.
  Ending endingAt(size_t offset, Text end) const {
    const bool signedOne = offset < text.size && (text[offset] == '-' || text[offset] == '+');
    const size_t bare = offset + signedOne;
    if (!text.from(bare).startsWith(end))
      return {};
    return {offset, bare + end.size, signedOne ? text[offset] : char(0)};
  }
  // Where reading goes on after an end; trim: the newline after it goes.
  size_t skipAfter(const Ending &ending, bool trim) const {
    if (ending.sign == '-')
      return text.size - stripSpace(text.from(ending.after), Sides::Left).size;
    const bool newline =
        trim && !ending.sign && ending.after < text.size && text[ending.after] == '\n';
    return ending.after + newline;
  }
  size_t skipSpace(size_t offset) const {
    return text.size - stripSpace(text.from(offset), Sides::Left).size;
  }
  void leaveTag(size_t next) {
    at = next;
    lineStarting = text[at - 1] == '\n';
  }
  void fail(size_t offset, const char *found, const char *expected) {
    job.fail(source, offset, "found %s, expected %s", found, expected);
  }

  Job &job;
  const Source &source;
  const Text text;
  Growing<Token> tokens;
  Growing<Open> open; // brackets of the tag being read
  size_t openCount = 0;
  size_t at = 0;
  bool lineStarting = true;
};

} // namespace

// First "{{", "{%" or "{#" at or after `from`.
static size_t findTag(Text text, size_t from) {
  for (;; ++from) {
    from = text.find("{", from);
    if (from == Text::kNone || from + 1 >= text.size)
      return Text::kNone;
    const char next = text[from + 1];
    if (next == '{' || next == '%' || next == '#')
      return from;
  }
}

// Data up to the next tag, and the tag.
void Lexer::readRoot() {
  const size_t tag = findTag(text, at);
  if (tag == Text::kNone) {
    add(TokenKind::Data, at, text.from(at));
    at = text.size;
    return;
  }
  const char kind = text[tag + 1];
  const size_t afterStart = tag + 2;
  const bool isSigned =
      afterStart < text.size && (text[afterStart] == '-' || text[afterStart] == '+');
  addData(at, tag, isSigned ? text[afterStart] : char(0), kind != '{');
  const size_t afterSign = afterStart + isSigned;
  if (kind == '#') {
    readComment(tag, afterSign);
  } else if (kind == '{') {
    add(TokenKind::OutputBegin, tag, text.slice(tag, tag + 2));
    at = afterSign;
    readTag(tag, TokenKind::OutputEnd);
  } else if (!readRaw(tag, afterSign)) {
    add(TokenKind::StatementBegin, tag, text.slice(tag, tag + 2));
    at = afterSign;
    readTag(tag, TokenKind::StatementEnd);
  }
}

// The data before a tag with that sign; mayStrip: the tag's line loses its blank start.
void Lexer::addData(size_t from, size_t to, char sign, bool mayStrip) {
  Text data = text.slice(from, to);
  if (sign == '-') {
    data = stripSpace(data, Sides::Right);
  } else if (sign != '+' && mayStrip) {
    size_t line = data.size;
    while (line > 0 && data[line - 1] != '\n')
      --line;
    if ((line > 0 || lineStarting) && stripSpace(data.from(line)).empty())
      data = data.slice(0, line);
  }
  if (!data.empty())
    add(TokenKind::Data, from, data);
}

void Lexer::readComment(size_t from, size_t inner) {
  const size_t end = text.find("#}", inner);
  if (end == Text::kNone)
    return fail(from, "a comment without an end", "\"#}\"");
  Ending ending{end, end + 2, 0};
  if (end > inner && (text[end - 1] == '-' || text[end - 1] == '+'))
    ending.sign = text[end - 1];
  leaveTag(skipAfter(ending, true));
}

// {% raw %} up to {% endraw %}. False, and nothing read, if the tag is another one.
bool Lexer::readRaw(size_t begin, size_t afterSign) {
  const Text word = "raw", endWord = "endraw";
  size_t after = skipSpace(afterSign);
  if (!text.from(after).startsWith(word))
    return false;
  const Ending start = endingAt(skipSpace(after + word.size), "%}");
  if (start.start == Text::kNone || start.sign == '+')
    return false;
  const size_t body = skipAfter(start, false);
  for (size_t tag = text.find("{%", body); tag != Text::kNone; tag = text.find("{%", tag + 1)) {
    const bool isSigned = tag + 2 < text.size && (text[tag + 2] == '-' || text[tag + 2] == '+');
    const size_t name = skipSpace(tag + 2 + isSigned);
    if (!text.from(name).startsWith(endWord))
      continue;
    const Ending ending = endingAt(skipSpace(name + endWord.size), "%}");
    if (ending.start == Text::kNone)
      continue;
    lineStarting = text[body - 1] == '\n';
    addData(body, tag, isSigned ? text[tag + 2] : char(0), true);
    leaveTag(skipAfter(ending, true));
    return true;
  }
  fail(begin, "a raw block without an end", "\"{% endraw %}\"");
  return true;
}

void Lexer::readTag(size_t begin, TokenKind end) {
  openCount = 0;
  while (!job.failed()) {
    if (openCount == 0 && readTagEnd(end))
      return;
    if (at >= text.size)
      return fail(begin, "a tag without an end", end == TokenKind::OutputEnd ? "\"}}\"" : "\"%}\"");
    readTagToken();
  }
}

bool Lexer::readTagEnd(TokenKind end) {
  const bool isOutput = end == TokenKind::OutputEnd;
  const Ending ending = endingAt(at, isOutput ? "}}" : "%}");
  if (ending.start == Text::kNone || (isOutput && ending.sign == '+'))
    return false;
  add(end, at, text.slice(at, ending.after));
  leaveTag(skipAfter(ending, !isOutput));
  return true;
}

static bool isDigit(char byte) { return byte >= '0' && byte <= '9'; }

static bool isNameCharacter(const Character &character) {
  return character.code == '_' || isAlphabetic(character.code) || isNumeric(character.code);
}

void Lexer::readTagToken() {
  const size_t start = at;
  const Character first = characterAt(text, at);
  if (isSpace(first.code)) {
    at = skipSpace(at);
  } else if (isDigit(text[at])) {
    readNumber();
  } else if (isNameCharacter(first)) {
    while (at < text.size && isNameCharacter(characterAt(text, at)))
      at += characterAt(text, at).size;
    add(TokenKind::Name, start, text.slice(start, at));
  } else if (text[at] == '\'' || text[at] == '"') {
    readString();
  } else {
    readOperator();
  }
}

void Lexer::readNumber() {
  const size_t start = at;
  const bool afterDot = at > 0 && text[at - 1] == '.'; // an element by number, `pair.0`
  auto digits = [this] {
    while (at < text.size && (isDigit(text[at]) || text[at] == '_'))
      ++at;
  };
  const bool prefixed = text[at] == '0' && at + 1 < text.size && strchr("xXoObB", text[at + 1]);
  while (prefixed && at < text.size && isNameCharacter(characterAt(text, at)))
    at += characterAt(text, at).size;
  digits();
  bool isFloat = false;
  if (!prefixed && !afterDot && at + 1 < text.size && text[at] == '.' && isDigit(text[at + 1])) {
    isFloat = true;
    ++at;
    digits();
  }
  if (!prefixed && !afterDot && at < text.size && (text[at] | 0x20) == 'e') {
    const size_t sign = at + 1 < text.size && (text[at + 1] == '-' || text[at + 1] == '+');
    if (at + 1 + sign < text.size && isDigit(text[at + 1 + sign])) {
      isFloat = true;
      at += 1 + sign;
      digits();
    }
  }
  const Text written = text.slice(start, at);
  int64_t integer = 0;
  double number = 0;
  if (isFloat ? parseFloat(written, &number) : parseInteger(written, 0, &integer))
    return add(TokenKind::Number, start, written, isFloat ? Value::of(number) : Value::of(integer));
  job.fail(source, start, "found the number '%.*s', expected one that fits 64 bits",
           static_cast<int>(written.size < 60 ? written.size : 60), written.data);
}

void Lexer::readString() {
  const size_t start = at;
  const char quote = text[at++];
  bool escapes = false;
  for (; at < text.size && text[at] != quote; ++at)
    if (text[at] == '\\') {
      escapes = true;
      ++at;
    }
  if (at >= text.size)
    return fail(start, "a string without an end", "the quote that it begins with");
  const Text inner = text.slice(start + 1, at++);
  add(TokenKind::String, start, text.slice(start, at),
      escapes ? unescape(inner) : Value::of(inner));
}

// Escapes as in Python; an unknown one stays as it is.
Value Lexer::unescape(Text written) {
  TextBuilder result(job);
  for (size_t i = 0; i < written.size;) {
    if (written[i] != '\\') {
      const size_t next = written.find("\\", i);
      const size_t end = next == Text::kNone ? written.size : next;
      result.append(written.slice(i, end));
      i = end;
    } else if (!readEscape(written, &i, result)) {
      fail(static_cast<size_t>(written.data - text.data) + i, "a bad escape in a string",
           "\\n, \\xHH, \\uHHHH or \\UHHHHHHHH with hexadecimal digits");
      break;
    }
  }
  return result.value();
}

// At most `most` digits of a base from `from`; how many there were.
static size_t readDigits(Text text, size_t from, size_t most, unsigned base, uint32_t *value) {
  size_t count = 0;
  *value = 0;
  for (; count < most && from + count < text.size; ++count) {
    const char byte = text[from + count];
    const char lower = static_cast<char>(byte | 0x20);
    const unsigned digit = isDigit(byte)                  ? unsigned(byte - '0')
                           : lower >= 'a' && lower <= 'f' ? unsigned(lower - 'a' + 10)
                                                          : 99u;
    if (digit >= base)
      break;
    *value = *value * base + digit;
  }
  return count;
}

bool Lexer::readEscape(Text written, size_t *index, TextBuilder &result) {
  static const char kNames[] = "\\'\"abfnrtv", kMeanings[] = "\\'\"\a\b\f\n\r\t\v";
  const size_t i = *index;
  const char letter = written[i + 1]; // a string does not end with a lone backslash
  if (letter == '\n') {               // a continued line
    *index += 2;
    return true;
  }
  if (const char *name = strchr(kNames, letter); name && letter) {
    *index += 2;
    return result.append(kMeanings[name - kNames]);
  }
  uint32_t code = 0;
  size_t size = 0;
  if (const size_t octal = readDigits(written, i + 1, 3, 8, &code)) {
    size = 1 + octal;
  } else {
    const size_t wanted = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    if (!wanted) {
      *index += 1;
      return result.append('\\');
    }
    if (readDigits(written, i + 2, wanted, 16, &code) != wanted)
      return false;
    size = 2 + wanted;
  }
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
    return false;
  char bytes[4];
  *index += size;
  return result.append(Text(bytes, encode(code, bytes)));
}

void Lexer::readOperator() {
  static const char *const kOperators[] = {"**", "//", "==", "!=", "<=", ">=", "+", "-", "*",
                                           "/",  "%",  "<",  ">",  "=",  ".",  ":", "|", ",",
                                           ";",  "~",  "(",  ")",  "[",  "]",  "{", "}"};
  const Text rest = text.from(at);
  for (const char *name : kOperators) {
    if (!rest.startsWith(name))
      continue;
    const char first = *name;
    if (strchr("([{", first)) {
      const char closing = first == '(' ? ')' : first == '[' ? ']' : '}';
      if (openCount == open.size() ? !open.push({closing, at})
                                   : (open[openCount] = {closing, at}, false))
        return;
      ++openCount;
    } else if (strchr(")]}", first)) {
      if (openCount == 0 || open[openCount - 1].closing != first)
        return job.fail(source, at, "found '%c', expected %s", first,
                        openCount == 0                       ? "an open bracket before it"
                        : open[openCount - 1].closing == ')' ? "')'"
                        : open[openCount - 1].closing == ']' ? "']'"
                                                             : "'}'");
      --openCount;
    }
    add(TokenKind::Operator, at, text.slice(at, at + strlen(name)));
    at += strlen(name);
    return;
  }
  const Character character = characterAt(text, at);
  job.fail(source, at, "found '%.*s', expected a name, a value or an operator",
           static_cast<int>(character.size), text.data + at);
}

Tokens tokenize(Job &job, const Source &source) { return Lexer(job, source).read(); }

} // namespace llmc::templates
