// SPDX-License-Identifier: Apache-2.0
// Filters of texts.
#include "runtime/text/template/Builtins.h"
#include <utf8proc.h>

namespace llmc::templates {

static bool appendSpecialUpper(TextBuilder &result, uint32_t code) {
  static const struct {
    uint32_t code;
    const char *upper;
  } kSpecial[] = {{0xdf, "SS"},   {0x149, "ʼN"},   {0x1f0, "J̌"},    {0xfb00, "FF"}, {0xfb01, "FI"},
                  {0xfb02, "FL"}, {0xfb03, "FFI"}, {0xfb04, "FFL"}, {0xfb05, "ST"}, {0xfb06, "ST"}};
  for (const auto &special : kSpecial)
    if (special.code == code)
      return result.append(special.upper);
  return false;
}

void appendCase(TextBuilder &result, Job &job, Text text, LetterCase wanted) {
  for (size_t offset = 0; offset < text.size && job.spendBytes(0);) {
    const Character character = characterAt(text, offset);
    const Text bytes = text.slice(offset, offset + character.size);
    offset += character.size;
    if (character.code == kInvalid) {
      result.append(bytes);
      continue;
    }
    if (wanted == LetterCase::Upper && appendSpecialUpper(result, character.code))
      continue;
    const auto code = static_cast<utf8proc_int32_t>(character.code);
    const utf8proc_int32_t changed = wanted == LetterCase::Upper   ? utf8proc_toupper(code)
                                     : wanted == LetterCase::Lower ? utf8proc_tolower(code)
                                                                   : utf8proc_totitle(code);
    char encoded[4];
    result.append(Text(encoded, encode(static_cast<uint32_t>(changed), encoded)));
  }
}

void appendCapitalized(TextBuilder &result, Job &job, Text text) {
  const size_t first = text.empty() ? 0 : characterAt(text, 0).size;
  appendCase(result, job, text.slice(0, first), LetterCase::Title);
  appendCase(result, job, text.from(first), LetterCase::Lower);
}

bool hasCase(Job &job, Text text, LetterCase wanted) {
  const bool upper = wanted == LetterCase::Upper;
  bool any = false;
  for (size_t offset = 0; offset < text.size && job.spend(1);) {
    const Character character = characterAt(text, offset);
    offset += character.size;
    if (upper ? isLower(character.code) : isUpper(character.code))
      return false;
    any |= upper ? isUpper(character.code) : isLower(character.code);
  }
  return any;
}

Value replaceAll(Job &job, Text text, Text old, Text fresh, int64_t count) {
  TextBuilder result(job);
  size_t offset = 0;
  bool first = true;
  while (count != 0 && job.spend(1)) {
    // An empty text is found before each character, and at the end.
    const size_t skip =
        old.empty() && !first && offset < text.size ? characterAt(text, offset).size : 0;
    if (old.empty() && !first && offset >= text.size)
      break;
    const size_t found = text.find(old, offset + skip);
    if (found == Text::kNone)
      break;
    result.append(text.slice(offset, found));
    result.append(fresh);
    offset = found + old.size;
    first = false;
    count -= count > 0;
  }
  result.append(text.from(offset));
  return result.value();
}

static bool isLineEnd(uint32_t code) {
  return (code >= 0xa && code <= 0xd) || (code >= 0x1c && code <= 0x1e) || code == 0x85 ||
         code == 0x2028 || code == 0x2029;
}

Value splitLines(Job &job, Text text, bool keepEnds) {
  ListBuilder lines(job);
  size_t start = 0;
  for (size_t offset = 0; offset < text.size && job.spend(1);) {
    const Character character = characterAt(text, offset);
    size_t end = offset;
    offset += character.size;
    if (!isLineEnd(character.code))
      continue;
    if (character.code == '\r' && offset < text.size && text[offset] == '\n')
      ++offset;
    lines.push(Value::of(text.slice(start, keepEnds ? offset : end)));
    start = offset;
  }
  if (start < text.size)
    lines.push(Value::of(text.from(start)));
  return listOf(lines);
}

static Value withCase(Call &call, LetterCase wanted) {
  TextBuilder result(call.job);
  appendCase(result, call.job, call.selfText(), wanted);
  return result.value();
}

static Value upper(Call &call) { return withCase(call, LetterCase::Upper); }
static Value lower(Call &call) { return withCase(call, LetterCase::Lower); }

static Value capitalize(Call &call) {
  TextBuilder result(call.job);
  appendCapitalized(result, call.job, call.selfText());
  return result.value();
}

// Words begin after spaces, hyphens and opening brackets.
static Value title(Call &call) {
  const Text text = call.selfText();
  TextBuilder result(call.job);
  size_t start = 0;
  for (size_t offset = 0; offset < text.size && call.job.spend(1);) {
    const Character character = characterAt(text, offset);
    const size_t next = offset + character.size;
    const bool separates =
        isSpace(character.code) ||
        (character.code < 0x80 && strchr("-({[<", int(character.code)) && character.code);
    if (separates) {
      appendCapitalized(result, call.job, text.slice(start, offset));
      result.append(text.slice(offset, next));
      start = next;
    }
    offset = next;
  }
  appendCapitalized(result, call.job, text.from(start));
  return result.value();
}

static Value trim(Call &call) {
  const Text text = call.selfText();
  const bool chosen = call.given[0] && !call.values[0].is(Kind::None);
  if (!call.job.spendBytes(text.size))
    return Value();
  return Value::of(chosen ? strip(text, call.string(0), Sides::Both) : stripSpace(text));
}

static Value replace(Call &call) {
  const bool counted = call.given[2] && !call.values[2].is(Kind::None);
  return replaceAll(call.job, call.selfText(), call.text(0), call.text(1),
                    counted ? call.integer(2, -1) : -1);
}

static Value string(Call &call) { return Value::of(call.selfText()); }

static Value indent(Call &call) {
  const Text width = call.given[0] && call.values[0].isString() ? call.values[0].text() : Text();
  TextBuilder blanks(call.job);
  if (width.empty())
    blanks.appendRepeated(" ", uint64_t(call.integer(0, 4) > 0 ? call.integer(0, 4) : 0));
  const Text prefix = width.empty() ? blanks.text() : width;
  const bool first = call.truth(1, false), blank = call.truth(2, false);
  TextBuilder whole(call.job); // the last line counts even if it is empty
  whole.append(call.selfText());
  whole.append('\n');
  const Value lines = splitLines(call.job, whole.text(), false);
  TextBuilder result(call.job);
  for (size_t i = 0; i < lines.size && !call.job.failed(); ++i) {
    const Text line = lines.elements[i].text();
    result.append(i ? "\n" : "");
    result.append((i ? blank || !line.empty() : first) ? prefix : Text());
    result.append(line);
  }
  return result.value();
}

static Value escape(Call &call) {
  static const struct {
    char byte;
    const char *name;
  } kEscapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'\'', "&#39;"}, {'"', "&#34;"}};
  TextBuilder result(call.job);
  for (const char &byte : call.selfText()) {
    Text written(&byte, 1);
    for (const auto &escape : kEscapes)
      if (escape.byte == byte)
        written = escape.name;
    if (!call.job.spendBytes(0) || !result.append(written))
      break;
  }
  return result.value();
}

static Value center(Call &call) {
  const Text text = call.selfText();
  const int64_t blanks = call.integer(0, 80) - int64_t(countCharacters(text));
  if (blanks <= 0)
    return Value::of(text);
  const int64_t left = blanks / 2 + (blanks & call.integer(0, 80) & 1); // as Python rounds
  TextBuilder result(call.job);
  result.appendRepeated(" ", uint64_t(left));
  result.append(text);
  result.appendRepeated(" ", uint64_t(blanks - left));
  return result.value();
}

static Value truncate(Call &call) {
  const Text text = call.selfText(), end = call.text(2, "...");
  const int64_t length = call.integer(0, 255), leeway = call.integer(3, 5);
  const int64_t kept = length - int64_t(countCharacters(end));
  if (kept < 0 || leeway < 0) {
    call.job.failHere("found length %lld for 'truncate', expected at least that of its end",
                      static_cast<long long>(length));
    return Value();
  }
  if (int64_t(countCharacters(text)) <= length + leeway)
    return Value::of(text);
  Text start = text.slice(0, offsetOfCharacter(text, size_t(kept)));
  const size_t space = call.truth(1, false) ? Text::kNone : start.findLast(" ");
  if (space != Text::kNone)
    start = start.slice(0, space);
  TextBuilder result(call.job);
  result.append(start);
  result.append(end);
  return result.value();
}

static Value wordCount(Call &call) {
  const Text text = call.selfText();
  int64_t count = 0;
  bool inside = false;
  for (size_t offset = 0; offset < text.size && call.job.spend(1);) {
    const Character character = characterAt(text, offset);
    offset += character.size;
    const bool isWord =
        character.code == '_' || isAlphabetic(character.code) || isNumeric(character.code);
    count += isWord && !inside;
    inside = isWord;
  }
  return Value::of(count);
}

static Value format(Call &call) {
  const Value values = Value::list(call.all.positional, call.all.count, true);
  return formatPercent(call.job, call.selfText(), values);
}

static Value urlEncode(Call &call) {
  TextBuilder result(call.job);
  for (const char &byte : call.selfText()) {
    const auto code = static_cast<unsigned char>(byte);
    const bool plain = (code | 0x20) >= 'a' && (code | 0x20) <= 'z' && code < 0x80;
    const bool kept = plain || (code >= '0' && code <= '9') || (code && strchr("_.-~/", code));
    static const char kHex[] = "0123456789ABCDEF";
    const char escaped[3] = {'%', kHex[code >> 4], kHex[code & 15]};
    if (!call.job.spendBytes(0) || !result.append(kept ? Text(&byte, 1) : Text(escaped, 3)))
      break;
  }
  return result.value();
}

static bool readStyle(Call &call, JsonStyle *style, TextBuilder &blanks) {
  style->ascii = call.truth(0, false);
  style->sorted = call.truth(3, false);
  if (call.given[1] && !call.values[1].is(Kind::None)) {
    style->indented = true;
    style->between = ",";
    if (!call.values[1].isString())
      blanks.appendRepeated(" ", uint64_t(call.integer(1, 0) > 0 ? call.integer(1, 0) : 0));
    style->indent = call.values[1].isString() ? call.values[1].text() : blanks.text();
  }
  if (!call.given[2] || call.values[2].is(Kind::None))
    return !call.job.failed();
  const Value pair = elementsOf(call.job, call.values[2]);
  if (pair.size != 2 || !pair.elements[0].isString() || !pair.elements[1].isString()) {
    call.job.failHere("found other separators for 'tojson', expected two strings");
    return false;
  }
  style->between = pair.elements[0].text(), style->colon = pair.elements[1].text();
  return !call.job.failed();
}

static Value toJson(Call &call) {
  JsonStyle style;
  TextBuilder blanks(call.job), result(call.job);
  if (readStyle(call, &style, blanks))
    appendJson(result, call.job, call.self, style);
  return result.value();
}

const Builtin kTextFilters[] = {
    {"capitalize", capitalize, "", 0},
    {"center", center, "width", 0},
    {"e", escape, "", 0},
    {"escape", escape, "", 0},
    {"forceescape", escape, "", 0},
    {"format", format, "*", 0},
    {"indent", indent, "width,first,blank", 0},
    {"lower", lower, "", 0},
    {"replace", replace, "old,new,count", 2},
    {"safe", string, "", 0},
    {"string", string, "", 0},
    {"title", title, "", 0},
    {"tojson", toJson, "ensure_ascii,indent,separators,sort_keys", 0},
    {"trim", trim, "chars", 0},
    {"truncate", truncate, "length,killwords,end,leeway", 0},
    {"upper", upper, "", 0},
    {"urlencode", urlEncode, "", 0},
    {"wordcount", wordCount, "", 0},
    {nullptr, nullptr, nullptr, 0},
};

} // namespace llmc::templates
