/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory functions that a code generator may call behind our back, so that an artefact needs
 * none of libc. Hidden in a model.so; in an object or archive the writer must make them local, or
 * two models would define them twice.
 */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  void *result = to;
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
  return result;
}

void *memset(void *to, int value, size_t bytes) {
  void *result = to;
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
  return result;
}

void *memmove(void *to, const void *from, size_t bytes) {
  char *target = (char *)to;
  const char *source = (const char *)from;
  if (target <= source || target >= source + bytes)
    return memcpy(to, from, bytes);
  while (bytes--)
    target[bytes] = source[bytes];
  return to;
}

int memcmp(const void *left, const void *right, size_t bytes) {
  const unsigned char *a = (const unsigned char *)left;
  const unsigned char *b = (const unsigned char *)right;
  for (size_t i = 0; i < bytes; ++i)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return 0;
}
