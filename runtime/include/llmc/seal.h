/* SPDX-License-Identifier: Apache-2.0
 *
 * The seal of a model.so: a hash in an ELF note that tells a damaged file before the dynamic loader
 * trusts it (the loader ends the process on a bad relocation). Used by the artefact writer and by
 * the engine; one function computes it for both. It covers what is loaded except the weights, and
 * nothing that `strip` changes: section headers and file offsets are left out.
 *
 * The note has the name "llmc", type LLMC_SEAL_NOTE and an llmc_seal for its content. The writer
 * emits it with hash 0 (a section of type SHT_NOTE, flags SHF_ALLOC, aligned to 4) and puts the
 * hash in when everything else is in its place.
 */
#ifndef LLMC_SEAL_H
#define LLMC_SEAL_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LLMC_SEAL_NOTE 1u
#define LLMC_SEAL_MAX_SEGMENTS 64u

typedef struct llmc_seal {
  uint32_t abi_version;
  uint32_t covered_loads; /* how many PT_LOAD segments are covered, from the first on */
  uint64_t hash;
} llmc_seal;

/* What precedes the llmc_seal in the note. */
typedef struct llmc_seal_head {
  uint32_t name_bytes;    /* 5 */
  uint32_t content_bytes; /* sizeof(llmc_seal) */
  uint32_t type;          /* LLMC_SEAL_NOTE */
  char name[8];           /* "llmc" */
} llmc_seal_head;

/* Reads `bytes` at `offset` of the file; 0 when they cannot be had. */
typedef int (*llmc_seal_read)(void *user, uint64_t offset, void *to, size_t bytes);

typedef enum llmc_seal_result {
  LLMC_SEAL_FOUND = 0,
  LLMC_SEAL_MISSING = 1,
  LLMC_SEAL_UNREADABLE = 2
} llmc_seal_result;

typedef struct llmc_seal_state {
  uint64_t lanes[4];
  uint64_t words;
} llmc_seal_state;

static inline uint64_t llmc_seal_mix(uint64_t lane, uint64_t word) {
  const uint64_t mixed = lane ^ word; /* each step can be undone: no change of one word is lost */
  return ((mixed << 29) | (mixed >> 35)) * 0xd6e8feb86659fd93u + 0xa0761d6478bd642fu;
}

/* `bytes` is a multiple of 8 but for the end of a part, which is filled up with zeros. */
static inline void llmc_seal_add(llmc_seal_state *state, const void *data, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    memcpy(&word, (const char *)data + at, bytes - at < 8 ? bytes - at : 8);
    uint64_t *lane = &state->lanes[state->words++ % 4];
    *lane = llmc_seal_mix(*lane, word);
  }
}

/* Bytes [begin, end) of the file, those of the hash itself (at `place`) taken as zero. */
static inline int llmc_seal_add_file(llmc_seal_state *state, llmc_seal_read read, void *user,
                                     uint64_t begin, uint64_t end, uint64_t place) {
  char buffer[8192];
  while (begin < end) {
    const size_t bytes = end - begin < sizeof buffer ? (size_t)(end - begin) : sizeof buffer;
    if (!read(user, begin, buffer, bytes))
      return 0;
    for (uint64_t i = 0; i < sizeof(uint64_t); ++i)
      if (place + i >= begin && place + i < begin + bytes)
        buffer[place + i - begin] = 0;
    llmc_seal_add(state, buffer, bytes);
    begin += bytes;
  }
  return 1;
}

/* Finds the note in a PT_NOTE segment; `place` is the file offset of the seal's hash. */
static inline int llmc_seal_find(const Elf64_Phdr *segment, llmc_seal_read read, void *user,
                                 llmc_seal *seal, uint64_t *place) {
  uint64_t at = segment->p_offset;
  const uint64_t end = at + segment->p_filesz;
  while (end - at >= sizeof(llmc_seal_head) + sizeof(llmc_seal)) {
    llmc_seal_head head;
    if (!read(user, at, &head, sizeof head))
      return 0;
    if (head.name_bytes == 5 && !memcmp(head.name, "llmc", 5) && head.type == LLMC_SEAL_NOTE &&
        head.content_bytes == sizeof *seal) {
      *place = at + sizeof head + offsetof(llmc_seal, hash);
      return read(user, at + sizeof head, seal, sizeof *seal);
    }
    const uint64_t size = 12 + (((uint64_t)head.name_bytes + 3) & ~3ull) +
                          (((uint64_t)head.content_bytes + 3) & ~3ull);
    if (size > end - at)
      return 0;
    at += size;
  }
  return 0;
}

/* Reads the seal of a file and computes the hash that it should hold. */
static inline llmc_seal_result llmc_seal_compute(llmc_seal_read read, void *user, llmc_seal *seal,
                                                 uint64_t *place, uint64_t *hash) {
  Elf64_Ehdr header;
  Elf64_Phdr segments[LLMC_SEAL_MAX_SEGMENTS];
  llmc_seal_state state = {{1, 2, 3, 4}, 0};
  if (!read(user, 0, &header, sizeof header) || header.e_phnum > LLMC_SEAL_MAX_SEGMENTS ||
      !read(user, header.e_phoff, segments, header.e_phnum * sizeof segments[0]))
    return LLMC_SEAL_UNREADABLE;
  uint32_t i = 0;
  while (i < header.e_phnum &&
         !(segments[i].p_type == PT_NOTE && llmc_seal_find(&segments[i], read, user, seal, place)))
    ++i;
  if (i == header.e_phnum)
    return LLMC_SEAL_MISSING;
  uint32_t loads = 0;
  for (i = 0; i < header.e_phnum; ++i) {
    const Elf64_Phdr *s = &segments[i];
    const uint64_t fields[5] = {s->p_type, s->p_flags, s->p_vaddr, s->p_filesz, s->p_memsz};
    llmc_seal_add(&state, fields, sizeof fields);
    if (s->p_type != PT_LOAD || loads++ >= seal->covered_loads)
      continue;
    /* The headers at the start of the file hold offsets; their other fields were added above. */
    const uint64_t headers = header.e_phoff + header.e_phnum * sizeof segments[0];
    const uint64_t skipped = s->p_offset ? 0 : headers < s->p_filesz ? headers : s->p_filesz;
    if (!llmc_seal_add_file(&state, read, user, s->p_offset + skipped, s->p_offset + s->p_filesz,
                            *place))
      return LLMC_SEAL_UNREADABLE;
  }
  *hash = state.words;
  for (i = 0; i < 4; ++i)
    *hash = llmc_seal_mix(*hash, state.lanes[i]);
  return LLMC_SEAL_FOUND;
}

#endif /* LLMC_SEAL_H */
