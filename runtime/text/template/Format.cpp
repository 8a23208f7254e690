// SPDX-License-Identifier: Apache-2.0
// Texts with places for values: "%s of %d" % values and "{} of {n}".format(...).
#include "runtime/text/template/Builtins.h"
#include "runtime/text/template/Number.h"
#include <cmath>

namespace llmc::templates {

// One value by a conversion letter; digits < 0: as many as usual. False if the value does not fit.
static bool convert(TextBuilder &result, Job &job, const Value &value, char letter, int digits) {
  if (letter == 's')
    return result.append(toText(job, value));
  if (letter == 'r') {
    appendRepr(result, job, value);
    return !job.failed();
  }
  const bool isFixed = letter == 'f';
  if (!value.isNumber() || (!isFixed && value.is(Kind::Float) && !(std::fabs(value.number) < 9e18)))
    return false;
  if (isFixed)
    return result.append(printFixed(value.asNumber(), digits < 0 ? 6 : digits).text());
  const int64_t integer = value.is(Kind::Float) ? int64_t(value.number) : value.asInteger();
  return result.append(printInteger(integer).text());
}

static void refuse(Job &job, const Value &value, char letter) {
  job.failHere("found %s for the conversion '%c', expected a number of at most 64 bits",
               describe(value.kind), letter);
}

// ".N" at *at; -1 if it is not there.
static int takeDigits(Text text, size_t *at) {
  if (*at + 1 >= text.size || text[*at] != '.' || text[*at + 1] < '0' || text[*at + 1] > '9')
    return -1;
  *at += 2;
  return text[*at - 1] - '0';
}

Value formatPercent(Job &job, Text format, const Value &values) {
  const bool several = values.is(Kind::List) && values.isTuple;
  const Value *arguments = several ? values.elements : &values;
  const size_t count = several ? values.size : 1;
  TextBuilder result(job);
  size_t used = 0;
  for (size_t i = 0; i < format.size && job.spend(1); ++i) {
    if (format[i] != '%') {
      result.append(format[i]);
      continue;
    }
    const int digits = takeDigits(format, &++i);
    const char letter = i < format.size ? format[i] : '\0';
    if (letter == '%') {
      result.append('%');
      continue;
    }
    if (used == count || !letter || !strchr("srdif", letter)) {
      job.failHere("found a format with %s, expected %%s, %%r, %%d, %%f or %%%% for each value",
                   used == count ? "too few values" : "another conversion");
      break;
    }
    if (!convert(result, job, arguments[used], letter, digits))
      refuse(job, arguments[used], letter);
    ++used;
  }
  if (used < count && several)
    job.failHere("found %zu values for a format, expected %zu", count, used);
  return result.value();
}

// The value that a field names: by order, by number, or by name. Null if there is none.
static const Value *valueOfField(const Arguments &all, Text name, size_t *next) {
  int64_t number = 0;
  if (name.empty())
    number = int64_t((*next)++);
  else if (!parseInteger(name, 10, &number) || number < 0) {
    for (size_t i = 0; i < all.namedCount; ++i)
      if (all.named[i].name == name)
        return &all.named[i].value;
    return nullptr;
  }
  return size_t(number) < all.count ? &all.positional[number] : nullptr;
}

// {name}, {name!r} or {name:.2f}; `field` is what is between the braces.
static void appendField(TextBuilder &result, Call &call, Text field, size_t *next) {
  size_t end = 0;
  while (end < field.size && field[end] != '!' && field[end] != ':')
    ++end;
  const Value *value = valueOfField(call.all, field.slice(0, end), next);
  const bool chosen = end < field.size && field[end] == '!';
  char letter = chosen && end + 1 < field.size ? field[end + 1] : 's';
  end += chosen ? 2 : 0;
  int digits = -1;
  if (end < field.size && field[end] == ':') {
    ++end;
    digits = takeDigits(field, &end);
    if (end < field.size)
      letter = field[end++];
  }
  const bool known = (letter && strchr("srdf", letter)) && (digits < 0 || letter == 'f');
  if (!value || !known || end < field.size) {
    call.job.failHere(
        "found the field '{%.*s}', expected a value for it and {}, {0}, {name}, {!r}, "
        "{:d} or {:.2f}",
        static_cast<int>(field.size < 60 ? field.size : 60), field.data);
    return;
  }
  if (!convert(result, call.job, *value, letter, digits))
    refuse(call.job, *value, letter);
}

Value formatBraces(Call &call) {
  const Text format = call.self.text();
  TextBuilder result(call.job);
  size_t next = 0;
  for (size_t i = 0; i < format.size && call.job.spend(1); ++i) {
    const bool doubled = i + 1 < format.size && format[i + 1] == format[i];
    if (format[i] != '{' && format[i] != '}') {
      result.append(format[i]);
    } else if (doubled) {
      result.append(format[i++]);
    } else {
      const size_t end = format[i] == '{' ? format.find("}", i) : Text::kNone;
      if (end == Text::kNone) {
        call.job.failHere("found a single brace in a format, expected '{...}', '{{' or '}}'");
        break;
      }
      appendField(result, call, format.slice(i + 1, end), &next);
      i = end;
    }
  }
  return result.value();
}

} // namespace llmc::templates
