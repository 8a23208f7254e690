// SPDX-License-Identifier: Apache-2.0
// Methods of texts, as Python's str has them.
#include "runtime/text/template/Builtins.h"

namespace llmc::templates {

static Value stripSides(Call &call, Sides sides) {
  const Text text = call.self.text();
  const bool chosen = call.given[0] && !call.values[0].is(Kind::None);
  if (!call.job.spendBytes(text.size))
    return Value();
  return Value::of(chosen ? strip(text, call.string(0), sides) : stripSpace(text, sides));
}

static Value stripBoth(Call &call) { return stripSides(call, Sides::Both); }
static Value stripLeft(Call &call) { return stripSides(call, Sides::Left); }
static Value stripRight(Call &call) { return stripSides(call, Sides::Right); }

// At runs of whitespace, `most` times; from the end if `backwards`.
static Value splitAtSpace(Call &call, int64_t most, bool backwards) {
  // What is left after the last split keeps the whitespace at its far end.
  Text rest = stripSpace(call.self.text(), backwards ? Sides::Right : Sides::Left);
  ListBuilder parts(call.job);
  size_t offset = backwards ? rest.size : 0;
  while (!rest.empty() && most != 0 && call.job.spend(1)) {
    if (offset == (backwards ? 0 : rest.size))
      break;
    const size_t start = backwards ? previous(rest, offset) : offset;
    const Character character = characterAt(rest, start);
    offset = backwards ? start : offset + character.size;
    if (!isSpace(character.code))
      continue;
    const Text part = backwards ? rest.from(start + character.size) : rest.slice(0, start);
    rest = backwards ? stripSpace(rest.slice(0, start), Sides::Right)
                     : stripSpace(rest.from(offset), Sides::Left);
    parts.push(Value::of(part));
    offset = backwards ? rest.size : 0;
    most -= most > 0;
  }
  if (!rest.empty())
    parts.push(Value::of(rest));
  return listOf(parts);
}

// Byte offset of the last `needle` that ends at or before `end`.
static size_t findLastBefore(Job &job, Text text, Text needle, size_t end) {
  const Text part = text.slice(0, end);
  for (size_t offset = part.size + 1; offset-- > needle.size;) {
    const size_t start = offset - needle.size;
    if (needle.empty() || part[start] == needle[0]) {
      if (!job.spendBytes(needle.size))
        break;
      if (memcmp(part.data + start, needle.data, needle.size) == 0)
        return start;
    }
  }
  return part.size < needle.size || !needle.empty() ? Text::kNone : 0;
}

static void reverse(Value *values, size_t count) {
  for (size_t i = 0; i < count / 2; ++i) {
    const Value kept = values[i];
    values[i] = values[count - 1 - i], values[count - 1 - i] = kept;
  }
}

static Value splitAt(Call &call, Text separator, int64_t most, bool backwards) {
  Text rest = call.self.text();
  ListBuilder parts(call.job);
  while (most != 0 && call.job.spend(1)) {
    const size_t found =
        backwards ? findLastBefore(call.job, rest, separator, rest.size) : rest.find(separator);
    if (found == Text::kNone)
      break;
    parts.push(Value::of(backwards ? rest.from(found + separator.size) : rest.slice(0, found)));
    rest = backwards ? rest.slice(0, found) : rest.from(found + separator.size);
    most -= most > 0;
  }
  parts.push(Value::of(rest));
  return listOf(parts);
}

static Value splitEither(Call &call, bool backwards) {
  const int64_t most = call.integer(1, -1);
  if (!call.job.spendBytes(call.self.size))
    return Value();
  Value parts;
  if (!call.given[0] || call.values[0].is(Kind::None)) {
    parts = splitAtSpace(call, most, backwards);
  } else {
    const Text separator = call.string(0);
    if (separator.empty()) {
      call.job.failHere("found an empty separator for 'split', expected a text");
      return Value();
    }
    parts = splitAt(call, separator, most, backwards);
  }
  if (backwards)
    reverse(const_cast<Value *>(parts.elements), parts.size);
  return parts;
}

static Value split(Call &call) { return splitEither(call, false); }
static Value splitFromEnd(Call &call) { return splitEither(call, true); }
static Value splitIntoLines(Call &call) {
  return splitLines(call.job, call.self.text(), call.truth(0, false));
}

// The part of the text between arguments `first` and `first` + 1, in characters.
static Text window(Call &call, size_t first, size_t *start) {
  const Text text = call.self.text();
  *start = 0;
  const bool hasStart = call.given[first] && !call.values[first].is(Kind::None);
  const bool hasStop = call.given[first + 1] && !call.values[first + 1].is(Kind::None);
  if ((!hasStart && !hasStop) || !call.job.spendBytes(text.size))
    return text;
  const int64_t length = int64_t(countCharacters(text));
  auto bound = [&](bool given, size_t index, int64_t otherwise) {
    int64_t value = given ? call.integer(index, otherwise) : otherwise;
    value = value < 0 ? value + length : value;
    return value < 0 ? 0 : value > length ? length : value;
  };
  const int64_t from = bound(hasStart, first, 0), to = bound(hasStop, first + 1, length);
  *start = offsetOfCharacter(text, size_t(from));
  return text.slice(*start, offsetOfCharacter(text, size_t(to)));
}

// A text, or any of a tuple of texts.
static bool matchesAny(Call &call, bool (*matches)(Text, Text)) {
  size_t start = 0;
  const Text text = window(call, 1, &start);
  if (!call.values[0].is(Kind::List))
    return matches(text, call.string(0));
  const Value &affixes = call.values[0];
  for (size_t i = 0; i < affixes.size && call.job.spend(1); ++i)
    if (affixes.elements[i].isString() && matches(text, affixes.elements[i].text()))
      return true;
  return false;
}

static Value startsWith(Call &call) {
  return Value::of(matchesAny(call, [](Text text, Text affix) { return text.startsWith(affix); }));
}
static Value endsWith(Call &call) {
  return Value::of(matchesAny(call, [](Text text, Text affix) { return text.endsWith(affix); }));
}

static int64_t findWithin(Call &call, bool last) {
  size_t start = 0;
  const Text part = window(call, 1, &start), needle = call.string(0);
  if (!call.job.spendBytes(part.size))
    return -1;
  const size_t found = last ? findLastBefore(call.job, part, needle, part.size) : part.find(needle);
  if (found == Text::kNone)
    return -1;
  return int64_t(countCharacters(call.self.text().slice(0, start + found)));
}

static Value find(Call &call) { return Value::of(findWithin(call, false)); }
static Value findLast(Call &call) { return Value::of(findWithin(call, true)); }
static Value index(Call &call) {
  const int64_t found = findWithin(call, false);
  if (found < 0)
    call.job.failHere("found no such part in the text, expected one for 'index'");
  return Value::of(found);
}

static Value count(Call &call) {
  size_t start = 0;
  const Text part = window(call, 1, &start), needle = call.string(0);
  if (!call.job.spendBytes(part.size))
    return Value();
  if (needle.empty())
    return Value::of(int64_t(countCharacters(part)) + 1);
  int64_t times = 0;
  for (size_t at = part.find(needle); at != Text::kNone && call.job.spend(1);
       at = part.find(needle, at + needle.size))
    ++times;
  return Value::of(times);
}

static Value joinElements(Call &call) {
  const Value elements = elementsOf(call.job, call.values[0]);
  TextBuilder result(call.job);
  for (size_t i = 0; i < elements.size && call.job.spend(1); ++i) {
    if (!elements.elements[i].isString()) {
      call.job.failHere("found %s among what 'join' joins, expected strings",
                        describe(elements.elements[i].kind));
      break;
    }
    result.append(i ? call.self.text() : Text());
    result.append(elements.elements[i].text());
  }
  return result.value();
}

static Value withCase(Call &call, LetterCase wanted) {
  TextBuilder result(call.job);
  appendCase(result, call.job, call.self.text(), wanted);
  return result.value();
}

static Value upper(Call &call) { return withCase(call, LetterCase::Upper); }
static Value lower(Call &call) { return withCase(call, LetterCase::Lower); }

static Value capitalize(Call &call) {
  TextBuilder result(call.job);
  appendCapitalized(result, call.job, call.self.text());
  return result.value();
}

// Every run of letters is a word.
static Value title(Call &call) {
  const Text text = call.self.text();
  TextBuilder result(call.job);
  bool inside = false;
  for (size_t offset = 0; offset < text.size && call.job.spend(1);) {
    const Character character = characterAt(text, offset);
    const Text letter = text.slice(offset, offset + character.size);
    appendCase(result, call.job, letter, inside ? LetterCase::Lower : LetterCase::Title);
    inside = isAlphabetic(character.code);
    offset += character.size;
  }
  return result.value();
}

static Value replace(Call &call) {
  return replaceAll(call.job, call.self.text(), call.string(0), call.string(1),
                    call.integer(2, -1));
}

// Whether the text has characters, and each is of a class.
static Value consistsOf(Call &call, bool (*belongs)(uint32_t)) {
  const Text text = call.self.text();
  bool all = !text.empty();
  for (size_t offset = 0; all && offset < text.size && call.job.spend(1);) {
    const Character character = characterAt(text, offset);
    all = belongs(character.code);
    offset += character.size;
  }
  return Value::of(all);
}

static Value isDigits(Call &call) { return consistsOf(call, isDecimal); }
static Value isNumbers(Call &call) { return consistsOf(call, isNumeric); }
static Value isLetters(Call &call) { return consistsOf(call, isAlphabetic); }
static Value isBlank(Call &call) { return consistsOf(call, isSpace); }
static Value isLettersOrNumbers(Call &call) {
  return consistsOf(call, [](uint32_t code) { return isAlphabetic(code) || isNumeric(code); });
}
static Value isAscii(Call &call) {
  const Value all = consistsOf(call, [](uint32_t code) { return code < 0x80; });
  return Value::of(all.boolean || !call.self.size);
}

static Value isUpperCase(Call &call) {
  return Value::of(hasCase(call.job, call.self.text(), LetterCase::Upper));
}
static Value isLowerCase(Call &call) {
  return Value::of(hasCase(call.job, call.self.text(), LetterCase::Lower));
}

static Value removePrefix(Call &call) {
  const Text text = call.self.text(), prefix = call.string(0);
  return Value::of(text.startsWith(prefix) ? text.from(prefix.size) : text);
}

static Value removeSuffix(Call &call) {
  const Text text = call.self.text(), suffix = call.string(0);
  return Value::of(text.endsWith(suffix) ? text.slice(0, text.size - suffix.size) : text);
}

static Value parts(Call &call, Text before, Text separator, Text after) {
  ListBuilder list(call.job);
  list.push(Value::of(before));
  list.push(Value::of(separator));
  list.push(Value::of(after));
  return listOf(list, true);
}

static Value partition(Call &call) {
  const Text text = call.self.text(), separator = call.string(0);
  const size_t found = call.job.spendBytes(text.size) ? text.find(separator) : Text::kNone;
  if (found == Text::kNone)
    return parts(call, text, Text(), Text());
  return parts(call, text.slice(0, found), separator, text.from(found + separator.size));
}

static Value partitionFromEnd(Call &call) {
  const Text text = call.self.text(), separator = call.string(0);
  const size_t found = findLastBefore(call.job, text, separator, text.size);
  if (found == Text::kNone)
    return parts(call, Text(), Text(), text);
  return parts(call, text.slice(0, found), separator, text.from(found + separator.size));
}

// Filled up to a width: before, after, or with zeros after the sign.
static Value pad(Call &call, bool before, Text filling) {
  const Text text = call.self.text();
  const int64_t missing = call.integer(0, 0) - int64_t(countCharacters(text));
  if (missing <= 0 || !call.job.spendBytes(text.size))
    return Value::of(text);
  TextBuilder result(call.job);
  const bool isSigned = filling == Text("0") && (text.startsWith("-") || text.startsWith("+"));
  result.append(text.slice(0, isSigned));
  if (before)
    result.appendRepeated(filling, uint64_t(missing));
  result.append(text.from(isSigned));
  if (!before)
    result.appendRepeated(filling, uint64_t(missing));
  return result.value();
}

static Value padZeros(Call &call) { return pad(call, true, "0"); }
static Value alignLeft(Call &call) { return pad(call, false, call.string(1, " ")); }
static Value alignRight(Call &call) { return pad(call, true, call.string(1, " ")); }

static const Builtin kMethods[] = {
    {"capitalize", capitalize, "", 0},
    {"count", count, "sub,start,end", 1},
    {"endswith", endsWith, "suffix,start,end", 1},
    {"find", find, "sub,start,end", 1},
    {"format", formatBraces, "*", 0},
    {"index", index, "sub,start,end", 1},
    {"isalnum", isLettersOrNumbers, "", 0},
    {"isalpha", isLetters, "", 0},
    {"isascii", isAscii, "", 0},
    {"isdecimal", isDigits, "", 0},
    {"isdigit", isDigits, "", 0},
    {"islower", isLowerCase, "", 0},
    {"isnumeric", isNumbers, "", 0},
    {"isspace", isBlank, "", 0},
    {"isupper", isUpperCase, "", 0},
    {"join", joinElements, "iterable", 1},
    {"ljust", alignLeft, "width,fillchar", 1},
    {"lower", lower, "", 0},
    {"lstrip", stripLeft, "chars", 0},
    {"partition", partition, "sep", 1},
    {"removeprefix", removePrefix, "prefix", 1},
    {"removesuffix", removeSuffix, "suffix", 1},
    {"replace", replace, "old,new,count", 2},
    {"rfind", findLast, "sub,start,end", 1},
    {"rjust", alignRight, "width,fillchar", 1},
    {"rpartition", partitionFromEnd, "sep", 1},
    {"rsplit", splitFromEnd, "sep,maxsplit", 0},
    {"rstrip", stripRight, "chars", 0},
    {"split", split, "sep,maxsplit", 0},
    {"splitlines", splitIntoLines, "keepends", 0},
    {"startswith", startsWith, "prefix,start,end", 1},
    {"strip", stripBoth, "chars", 0},
    {"title", title, "", 0},
    {"upper", upper, "", 0},
    {"zfill", padZeros, "width", 1},
    {nullptr, nullptr, nullptr, 0},
};

const BuiltinSet kTextMethods = {"method", {kMethods, nullptr, nullptr}};

} // namespace llmc::templates
