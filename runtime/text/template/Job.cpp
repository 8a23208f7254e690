// SPDX-License-Identifier: Apache-2.0
// Memory, limits and the first failure of a rendering.
#include "runtime/text/template/Job.h"
#include "runtime/engine/Error.h"
#include <cstdarg>
#include <cstdio>

namespace llmc::templates {

namespace {
struct Place {
  size_t line = 1, column = 1;
};
} // namespace

static Place placeOf(Text text, size_t offset) {
  Place place;
  for (size_t at = 0; at < offset && at < text.size; at += characterAt(text, at).size) {
    const bool newLine = text[at] == '\n';
    place.line += newLine;
    place.column = newLine ? 1 : place.column + 1;
  }
  return place;
}

void Job::note(llmc_status status, const Source &source, size_t offset, const char *message) {
  if (failed())
    return;
  const Place place = placeOf(source.text, offset);
  outcome = llmc::fail(error, status, "%s:%zu:%zu: error: %s", source.name, place.line,
                       place.column, Escaped(message).text());
}

// Room for a whole message; Escaped() shortens it.
constexpr size_t kMessage = 1024;

void Job::fail(const Source &source, size_t offset, const char *format, ...) {
  char message[kMessage];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  note(LLMC_INVALID_ARGUMENT, source, offset, message);
}

void Job::failHere(const char *format, ...) {
  char message[kMessage];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  static const Source nowhere = {"chat template", Text()};
  note(LLMC_INVALID_ARGUMENT, here ? *here : nowhere, hereOffset, message);
}

bool Job::spend(uint64_t more) {
  if (failed())
    return false;
  if (more <= limits.steps - steps) {
    steps += more;
    return true;
  }
  failHere("the template does not end: found more than %llu steps, expected less",
           static_cast<unsigned long long>(limits.steps));
  return false;
}

void *Job::allocate(size_t bytes) {
  if (failed())
    return nullptr;
  void *memory = arena.allocate(bytes);
  if (memory)
    return memory;
  if (arena.limitReached()) {
    failHere("the template's values take too much memory: found more than %zu MiB, expected less",
             limits.memoryBytes >> 20);
  } else {
    static const Source nowhere = {"chat template", Text()};
    note(LLMC_OUT_OF_MEMORY, here ? *here : nowhere, hereOffset,
         "the allocator gave no memory for its values");
  }
  return nullptr;
}

Text Job::copy(Text text) {
  char *bytes = spendBytes(text.size) ? allocate<char>(text.size) : nullptr;
  if (!bytes)
    return Text();
  memcpy(bytes, text.data, text.size);
  return Text(bytes, text.size);
}

bool Job::deeper() {
  if (++depth <= limits.depth)
    return !failed();
  failHere("found more than %u levels of nested expressions, statements, calls or values, "
           "expected fewer",
           limits.depth);
  return false;
}

bool TextBuilder::reserve(size_t more) {
  if (more > job.limits.outputBytes - size) {
    job.failHere("the text grows too long: found more than %zu MiB, expected less",
                 job.limits.outputBytes >> 20);
    return false;
  }
  if (more <= capacity - size)
    return true;
  size_t larger = capacity ? capacity * 2 : 64;
  larger = larger < size + more ? size + more : larger;
  char *moved = job.allocate<char>(larger);
  if (!moved)
    return false;
  if (size)
    memcpy(moved, bytes, size);
  bytes = moved, capacity = larger;
  return true;
}

bool TextBuilder::append(Text text) {
  if (!job.spend(text.size / 128) || !reserve(text.size))
    return false;
  if (text.size)
    memcpy(bytes + size, text.data, text.size);
  size += text.size;
  return true;
}

bool TextBuilder::appendRepeated(Text text, uint64_t times) {
  if (text.empty())
    return !job.failed();
  const uint64_t room = job.limits.outputBytes - size;
  if (!reserve(times > room / text.size ? room + 1 : size_t(times) * text.size) ||
      !job.spendBytes(size_t(times) * text.size))
    return false;
  for (; times > 0; --times) {
    memcpy(bytes + size, text.data, text.size);
    size += text.size;
  }
  return true;
}

// Entries from which a hash table pays.
constexpr size_t kHashed = 9;
// Keys that fall together: never so many by chance in a table half full at most.
constexpr size_t kProbes = 256;

bool DictBuilder::enter(uint32_t number) {
  uint64_t slot = hashKey(entries[number].key);
  for (size_t probes = 0; probes < kProbes; ++probes, ++slot) {
    uint32_t &place = slots[slot & (slotCount - 1)];
    if (!place) {
      place = number + 1;
      return true;
    }
  }
  job.failHere("found a mapping whose keys were chosen to collide, expected natural ones");
  return false;
}

bool DictBuilder::index() {
  slotCount = slotCount ? slotCount * 2 : 4 * kHashed;
  while (slotCount & (slotCount - 1))
    slotCount += slotCount & -slotCount;
  slots = job.allocate<uint32_t>(slotCount);
  if (!slots)
    return false;
  memset(slots, 0, slotCount * sizeof *slots);
  for (size_t i = 0; i < entries.size(); ++i)
    if (!enter(static_cast<uint32_t>(i)))
      return false;
  return true;
}

bool DictBuilder::set(const Value &key, const Value &value) {
  if (job.failed())
    return false;
  const Dict soFar{entries.data(), entries.size(), slots, slotCount};
  if (const Value *found = soFar.find(key)) {
    *const_cast<Value *>(found) = value;
    return true;
  }
  if (entries.size() >= UINT32_MAX - 1 || !job.spend(1) || !entries.push({key, value}))
    return false;
  if (slots ? entries.size() * 2 > slotCount : entries.size() == kHashed)
    return index();
  return slots ? enter(static_cast<uint32_t>(entries.size() - 1)) : true;
}

Value DictBuilder::value() {
  Dict *dict = job.create<Dict>();
  if (!dict)
    return Value();
  *dict = Dict{entries.data(), entries.size(), slots, slotCount};
  return Value::of(static_cast<const Dict *>(dict));
}

} // namespace llmc::templates
