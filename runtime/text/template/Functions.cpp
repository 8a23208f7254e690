// SPDX-License-Identifier: Apache-2.0
// Functions, number filters, and the methods of lists, mappings and loops.
#include "runtime/text/template/Builtins.h"
#include "runtime/text/template/Number.h"
#include <cmath>
#include <locale.h>
#include <time.h>

namespace llmc::templates {

// ---- Functions ----

static Value range(Call &call) {
  const bool hasStop = call.given[1];
  const int64_t start = hasStop ? call.integer(0, 0) : 0;
  const int64_t stop = hasStop ? call.integer(1, 0) : call.integer(0, 0);
  const int64_t step = call.integer(2, 1);
  if (call.job.failed())
    return Value();
  if (step == 0) {
    call.job.failHere("found a range with step 0, expected another step");
    return Value();
  }
  if (step > 0 ? start >= stop : start <= stop)
    return Value::list(nullptr, 0);
  // Unsigned, since the distance may take 64 bits.
  const uint64_t distance =
      step > 0 ? uint64_t(stop) - uint64_t(start) : uint64_t(start) - uint64_t(stop);
  const uint64_t stride = step > 0 ? uint64_t(step) : -uint64_t(step);
  const uint64_t count = (distance - 1) / stride + 1;
  if (count > uint64_t(Limits::kRange)) {
    call.job.failHere("found a range of %llu numbers, expected at most %lld",
                      static_cast<unsigned long long>(count),
                      static_cast<long long>(Limits::kRange));
    return Value();
  }
  Value *numbers = call.job.spend(count) ? call.job.allocate<Value>(size_t(count)) : nullptr;
  if (!numbers)
    return Value();
  for (uint64_t i = 0; i < count; ++i)
    numbers[i] = Value::of(int64_t(uint64_t(start) + i * uint64_t(step)));
  return Value::list(numbers, size_t(count));
}

// dict(a=1), dict({...}, a=1)
static Value makeDict(Call &call) {
  DictBuilder dict(call.job);
  if (call.all.count > 1 || (call.all.count && !call.all.positional[0].is(Kind::Dict)))
    call.job.failHere("found other arguments for '%s', expected a mapping and named values",
                      call.builtin.name);
  if (call.all.count && !call.job.failed()) {
    const Dict &given = *call.all.positional[0].dict;
    for (size_t i = 0; i < given.size; ++i)
      dict.set(given.entries[i].key, given.entries[i].value);
  }
  for (size_t i = 0; i < call.all.namedCount; ++i)
    dict.set(Value::of(call.all.named[i].name), call.all.named[i].value);
  return dict.value();
}

static Value makeNamespace(Call &call) {
  const Value values = makeDict(call);
  Namespace *space = call.job.create<Namespace>();
  if (!space || call.job.failed())
    return Value();
  for (size_t i = values.dict->size; i-- > 0;) {
    Variable *variable = call.job.create<Variable>();
    if (!variable)
      return Value();
    const Entry &entry = values.dict->entries[i];
    *variable = {toText(call.job, entry.key), entry.value, space->first};
    space->first = variable;
  }
  Value result;
  result.kind = Kind::Namespace, result.space = space;
  return result;
}

static Value raise(Call &call) {
  const Text message = call.text(0);
  call.job.failHere("the template refuses this conversation: %.*s",
                    static_cast<int>(message.size < 200 ? message.size : 200), message.data);
  return Value();
}

// The time now, in English names whatever the program's locale is.
static Value formatTime(Call &call) {
  const Text format = call.string(0);
  char pattern[256], text[1024] = "";
  if (format.size >= sizeof pattern - 1) {
    call.job.failHere("found a time format of %zu bytes, expected less than %zu", format.size,
                      sizeof pattern - 1);
    return Value();
  }
  memcpy(pattern, format.data, format.size);
  memcpy(pattern + format.size, "|", 2); // so that an empty text is no error
  const time_t now = call.evaluator.time();
  struct tm local {};
  const locale_t plain = newlocale(LC_ALL_MASK, "C", locale_t(0));
  size_t size = 0;
  if (plain && localtime_r(&now, &local))
    size = strftime_l(text, sizeof text, pattern, &local, plain);
  if (plain)
    freelocale(plain);
  if (!size) {
    call.job.failHere("found a time that takes more than %zu bytes, expected a shorter format",
                      sizeof text);
    return Value();
  }
  return Value::of(call.job.copy(Text(text, size - 1)));
}

static const Builtin kGlobals[] = {
    {"dict", makeDict, "*", 0},
    {"namespace", makeNamespace, "*", 0},
    {"raise_exception", raise, "message", 1},
    {"range", range, "start,stop,step", 1},
    {"strftime_now", formatTime, "format", 1},
    {nullptr, nullptr, nullptr, 0},
};
const BuiltinSet kFunctions = {"function", {kGlobals, nullptr, nullptr}};

// ---- Number filters ----

static Value absolute(Call &call) {
  const bool negative = call.self.isNumber() && call.self.asNumber() < 0;
  return negative || !call.self.isNumber() ? negate(call.job, call.self) : call.self;
}

static bool truncateTo64(double number, Value *result) {
  if (!(std::fabs(number) < 9.2e18))
    return false;
  *result = Value::of(int64_t(number));
  return true;
}

static Value toInteger(Call &call) {
  Value result = call.given[0] ? call.values[0] : Value::of(int64_t(0));
  int64_t integer = 0;
  double number = 0;
  if (call.self.isIntegral())
    return Value::of(call.self.asInteger());
  if (call.self.is(Kind::Float)) {
    truncateTo64(call.self.number, &result);
    return result;
  }
  const Text text = call.self.isString() ? stripSpace(call.self.text()) : Text();
  const int64_t base = call.integer(1, 10);
  if (base >= 0 && base <= 36 && base != 1 && parseInteger(text, int(base), &integer))
    return Value::of(integer);
  if (parseFloat(text, &number))
    truncateTo64(number, &result);
  return result;
}

static Value toFloat(Call &call) {
  double number = 0;
  if (call.self.isNumber())
    return Value::of(call.self.asNumber());
  if (call.self.isString() && parseFloat(stripSpace(call.self.text()), &number))
    return Value::of(number);
  return call.given[0] ? call.values[0] : Value::of(0.0);
}

static Value roundNumber(Call &call) {
  const Text how = call.text(1, "common");
  const int64_t precision = call.integer(0, 0);
  if (!call.self.isNumber() || precision < 0 || precision > 15) {
    call.job.failHere("found %s to round to %lld digits, expected a number and 0 to 15",
                      describe(call.self.kind), static_cast<long long>(precision));
    return Value();
  }
  const double number = call.self.asNumber();
  if (how == Text("common")) {
    if (call.self.isIntegral())
      return Value::of(call.self.asInteger());
    double rounded = number;
    if (std::fabs(number) < 1e22)
      parseFloat(printFixed(number, int(precision)).text(), &rounded);
    return Value::of(rounded);
  }
  double scale = 1;
  for (int64_t i = 0; i < precision; ++i)
    scale *= 10;
  if (how == Text("ceil"))
    return Value::of(std::ceil(number * scale) / scale);
  if (how == Text("floor"))
    return Value::of(std::floor(number * scale) / scale);
  call.job.failHere("found an unknown way to round, expected common, ceil or floor");
  return Value();
}

const Builtin kNumberFilters[] = {
    {"abs", absolute, "", 0},
    {"float", toFloat, "default", 0},
    {"int", toInteger, "default,base", 0},
    {"round", roundNumber, "precision,method", 0},
    {nullptr, nullptr, nullptr, 0},
};
const BuiltinSet kFilters = {"filter", {kTextFilters, kListFilters, kNumberFilters}};

// ---- Methods of lists, mappings and loops ----

static Value countEqual(Call &call) {
  int64_t count = 0;
  for (size_t i = 0; i < call.self.size && !call.job.failed(); ++i)
    count += isEqual(call.job, call.self.elements[i], call.values[0]);
  return Value::of(count);
}

static Value indexOf(Call &call) {
  for (size_t i = 0; i < call.self.size && !call.job.failed(); ++i)
    if (isEqual(call.job, call.self.elements[i], call.values[0]))
      return Value::of(int64_t(i));
  call.job.failHere("found no such element in the list, expected one for 'index'");
  return Value();
}

static Value copyOf(Call &call) { return call.self; }

static Value refuse(Call &call) {
  call.job.failHere("found a call of '%s', which would change a value; expected a new value, or an "
                    "attribute of a namespace()",
                    call.builtin.name);
  return Value();
}

static const Builtin kOfLists[] = {
    {"append", refuse, "*", 0},        {"clear", refuse, "*", 0},  {"copy", copyOf, "", 0},
    {"count", countEqual, "value", 1}, {"extend", refuse, "*", 0}, {"index", indexOf, "value", 1},
    {"insert", refuse, "*", 0},        {"pop", refuse, "*", 0},    {"remove", refuse, "*", 0},
    {"reverse", refuse, "*", 0},       {"sort", refuse, "*", 0},   {nullptr, nullptr, nullptr, 0},
};
const BuiltinSet kListMethods = {"method", {kOfLists, nullptr, nullptr}};

static Value get(Call &call) {
  if (const Value *found = call.self.dict->find(call.values[0]))
    return *found;
  return call.given[1] ? call.values[1] : Value::none();
}

static Value keys(Call &call) { return elementsOf(call.job, call.self); }

static Value valuesOf(Call &call) {
  ListBuilder list(call.job);
  for (size_t i = 0; i < call.self.dict->size && call.job.spend(1); ++i)
    list.push(call.self.dict->entries[i].value);
  return listOf(list);
}

static Value itemsOf(Call &call) {
  return call.evaluator.callBuiltin(*findBuiltin(kFilters, "items"), call.self, Arguments());
}

static const Builtin kOfDicts[] = {
    {"clear", refuse, "*", 0},   {"copy", copyOf, "", 0},        {"get", get, "key,default", 1},
    {"items", itemsOf, "", 0},   {"keys", keys, "", 0},          {"pop", refuse, "*", 0},
    {"popitem", refuse, "*", 0}, {"setdefault", refuse, "*", 0}, {"update", refuse, "*", 0},
    {"values", valuesOf, "", 0}, {nullptr, nullptr, nullptr, 0},
};
const BuiltinSet kDictMethods = {"method", {kOfDicts, nullptr, nullptr}};

static Value cycle(Call &call) {
  if (call.all.count)
    return call.all.positional[call.self.loop->index % call.all.count];
  call.job.failHere("found no arguments for 'cycle', expected values");
  return Value();
}

static Value changed(Call &call) {
  Loop &loop = *call.self.loop;
  const Value asked = Value::list(call.all.positional, call.all.count, true);
  const bool differs = !loop.hasSeen || !isEqual(call.job, loop.seen, asked);
  loop.seen = asked, loop.hasSeen = true;
  return Value::of(differs);
}

static const Builtin kOfLoops[] = {
    {"changed", changed, "*", 0}, {"cycle", cycle, "*", 0}, {nullptr, nullptr, nullptr, 0}};
const BuiltinSet kLoopMethods = {"method", {kOfLoops, nullptr, nullptr}};

} // namespace llmc::templates
