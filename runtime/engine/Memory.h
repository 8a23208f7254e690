// SPDX-License-Identifier: Apache-2.0
// Memory from the host's allocator. Nothing here throws or aborts: each way of getting memory can
// say no. The engine uses no standard container, since those abort without exceptions when memory
// runs out.
#pragma once

#include "llmc/llmc.h"
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace llmc {

constexpr size_t kAlignment = 64;

constexpr size_t kHugePageBytes = size_t(2) << 20;

// Asks for huge pages where whole ones fit into the block. A wish: the system may refuse it.
void preferHugePages(void *memory, size_t bytes);

class Allocator {
public:
  // NULL hooks mean malloc.
  explicit Allocator(const llmc_allocator *hooks);

  void *allocate(size_t bytes, size_t alignment = kAlignment) const {
    return hooks.allocate(hooks.user, bytes, alignment);
  }
  void release(void *memory, size_t bytes, size_t alignment = kAlignment) const {
    if (memory)
      hooks.release(hooks.user, memory, bytes, alignment);
  }

  template <typename T, typename... Arguments> T *create(Arguments &&...arguments) const {
    void *memory = allocate(sizeof(T));
    return memory ? new (memory) T(std::forward<Arguments>(arguments)...) : nullptr;
  }
  template <typename T> void destroy(T *object) const {
    object->~T();
    release(object, sizeof(T));
  }

private:
  llmc_allocator hooks;
};

// An array of plain values that is sized once.
template <typename T> class Buffer {
  static_assert(std::is_trivially_destructible<T>::value, "elements are not destroyed");

public:
  Buffer() = default;
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() {
    if (memory)
      allocator->release(memory, capacity * sizeof(T));
  }

  // The elements are not initialised. False when there is no memory.
  bool allocate(const Allocator &from, size_t elements) {
    if (!elements)
      return true;
    if (elements > PTRDIFF_MAX / sizeof(T))
      return false;
    memory = static_cast<T *>(from.allocate(elements * sizeof(T)));
    allocator = &from;
    capacity = memory ? elements : 0;
    return memory != nullptr;
  }

  T *data() const { return memory; }
  size_t size() const { return capacity; }
  T &operator[](size_t index) const { return memory[index]; }

private:
  T *memory = nullptr;
  size_t capacity = 0;
  const Allocator *allocator = nullptr;
};

} // namespace llmc
