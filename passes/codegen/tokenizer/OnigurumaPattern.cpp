// SPDX-License-Identifier: Apache-2.0
// A walk over the pattern, character by character. Differences that matter to tokenizers:
//   \s \w      Oniguruma: White_Space; Alphabetic, M, Nd, Pc. PCRE2 has other sets under the names.
//   \h \v      a hexadecimal digit and one character there, classes of blanks here
//   {n,m}+     a repeated repeat there, possessive here
//   \uHHHH     not known here
//   [..&&..]   refused, as are classes inside classes
#include "passes/codegen/tokenizer/OnigurumaPattern.h"

#include <cstdint>
#include <vector>

namespace llmc::tokenizer {
namespace {

constexpr const char *kWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";

class Rewriter {
public:
  Rewriter(std::string_view pattern, std::string_view file, std::string_view place)
      : pattern(pattern), file(file), place(place) {}

  Result<std::string> run();

private:
  char peek(size_t ahead = 0) const {
    return at + ahead < pattern.size() ? pattern[at + ahead] : '\0';
  }
  bool done() const { return at >= pattern.size(); }
  Error problem(const std::string &text) const {
    return errorAt(file, place,
                   text + " at byte " + std::to_string(at) + " of the pattern '" +
                       escaped(pattern, 80) + "'");
  }
  void atom() { lastAtom = out.size(); }

  Status escape(bool inClass);
  Status hexadecimal(size_t digits);
  Status characterClass();
  Status group();
  void closeGroup();
  void quantifier();
  bool interval(size_t &end) const;
  void repeatAgain();

  const std::string_view pattern;
  const std::string_view file;
  const std::string_view place;
  size_t at = 0;
  std::string out;
  size_t lastAtom = 0;        // where in `out` the last thing that can be repeated begins
  std::vector<size_t> groups; // where in `out` the open ones begin
};

// \uHHHH and \xHH: the character by number.
Status Rewriter::hexadecimal(size_t digits) {
  std::string number;
  while (number.size() < digits && isxdigit(static_cast<unsigned char>(peek())))
    number += pattern[at++];
  if (number.size() != digits)
    return problem("found an escape with " + std::to_string(number.size()) +
                   " hexadecimal digits, expected " + std::to_string(digits));
  out += "\\x{" + number + "}";
  return {};
}

Status Rewriter::escape(bool inClass) {
  ++at;
  if (done())
    return problem("found a backslash at the end, expected a character behind it");
  const char c = pattern[at++];
  switch (c) {
  case 's':
    out += R"(\p{White_Space})";
    return {};
  case 'S':
    out += R"(\P{White_Space})";
    return {};
  case 'h':
    out += inClass ? "0-9a-fA-F" : "[0-9a-fA-F]";
    return {};
  case 'w':
    out += inClass ? std::string(kWord) : "[" + std::string(kWord) + "]";
    return {};
  case 'W':
    if (inClass)
      return problem("found \\W inside brackets, expected \\w in a class of its own");
    out += "[^" + std::string(kWord) + "]";
    return {};
  case 'd':
    out += R"(\p{Nd})";
    return {};
  case 'D':
    out += R"(\P{Nd})";
    return {};
  case 'v':
    out += R"(\x{0b})";
    return {};
  case 'u':
    return hexadecimal(4);
  case 'x':
    if (peek() != '{')
      return hexadecimal(2);
    [[fallthrough]];
  case 'p':
  case 'P': // with all that stands in braces
    out += '\\';
    out += c;
    if (peek() != '{')
      return {};
    while (!done() && peek() != '}')
      out += pattern[at++];
    if (!done())
      out += pattern[at++];
    return {};
  case 'H':
  case 'R':
  case 'X':
  case 'K':
  case 'G':
  case 'k':
  case 'g':
  case 'b':
  case 'B':
    if (c == 'b' && !inClass) { // a word's edge, by Oniguruma's words
      const std::string word = "[" + std::string(kWord) + "]";
      out += "(?:(?<=" + word + ")(?!" + word + ")|(?<!" + word + ")(?=" + word + "))";
      return {};
    }
    if (c != 'b')
      return problem(std::string("found \\") + c +
                     ", expected an escape that llmc knows (\\s \\w \\d \\p \\n ...)");
    [[fallthrough]];
  default:
    out += '\\';
    out += c;
    return {};
  }
}

Status Rewriter::characterClass() {
  out += pattern[at++];
  if (peek() == '^')
    out += pattern[at++];
  if (peek() == ']') { // the first one is itself
    out += "\\]";
    ++at;
  }
  while (!done() && peek() != ']') {
    if (peek() == '[' && peek(1) == ':') {
      const size_t end = pattern.find(":]", at);
      if (end == std::string_view::npos)
        return problem("found [: without its end, expected :]");
      out += pattern.substr(at, end + 2 - at);
      at = end + 2;
    } else if (peek() == '[') {
      return problem("found brackets inside brackets, expected one level");
    } else if (peek() == '&' && peek(1) == '&') {
      return problem("found && inside brackets, expected no intersection");
    } else if (peek() == '\\') {
      if (Status status = escape(true); !status)
        return status;
    } else {
      out += pattern[at++];
    }
  }
  if (done())
    return problem("found a class without its end, expected ]");
  out += pattern[at++];
  return {};
}

Status Rewriter::group() {
  groups.push_back(out.size());
  if (groups.size() > 200)
    return problem("found groups more than 200 deep, expected fewer");
  out += pattern[at++];
  if (peek() != '?')
    return {};
  const char kind = peek(1);
  // Groups, looks, atomic groups and the case switch are spelled alike.
  const bool looksBack = kind == '<' && (peek(2) == '=' || peek(2) == '!');
  const bool named = kind == '<' && !looksBack;
  if (named || kind == '\0' ||
      !(looksBack || std::string_view(":=!>i-").find(kind) != std::string_view::npos))
    return problem("found a group that llmc does not know, expected (?:...), (?=...), (?!...), "
                   "(?<=...), (?<!...), (?>...) or (?i:...)");
  while (!done() && std::string_view(":=!>)").find(peek()) == std::string_view::npos)
    out += pattern[at++];
  if (!done() && peek() != ')')
    out += pattern[at++];
  return {};
}

void Rewriter::closeGroup() {
  out += pattern[at++];
  if (groups.empty())
    return; // PCRE2 says what is wrong
  lastAtom = groups.back();
  groups.pop_back();
}

// {n}, {n,}, {,m} or {n,m} here; `end` is behind it.
bool Rewriter::interval(size_t &end) const {
  size_t i = at + 1;
  size_t digits = 0;
  while (i < pattern.size() &&
         (isdigit(static_cast<unsigned char>(pattern[i])) || pattern[i] == ',')) {
    digits += pattern[i] != ',';
    ++i;
  }
  end = i + 1;
  return i < pattern.size() && pattern[i] == '}' && digits > 0;
}

// What was repeated becomes a thing to repeat.
void Rewriter::repeatAgain() {
  out.insert(lastAtom, "(?:");
  out += ")";
}

void Rewriter::quantifier() {
  size_t end = 0;
  if (peek() == '{' && !interval(end)) {
    atom();
    out += "\\{";
    ++at;
    return;
  }
  if (peek() == '{') {
    std::string_view text = pattern.substr(at, end - at);
    if (text[1] == ',')
      out += "{0" + std::string(text.substr(1));
    else
      out += text;
    at = end;
    if (peek() == '+') // repeated once more, not possessive
      repeatAgain();
    return;
  }
  out += pattern[at++];
}

Result<std::string> Rewriter::run() {
  while (!done()) {
    Status status;
    switch (peek()) {
    case '\\':
      atom();
      status = escape(false);
      break;
    case '[':
      atom();
      status = characterClass();
      break;
    case '(':
      status = group();
      break;
    case ')':
      closeGroup();
      break;
    case '{':
    case '*':
    case '+':
    case '?':
      quantifier();
      break;
    default:
      atom();
      out += pattern[at++];
      while (!done() && (static_cast<unsigned char>(peek()) & 0xc0) == 0x80)
        out += pattern[at++]; // the rest of a character
    }
    if (!status)
      return status.takeError();
  }
  return out;
}

} // namespace

Result<std::string> fromOniguruma(std::string_view pattern, std::string_view file,
                                  std::string_view place) {
  return Rewriter(pattern, file, place).run();
}

} // namespace llmc::tokenizer
