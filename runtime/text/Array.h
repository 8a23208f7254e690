// SPDX-License-Identifier: Apache-2.0
// A growing array of plain values on the context's allocator. Running out of memory is remembered
// (`failed`), not reported at each push: whoever fills arrays asks once, at the end.
#pragma once

#include "runtime/engine/Memory.h"

#include <cstdint>
#include <cstring>

namespace llmc::text {

template <typename T> class Array {
  static_assert(std::is_trivially_copyable<T>::value, "elements are moved as bytes");

public:
  explicit Array(const Allocator &allocator) : allocator(allocator) {}
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  ~Array() { allocator.release(memory, capacity * sizeof(T)); }

  bool failed() const { return outOfMemory; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T *data() { return memory; }
  const T *data() const { return memory; }
  T &operator[](size_t index) { return memory[index]; }
  const T &operator[](size_t index) const { return memory[index]; }
  T &back() { return memory[count - 1]; }
  T *begin() { return memory; }
  T *end() { return memory + count; }
  const T *begin() const { return memory; }
  const T *end() const { return memory + count; }

  void clear() { count = 0; }
  void pop() { --count; }
  void shrink(size_t to) { count = to < count ? to : count; }

  void push(const T &value) {
    if (count == capacity) {
      const T copy = value; // may be one of ours
      if (reserve(count + 1))
        memory[count++] = copy;
      return;
    }
    memory[count++] = value;
  }
  void append(const T *values, size_t n) {
    if (!n || !reserve(count + n))
      return;
    memcpy(memory + count, values, n * sizeof(T));
    count += n;
  }
  // `n` more elements, not initialised; null when there is no memory.
  T *extend(size_t n) {
    if (!reserve(count + n))
      return nullptr;
    count += n;
    return memory + count - n;
  }

  bool reserve(size_t needed) {
    if (needed <= capacity)
      return true;
    const size_t wanted = needed < 2 * capacity ? 2 * capacity : needed < 16 ? 16 : needed;
    T *bigger = wanted > PTRDIFF_MAX / sizeof(T)
                    ? nullptr
                    : static_cast<T *>(allocator.allocate(wanted * sizeof(T)));
    if (!bigger) {
      outOfMemory = true;
      return false;
    }
    if (count)
      memcpy(bigger, memory, count * sizeof(T));
    allocator.release(memory, capacity * sizeof(T));
    memory = bigger;
    capacity = wanted;
    return true;
  }

  void swap(Array &other) {
    std::swap(memory, other.memory);
    std::swap(count, other.count);
    std::swap(capacity, other.capacity);
    std::swap(outOfMemory, other.outOfMemory);
  }

private:
  const Allocator &allocator;
  T *memory = nullptr;
  size_t count = 0;
  size_t capacity = 0;
  bool outOfMemory = false;
};

} // namespace llmc::text
