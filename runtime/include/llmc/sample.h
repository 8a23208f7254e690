/* SPDX-License-Identifier: Apache-2.0
 *
 * Picking a token from a row of logits. A sampler is an ordered list of transforms, each of which
 * changes logits or drops candidates, and a draw from what is left. It remembers nothing between
 * calls: the token is a function of the logits, the tokens before it, and (seed, sequence,
 * position). So the same seed gives the same text whatever else runs beside it, in a batch or with
 * speculation, and after a sequence was truncated.
 *
 * Plain C; the rules at the top of llmc.h hold. A sampler is used by one thread at a time, for as
 * many sequences as one likes; no call but create asks for memory.
 */
#ifndef LLMC_SAMPLE_H
#define LLMC_SAMPLE_H

#include "llmc/llmc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The chain ---- */

/* l: logit, p: softmax over the candidates left so far. The formulas are those of the papers and of
 * the two libraries named in `llmc_sampler_order`; runtime/engine/README.md has the sources. A logit
 * that is not a number, or -infinity, is no candidate. Equal logits are ordered by token id. */
typedef enum llmc_transform_kind {
  /* For ids among the last `count` tokens (0: all), once each: l > 0 ? l / value : l * value. */
  LLMC_REPETITION_PENALTY = 1,
  /* l -= value * (times that the id is among the last `count` tokens; 0: all) */
  LLMC_FREQUENCY_PENALTY = 2,
  /* l -= value for ids among the last `count` tokens (0: all) */
  LLMC_PRESENCE_PENALTY = 3,
  /* l /= value; 0 keeps the largest logit alone: the greedy pick */
  LLMC_TEMPERATURE = 4,
  /* Keeps the `count` largest, >= 1. */
  LLMC_TOP_K = 5,
  /* Keeps the fewest candidates in falling order whose sum of p reaches `value`, in (0, 1]; at
   * least `count`, and at least one. */
  LLMC_TOP_P = 6,
  /* Keeps those with p >= value * largest p, value in [0, 1]; at least `count`, and at least one. */
  LLMC_MIN_P = 7
} llmc_transform_kind;

/* Top-k: all that equal the k-th are kept too, as Hugging Face does; else those of lowest id. */
#define LLMC_KEEP_TIES 1u
/* Penalties: tokens of the prompt do not count, only those after it. */
#define LLMC_NEW_TOKENS_ONLY 2u

typedef struct llmc_transform {
  uint32_t kind;  /* llmc_transform_kind */
  uint32_t count;
  float value;
  uint32_t flags;
} llmc_transform;

#define LLMC_MOST_TRANSFORMS 32u

/* Two well-known orders. */
typedef enum llmc_sampler_order {
  /* transformers: penalties, temperature, top-k (ties kept), top-p, min-p */
  LLMC_ORDER_HUGGING_FACE = 0,
  /* llama.cpp: penalties, top-k, top-p, min-p, temperature */
  LLMC_ORDER_LLAMA_CPP = 1
} llmc_sampler_order;

/* What people say on a command line; a field left at zero is off. */
typedef struct llmc_sampler_preset {
  uint32_t struct_size;
  uint32_t order;             /* llmc_sampler_order */
  float temperature;          /* 0: greedy */
  uint32_t top_k;
  float top_p;                /* 1 is off too */
  float min_p;
  float repetition_penalty;   /* 1 is off too */
  float frequency_penalty;
  float presence_penalty;
  uint32_t penalty_window;    /* latest tokens that the three look at; 0: all */
} llmc_sampler_preset;

/* Writes the chain of `preset` to `chain` and its length to *n_transforms; what is off is left out.
 * A value outside its range is an error that names it. */
LLMC_API llmc_status llmc_sampler_chain(const llmc_sampler_preset *preset,
                                        llmc_transform chain[LLMC_MOST_TRANSFORMS],
                                        uint32_t *n_transforms, llmc_error *error);

/* ---- Sampling ---- */

typedef struct llmc_sampler llmc_sampler;

/* One pick. All pointers are borrowed for the call. */
typedef struct llmc_sample_input {
  uint32_t struct_size;
  uint32_t n_tokens;    /* tokens before the one to pick */
  const float *logits;  /* [vocabulary], not changed */
  const int32_t *tokens;/* [n_tokens], for penalties and for the mask; may be NULL when n_tokens is 0 */
  uint32_t n_prompt;    /* how many of them are the prompt, at the front */
  uint32_t reserved;
  uint64_t sequence;    /* any number that names the text */
  uint64_t position;    /* of the token to pick in its text, usually n_tokens */
  /* Bit id % 32 of word id / 32: 1 where the id may be picked; [(vocabulary + 31) / 32]; NULL: all.
   * Applied before the chain. */
  const uint32_t *allowed;
} llmc_sample_input;

typedef struct llmc_sample_result {
  uint32_t struct_size;
  int32_t token;
  uint32_t n_kept;             /* candidates that the draw chose from */
  uint32_t reserved;
  const int32_t *ids;          /* [n_kept], ascending; borrowed until the sampler's next call */
  const double *probabilities; /* [n_kept], sum 1; borrowed likewise */
} llmc_sample_result;

typedef struct llmc_sampler_options {
  uint32_t struct_size;
  uint32_t n_transforms;            /* at most LLMC_MOST_TRANSFORMS; 0: draws from softmax(logits) */
  const llmc_transform *transforms; /* copied */
  uint64_t seed;
  /* Called before each pick with all bits of `allowed` set but those that the input clears; clears
   * those of ids that may not come next. Any other status than LLMC_OK ends the call with it. NULL:
   * no hook. With speculation `input` has the tokens that would be there. */
  llmc_status (*mask)(void *user, const llmc_sample_input *input, uint32_t *allowed);
  void *user;
} llmc_sampler_options;

/* `options` may be NULL: greedy. Keeps 12 to 33 bytes for each token of the vocabulary (none where the
 * chain is the greedy pick alone and there is no hook), from the context's allocator; the context may
 * be destroyed before. *sampler is owned by the caller. */
LLMC_API llmc_status llmc_sampler_create(llmc_context *context, uint32_t vocabulary,
                                         const llmc_sampler_options *options,
                                         llmc_sampler **sampler, llmc_error *error);
LLMC_API void llmc_sampler_destroy(llmc_sampler *sampler);

/* Where no candidate is left (none allowed, or no number among the logits) the call fails. */
LLMC_API llmc_status llmc_sample(llmc_sampler *sampler, const llmc_sample_input *input,
                                 llmc_sample_result *result, llmc_error *error);

/* The random number in [0, 1) of a draw: Philox4x32-10 (Salmon et al. 2011), key = seed, counter =
 * (position, sequence), 53 bits of the first two words. */
LLMC_API double llmc_uniform(uint64_t seed, uint64_t sequence, uint64_t position);

/* ---- Stop strings ---- */

/* Looks for strings in a text that arrives in pieces, and says how much of the text cannot belong to
 * one of them any more. Bytes, not characters. */
typedef struct llmc_stop llmc_stop;

typedef struct llmc_stop_result {
  uint32_t struct_size;
  int32_t found;   /* index of the string that was found, the one that begins first; -1: none */
  uint64_t safe;   /* bytes of the text since the start that may be shown; where one was found, those
                      before it */
} llmc_stop_result;

#define LLMC_MOST_STOP_STRINGS 256u
#define LLMC_LONGEST_STOP_STRING 65536u

/* `strings` are copied, each NUL-terminated and not empty. */
LLMC_API llmc_status llmc_stop_create(llmc_context *context, const char *const *strings,
                                      uint32_t n_strings, llmc_stop **stop, llmc_error *error);
LLMC_API void llmc_stop_destroy(llmc_stop *stop);
/* A new text begins. */
LLMC_API void llmc_stop_reset(llmc_stop *stop);
/* The next bytes of the text. After a string was found, further bytes change nothing. */
LLMC_API llmc_status llmc_stop_feed(llmc_stop *stop, const char *bytes, size_t n_bytes,
                                    llmc_stop_result *result, llmc_error *error);

#ifdef __cplusplus
}
#endif
#endif /* LLMC_SAMPLE_H */
