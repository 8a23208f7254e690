// SPDX-License-Identifier: Apache-2.0
// One rendering: its memory, its limits, and its first failure. Nothing is thrown: what fails says
// so here and gives an empty value; every loop asks failed() and ends.
#pragma once

#include "runtime/text/template/Arena.h"
#include "runtime/text/template/Value.h"

namespace llmc::templates {

// What a template may use. Far beyond what conversations need (a thousand messages take some 50,000
// steps), so that only a template that loops without end meets them.
struct Limits {
  uint64_t steps = 10000000;                // half a second
  size_t sourceBytes = 1 << 20;             // of the template
  size_t outputBytes = 64 << 20;            // of any text that is put together
  size_t memoryBytes = 512u << 20;          // of all values
  uint32_t depth = 200;                     // of nested expressions, statements, calls and values
  static constexpr int64_t kRange = 100000; // numbers of a range(), as in Jinja's sandbox
};

// A text that a place in it can be named of: the template, or JSON that was given.
struct Source {
  const char *name; // "chat template"
  Text text;
};

class Job {
public:
  Job(const Allocator &allocator, const Limits &limits, llmc_error *error)
      : limits(limits), error(error), arena(allocator, limits.memoryBytes) {}

  llmc_status status() const { return outcome; }
  bool failed() const { return outcome != LLMC_OK; }

  // Keeps the first failure: "chat template:3:14: error: ...", lines and columns from 1, a column
  // is a character.
  __attribute__((format(printf, 4, 5))) void fail(const Source &source, size_t offset,
                                                  const char *format, ...);
  // False, with a failure at where() noted, when the steps are used up. A step is a node evaluated,
  // an element made, or some hundred bytes read.
  bool spend(uint64_t steps);
  bool spendBytes(size_t bytes) { return spend(1 + bytes / 128); }

  // Memory or null, which is a failure at where().
  void *allocate(size_t bytes);
  template <typename T> T *allocate(size_t count) {
    static_assert(alignof(T) <= 16, "what the arena gives");
    if (count > PTRDIFF_MAX / sizeof(T))
      count = PTRDIFF_MAX / sizeof(T); // more than any limit
    return static_cast<T *>(allocate(count * sizeof(T)));
  }
  template <typename T> T *create() {
    void *memory = allocate(sizeof(T));
    return memory ? new (memory) T() : nullptr;
  }
  // A copy that the arena holds; empty after a failure.
  Text copy(Text text);

  // Depth of what is nested right now; deeper() notes a failure beyond the limit.
  bool deeper();
  void shallower() { --depth; }

  // Where a failure is noted that knows no place itself.
  void at(const Source &source, size_t offset) { here = &source, hereOffset = offset; }
  __attribute__((format(printf, 2, 3))) void failHere(const char *format, ...);

  const Limits limits;

private:
  void note(llmc_status status, const Source &source, size_t offset, const char *message);

  llmc_error *error;
  llmc_status outcome = LLMC_OK;
  Arena arena;
  uint64_t steps = 0;
  uint32_t depth = 0;
  const Source *here = nullptr;
  size_t hereOffset = 0;
};

// One level of nesting; false beyond the limit.
class Nested {
public:
  explicit Nested(Job &job) : job(job), entered(job.deeper()) {}
  Nested(const Nested &) = delete;
  Nested &operator=(const Nested &) = delete;
  ~Nested() { job.shallower(); }
  explicit operator bool() const { return entered; }

private:
  Job &job;
  bool entered;
};

// An array that grows in the arena.
template <typename T> class Growing {
public:
  explicit Growing(Job &job) : job(job) {}

  bool push(const T &element) {
    if (count == capacity && !grow())
      return false;
    new (elements + count++) T(element);
    return true;
  }
  const T *data() const { return elements; }
  T *data() { return elements; }
  size_t size() const { return count; }
  T &operator[](size_t index) { return elements[index]; }

private:
  bool grow() {
    const size_t larger = capacity ? capacity * 2 : 4;
    T *moved = job.allocate<T>(larger);
    if (!moved)
      return false;
    for (size_t i = 0; i < count; ++i)
      new (moved + i) T(elements[i]);
    elements = moved, capacity = larger;
    return true;
  }

  Job &job;
  T *elements = nullptr;
  size_t count = 0, capacity = 0;
};

// Text put together piece by piece.
class TextBuilder {
public:
  explicit TextBuilder(Job &job) : job(job) {}

  bool append(Text text);
  bool append(char byte) { return append(Text(&byte, 1)); }
  bool appendRepeated(Text text, uint64_t times);
  Text text() const { return Text(bytes ? bytes : "", size); }
  Value value() const { return Value::of(text()); }

private:
  bool reserve(size_t more);

  Job &job;
  char *bytes = nullptr;
  size_t size = 0, capacity = 0;
};

// A mapping put together entry by entry; a key given again keeps its place and takes the new value.
class DictBuilder {
public:
  explicit DictBuilder(Job &job) : job(job), entries(job) {}

  bool set(const Value &key, const Value &value);
  Value value();

private:
  bool index();
  bool enter(uint32_t number);

  Job &job;
  Growing<Entry> entries;
  uint32_t *slots = nullptr;
  size_t slotCount = 0;
};

using ListBuilder = Growing<Value>;
inline Value listOf(const ListBuilder &list, bool isTuple = false) {
  return Value::list(list.data(), list.size(), isTuple);
}

} // namespace llmc::templates
