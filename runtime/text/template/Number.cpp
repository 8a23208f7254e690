// SPDX-License-Identifier: Apache-2.0
// Numbers as text and back. Decimal points never reach the C library, whose locale may want a
// comma: digits go to it as "12345e-2", and come from it apart from the point.
#include "runtime/text/template/Number.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace llmc::templates {

namespace {
// value = 0.d1d2d3... x 10^point
struct Digits {
  char digits[32];
  int count = 0;
  int point = 0;
};
} // namespace

NumberText printInteger(int64_t value) {
  NumberText result;
  result.size = static_cast<size_t>(
      snprintf(result.bytes, sizeof result.bytes, "%lld", static_cast<long long>(value)));
  return result;
}

static Digits digitsOf(double value, int count) {
  char scientific[64];
  snprintf(scientific, sizeof scientific, "%.*e", count - 1, value);
  Digits result;
  const char *c = scientific;
  for (; *c && *c != 'e'; ++c)
    if (*c >= '0' && *c <= '9' && result.count < 30)
      result.digits[result.count++] = *c;
  result.point = *c == 'e' ? atoi(c + 1) + 1 : 1;
  return result;
}

static double valueOf(const Digits &digits) {
  char text[64];
  snprintf(text, sizeof text, "%.*se%d", digits.count, digits.digits, digits.point - digits.count);
  return strtod(text, nullptr);
}

static Digits shortest(double value) {
  for (int count = 1; count < 17; ++count) {
    const Digits digits = digitsOf(value, count);
    if (valueOf(digits) == value)
      return digits;
  }
  return digitsOf(value, 17);
}

namespace {
struct Writer {
  NumberText &text;
  void put(char byte) { text.bytes[text.size++] = byte; }
  void put(const char *string) {
    while (*string)
      put(*string++);
  }
};
} // namespace

static void writePlain(Writer writer, const Digits &digits) {
  if (digits.point <= 0)
    writer.put("0.");
  for (int i = digits.point; i < 0; ++i)
    writer.put('0');
  for (int i = 0; i < digits.count; ++i) {
    if (i == digits.point && i > 0)
      writer.put('.');
    writer.put(digits.digits[i]);
  }
  for (int i = digits.count; i < digits.point; ++i)
    writer.put('0');
  if (digits.count <= digits.point)
    writer.put(".0");
}

static void writeScientific(Writer writer, const Digits &digits) {
  writer.put(digits.digits[0]);
  if (digits.count > 1)
    writer.put('.');
  for (int i = 1; i < digits.count; ++i)
    writer.put(digits.digits[i]);
  char exponent[16];
  snprintf(exponent, sizeof exponent, "e%c%02d", digits.point > 0 ? '+' : '-',
           abs(digits.point - 1));
  writer.put(exponent);
}

NumberText printFloat(double value) {
  NumberText result;
  Writer writer{result};
  if (std::isnan(value)) {
    writer.put("nan");
    return result;
  }
  if (std::signbit(value))
    writer.put('-');
  if (std::isinf(value)) {
    writer.put("inf");
    return result;
  }
  if (value == 0) {
    writer.put("0.0");
    return result;
  }
  const Digits digits = shortest(std::fabs(value));
  if (digits.point > -4 && digits.point <= 16)
    writePlain(writer, digits);
  else
    writeScientific(writer, digits);
  return result;
}

NumberText printFixed(double value, int digits) {
  NumberText result;
  result.size = static_cast<size_t>(
      snprintf(result.bytes, sizeof result.bytes, "%.*f", digits < 30 ? digits : 30, value));
  for (size_t i = 0; i < result.size; ++i) // the locale's point, if it is one byte
    if (result.bytes[i] == ',')
      result.bytes[i] = '.';
  return result;
}

static int digitOf(char byte) {
  if (byte >= '0' && byte <= '9')
    return byte - '0';
  if (byte >= 'a' && byte <= 'z')
    return byte - 'a' + 10;
  return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 10 : 99;
}

static int baseOfPrefix(Text text) {
  if (text.size < 2 || text[0] != '0')
    return 0;
  const char letter = static_cast<char>(text[1] | 0x20);
  return letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
}

bool parseInteger(Text text, int base, int64_t *value) {
  const bool negative = text.startsWith("-");
  if (negative || text.startsWith("+"))
    text = text.from(1);
  const int prefixed = baseOfPrefix(text);
  if (prefixed && (base == 0 || base == prefixed)) {
    base = prefixed;
    text = text.from(text.size > 2 && text[2] == '_' ? 3 : 2);
  }
  if (base == 0)
    base = 10;
  bool afterDigit = false;
  int64_t sum = 0;
  for (char byte : text) {
    if (byte == '_' && afterDigit) {
      afterDigit = false;
      continue;
    }
    const int digit = digitOf(byte);
    if (digit >= base || __builtin_mul_overflow(sum, int64_t(base), &sum) ||
        __builtin_sub_overflow(sum, int64_t(digit), &sum))
      return false;
    afterDigit = true;
  }
  if (!afterDigit || (!negative && sum == INT64_MIN))
    return false;
  *value = negative ? sum : -sum;
  return true;
}

static bool equalsIgnoringCase(Text text, const char *lower) {
  for (char byte : text)
    if (!*lower || (byte | 0x20) != *lower++)
      return false;
  return !*lower;
}

// Digits with single underscores between them, copied without them. False if there are none.
static bool takeDigits(Text text, size_t *at, char *digits, size_t *count) {
  const size_t start = *at;
  for (; *at < text.size; ++*at) {
    const char byte = text[*at];
    const bool between = byte == '_' && *at > start && text[*at - 1] != '_' &&
                         *at + 1 < text.size && digitOf(text[*at + 1]) < 10;
    if (between)
      continue;
    if (digitOf(byte) >= 10)
      break;
    digits[(*count)++] = byte;
  }
  return *at > start;
}

// Longer numbers are none: their digits would have to be kept.
constexpr size_t kLongestFloat = 400;

bool parseFloat(Text text, double *value) {
  const bool negative = text.startsWith("-");
  if (negative || text.startsWith("+"))
    text = text.from(1);
  if (equalsIgnoringCase(text, "inf") || equalsIgnoringCase(text, "infinity") ||
      equalsIgnoringCase(text, "nan")) {
    *value = (text[0] | 0x20) == 'n' ? NAN : negative ? -INFINITY : INFINITY;
    return true;
  }
  if (text.size > kLongestFloat)
    return false;
  char digits[kLongestFloat + 32];
  size_t count = 0, at = 0;
  bool any = takeDigits(text, &at, digits, &count);
  long exponent = 0;
  if (at < text.size && text[at] == '.') {
    ++at;
    const size_t whole = count;
    any |= takeDigits(text, &at, digits, &count);
    exponent = -static_cast<long>(count - whole);
  }
  if (any && at < text.size && (text[at] | 0x20) == 'e') {
    ++at;
    const bool down = at < text.size && text[at] == '-';
    at += down || (at < text.size && text[at] == '+');
    char written[kLongestFloat + 1];
    size_t size = 0;
    any = takeDigits(text, &at, written, &size);
    written[size < 6 ? size : 6] = '\0'; // beyond that it is 0 or infinite anyway
    exponent += down ? -atol(written) : atol(written);
  }
  if (!any || at != text.size)
    return false;
  snprintf(digits + count, sizeof digits - count, "e%ld", exponent);
  *value = negative ? -strtod(digits, nullptr) : strtod(digits, nullptr);
  return true;
}

} // namespace llmc::templates
