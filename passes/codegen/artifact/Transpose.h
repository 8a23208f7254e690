// SPDX-License-Identifier: Apache-2.0
// A matrix turned over while it is copied, in squares of 16 bytes a side: what panels are made by.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace llmc::artifact {
namespace transposing {

// As many elements as 16 bytes hold: four words or eight halves.
template <typename T> struct Square {
  typedef T Vector __attribute__((vector_size(16)));
  static constexpr uint64_t size = 16 / sizeof(T);

  // Lanes of both in turn, of their lower or upper parts.
  static Vector low(Vector a, Vector b) {
    if constexpr (size == 4)
      return __builtin_shufflevector(a, b, 0, 4, 1, 5);
    else
      return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  }
  static Vector high(Vector a, Vector b) {
    if constexpr (size == 4)
      return __builtin_shufflevector(a, b, 2, 6, 3, 7);
    else
      return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  }

  // Log2(size) perfect shuffles of all elements.
  static void turn(const char *from, uint64_t fromStride, char *to, uint64_t toStride) {
    Vector rows[size], shuffled[size];
    for (uint64_t i = 0; i < size; ++i)
      std::memcpy(&rows[i], from + i * fromStride, 16);
    for (uint64_t done = 1; done < size; done *= 2) {
      for (uint64_t i = 0; i < size / 2; ++i) {
        shuffled[2 * i] = low(rows[i], rows[i + size / 2]);
        shuffled[2 * i + 1] = high(rows[i], rows[i + size / 2]);
      }
      std::memcpy(rows, shuffled, sizeof rows);
    }
    for (uint64_t i = 0; i < size; ++i)
      std::memcpy(to + i * toStride, &rows[i], 16);
  }
};

} // namespace transposing

// Element (row, column) at from[row * fromStride + column] goes to to[column * toStride + row]. T is
// an unsigned integer of an element's size; addresses need no alignment.
template <typename T>
void transpose(const void *from, uint64_t fromStride, uint64_t rows, uint64_t columns, void *to,
               uint64_t toStride) {
  using transposing::Square;
  constexpr uint64_t size = Square<T>::size, line = 64 / sizeof(T);
  auto source = [&](uint64_t row, uint64_t column) {
    return static_cast<const char *>(from) + (row * fromStride + column) * sizeof(T);
  };
  auto target = [&](uint64_t row, uint64_t column) {
    return static_cast<char *>(to) + (column * toStride + row) * sizeof(T);
  };
  // One cache line of each row: rows whose addresses differ by a power of two displace each other.
  for (uint64_t begin = 0; begin < columns; begin += line) {
    const uint64_t end = std::min(begin + line, columns);
    for (uint64_t row = 0; row < rows; row += size) {
      uint64_t column = begin;
      if (row + size <= rows)
        for (; column + size <= end; column += size)
          Square<T>::turn(source(row, column), fromStride * sizeof(T), target(row, column),
                          toStride * sizeof(T));
      for (; column < end; ++column)
        for (uint64_t i = row; i < std::min(row + size, rows); ++i)
          std::memcpy(target(i, column), source(i, column), sizeof(T));
    }
  }
}

} // namespace llmc::artifact
