/* SPDX-License-Identifier: Apache-2.0
 *
 * The tokenizer's tables as they lie in an artefact: one read-only block of bytes that can be
 * mapped anywhere. It starts with a llmc_tokenizer_header; every `offset` counts from the block's
 * start. Written by the compiler (passes/codegen/tokenizer), read by runtime/text,
 * which checks all of it when a model is opened. Native byte order, plain C.
 */
#ifndef LLMC_TOKENIZER_ABI_H
#define LLMC_TOKENIZER_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LLMC_TOKENIZER_MAGIC "llmctok"
#define LLMC_TOKENIZER_VERSION 1u
#define LLMC_TOKENIZER_ALIGNMENT 8u
#define LLMC_TOKENIZER_NONE UINT32_MAX /* an empty slot of a hash table; no token */

/* `count` elements of the type that the header names, `offset` a multiple of their alignment. */
typedef struct llmc_tokenizer_span {
  uint64_t offset;
  uint64_t count;
} llmc_tokenizer_span;

/* Bytes of the header's `strings`. */
typedef struct llmc_tokenizer_string {
  uint32_t begin;
  uint32_t bytes;
} llmc_tokenizer_string;

typedef enum llmc_tokenizer_kind {
  LLMC_TOKENIZER_BYTES = 0,     /* a word's first symbols are its bytes */
  LLMC_TOKENIZER_CHARACTERS = 1 /* its characters */
} llmc_tokenizer_kind;

/* Bits of llmc_tokenizer_header.flags. */
#define LLMC_TOKENIZER_IGNORE_MERGES (1u << 0) /* a word that is a token is that token */
#define LLMC_TOKENIZER_BYTE_FALLBACK (1u << 1) /* unknown characters become their bytes' tokens */
#define LLMC_TOKENIZER_FUSE_UNKNOWN (1u << 2)  /* neighbouring unknowns are one token */
#define LLMC_TOKENIZER_JOIN_SPACES (1u << 3)   /* decoding puts a space between tokens */
#define LLMC_TOKENIZER_BYTE_RUNS (1u << 4)     /* decoding reads runs of byte tokens together */
#define LLMC_TOKENIZER_STRIP_MARK (1u << 5)    /* the first decoded token loses its `mark`s */
#define LLMC_TOKENIZER_CUT_AT_MARK (1u << 6)   /* no merge crosses from another symbol to a `mark` */

/* Bits of a token's byte in `token_flags`. */
#define LLMC_TOKEN_SPECIAL (1u << 0)  /* left out of text that is for people */
#define LLMC_TOKEN_IN_MODEL (1u << 1) /* found by its bytes; else only added tokens give it */
#define LLMC_TOKEN_WHOLE (1u << 2)    /* its bytes as a word give this token alone */
#define LLMC_TOKEN_BYTE (1u << 3)     /* one of a run of bytes when decoding */

/* One slot; `left` is LLMC_TOKENIZER_NONE in an empty one. */
typedef struct llmc_tokenizer_merge {
  uint32_t left;
  uint32_t right;
  uint32_t rank; /* the lowest merges first */
  uint32_t result;
} llmc_tokenizer_merge;

/* Bits of llmc_tokenizer_added.flags. */
#define LLMC_ADDED_SPECIAL (1u << 0)
#define LLMC_ADDED_LSTRIP (1u << 1)
#define LLMC_ADDED_RSTRIP (1u << 2)
#define LLMC_ADDED_SINGLE_WORD (1u << 3)

typedef struct llmc_tokenizer_added {
  uint32_t token;
  uint32_t flags;
} llmc_tokenizer_added;

/* A trie over bytes: node 0 is the root, a child's number is higher than its parent's. */
typedef struct llmc_tokenizer_node {
  uint32_t first_edge;
  uint32_t n_edges; /* ascending bytes */
  uint32_t added;   /* index of the added token that ends here, or LLMC_TOKENIZER_NONE */
} llmc_tokenizer_node;

typedef struct llmc_tokenizer_edge {
  uint32_t byte;
  uint32_t child;
} llmc_tokenizer_edge;

typedef struct llmc_tokenizer_trie {
  llmc_tokenizer_span nodes; /* llmc_tokenizer_node; none: nothing is found */
  llmc_tokenizer_span edges; /* llmc_tokenizer_edge */
} llmc_tokenizer_trie;

typedef enum llmc_tokenizer_step_kind {
  /* Normalisers. */
  LLMC_TEXT_NFC = 0,
  LLMC_TEXT_NFD = 1,
  LLMC_TEXT_NFKC = 2,
  LLMC_TEXT_NFKD = 3,
  LLMC_TEXT_PREPEND = 4, /* `text` */
  LLMC_TEXT_REPLACE = 5, /* `pattern` by `text` */
  LLMC_TEXT_STRIP_LEFT = 6,
  LLMC_TEXT_STRIP_RIGHT = 7,
  /* Pre-tokenizers. */
  LLMC_TEXT_SPLIT = 16,     /* at `pattern`; option: llmc_tokenizer_split */
  LLMC_TEXT_BYTES = 17,     /* GPT-2's alphabet from here on */
  LLMC_TEXT_METASPACE = 18, /* spaces become `text`; option: llmc_tokenizer_prepend */
  LLMC_TEXT_PREFIX_SPACE = 19
} llmc_tokenizer_step_kind;

typedef enum llmc_tokenizer_split {
  LLMC_SPLIT_REMOVED = 0,
  LLMC_SPLIT_ISOLATED = 1,
  LLMC_SPLIT_MERGED_WITH_PREVIOUS = 2,
  LLMC_SPLIT_MERGED_WITH_NEXT = 3,
  LLMC_SPLIT_CONTIGUOUS = 4
} llmc_tokenizer_split;

typedef enum llmc_tokenizer_prepend {
  LLMC_PREPEND_NEVER = 0,
  LLMC_PREPEND_ALWAYS = 1,
  LLMC_PREPEND_FIRST = 2
} llmc_tokenizer_prepend;

/* Bits of llmc_tokenizer_step.flags. */
#define LLMC_TEXT_REGEX (1u << 0)  /* `pattern` is PCRE2's, else plain bytes */
#define LLMC_TEXT_INVERT (1u << 1) /* Split: what lies between matches counts as match */
#define LLMC_TEXT_CUT (1u << 2)    /* Metaspace: a word begins at each mark */

typedef struct llmc_tokenizer_step {
  uint32_t kind; /* llmc_tokenizer_step_kind */
  uint32_t option;
  uint32_t flags;
  uint32_t reserved;
  llmc_tokenizer_string pattern;
  llmc_tokenizer_string text;
} llmc_tokenizer_step;

typedef struct llmc_tokenizer_template {
  llmc_tokenizer_string name; /* "default" */
  llmc_tokenizer_string text;
} llmc_tokenizer_template;

typedef struct llmc_tokenizer_header {
  char magic[8]; /* LLMC_TOKENIZER_MAGIC and its NUL */
  uint32_t version;
  uint32_t kind; /* llmc_tokenizer_kind */
  uint64_t bytes; /* of the block */
  uint32_t flags;
  uint32_t n_tokens;
  uint32_t bos; /* token ids; LLMC_TOKENIZER_NONE: there is none */
  uint32_t eos;
  uint32_t unk;
  uint32_t pad;
  uint32_t longest_text;    /* bytes of the longest token in token_text */
  uint32_t longest_decoded; /* and in decoded_text */
  llmc_tokenizer_string mark;  /* of a Metaspace decoder, or where words may be cut */
  llmc_tokenizer_string strip; /* one character that goes at the start of decoded text... */
  uint32_t strip_count;        /* ...at most so many times */
  uint32_t reserved;

  llmc_tokenizer_span token_starts;   /* uint32_t [n_tokens + 1], into token_text */
  llmc_tokenizer_span token_text;     /* char: what merges work on */
  llmc_tokenizer_span decoded_starts; /* uint32_t [n_tokens + 1], into decoded_text */
  llmc_tokenizer_span decoded_text;   /* char: what decoding gives */
  llmc_tokenizer_span token_flags;    /* uint8_t [n_tokens] */
  llmc_tokenizer_span byte_tokens;    /* uint32_t [256]: the symbol of a byte, or its fallback */
  llmc_tokenizer_span vocabulary;     /* uint32_t: hash table of tokens IN_MODEL by token_text */
  llmc_tokenizer_span merges;         /* llmc_tokenizer_merge: hash table by (left, right) */
  llmc_tokenizer_span added;          /* llmc_tokenizer_added */
  llmc_tokenizer_trie raw;            /* added tokens found in the text as it is */
  llmc_tokenizer_trie normalized;     /* those found after normalisation */
  llmc_tokenizer_span normalizer;     /* llmc_tokenizer_step */
  llmc_tokenizer_span pre_tokenizer;  /* llmc_tokenizer_step */
  llmc_tokenizer_span prefix;         /* uint32_t: tokens put before a text */
  llmc_tokenizer_span suffix;         /* uint32_t: and after it */
  llmc_tokenizer_span templates;      /* llmc_tokenizer_template */
  llmc_tokenizer_span strings;        /* char */
} llmc_tokenizer_header;

/* Where a key belongs in a hash table of `slots` slots; taken slots are passed one by one. */
static inline uint64_t llmc_tokenizer_slot(uint64_t hash, uint64_t slots) {
  __extension__ typedef unsigned __int128 wide;
  return (uint64_t)(((wide)hash * slots) >> 64);
}

static inline uint64_t llmc_tokenizer_pair_hash(uint32_t left, uint32_t right) {
  uint64_t key = ((uint64_t)left << 32 | right) + 1;
  key *= 0x9e3779b97f4a7c15ull;
  key ^= key >> 32;
  return key * 0xd6e8feb86659fd93ull;
}

static inline uint64_t llmc_tokenizer_text_hash(const char *text, uint64_t bytes) {
  uint64_t hash = bytes * 0x9e3779b97f4a7c15ull;
  while (bytes) {
    uint64_t word = 0;
    const uint64_t taken = bytes < 8 ? bytes : 8;
    __builtin_memcpy(&word, text, taken);
    hash = (hash ^ word) * 0xd6e8feb86659fd93ull;
    hash ^= hash >> 32;
    text += taken;
    bytes -= taken;
  }
  return hash * 0x9e3779b97f4a7c15ull;
}

#ifdef __cplusplus
}
#endif
#endif /* LLMC_TOKENIZER_ABI_H */
