/* SPDX-License-Identifier: Apache-2.0
 *
 * Text out of one sequence: a generator keeps its tokens, runs steps, samples, and drafts ahead where
 * the text repeats itself (prompt lookup). Drafting never changes a token: each is picked from the
 * logits that plain decoding would have seen, with the same random number.
 *
 *     llmc_generator_prompt(generator, ids, n, &error);
 *     while (!llmc_generator_next(generator, 0, &generated, &error) && !generated.stopped)
 *       ... generated.tokens ...
 *
 * Plain C; the rules at the top of llmc.h hold. A generator is part of its session: one thread at a
 * time. No call but create asks for memory.
 */
#ifndef LLMC_GENERATE_H
#define LLMC_GENERATE_H

#include "llmc/sample.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct llmc_generator llmc_generator;

#define LLMC_MOST_DRAFT_TOKENS 7u

typedef struct llmc_generator_options {
  uint32_t struct_size;
  uint32_t draft_tokens; /* most tokens drafted a step; 0: none. The session needs max_rows and
                            max_outputs of one more */
  const llmc_sampler_options *sampler; /* copied; NULL: greedy */
  uint64_t sequence_id;                /* names the text for the sampler */
  const int32_t *stop_ids;             /* copied; NULL: the model's eos */
  uint32_t n_stop_ids;
  uint32_t ignore_stop_ids;            /* 1: no id ends the text */
} llmc_generator_options;

/* `sequence` must be empty, and be used by nothing else as long as the generator lives. `options`
 * may be NULL. Destroy the generator before the session; *generator is owned by the caller. */
LLMC_API llmc_status llmc_generator_create(llmc_session *session, llmc_sequence *sequence,
                                           const llmc_generator_options *options,
                                           llmc_generator **generator, llmc_error *error);
LLMC_API void llmc_generator_destroy(llmc_generator *generator);

/* Appends tokens that are given: a prompt, or the next turn of a conversation. They are only noted;
 * the next call of llmc_generator_next runs them. All or nothing. */
LLMC_API llmc_status llmc_generator_prompt(llmc_generator *generator, const int32_t *tokens,
                                           uint32_t n_tokens, llmc_error *error);

typedef struct llmc_generated {
  uint32_t struct_size;
  uint32_t n_tokens;     /* at least 1 */
  const int32_t *tokens; /* borrowed until the generator's next call */
  uint32_t stopped;      /* 1: the last of them is a stop id */
  uint32_t n_drafted;    /* tokens that were drafted for this step */
  uint32_t n_accepted;   /* drafts that were right and are among `tokens` */
  uint32_t reserved;
} llmc_generated;

/* Runs a step, or as many as the prompt takes, and gives the next tokens: one, or with drafting up
 * to draft_tokens + 1, but at most `most` (0: no limit). They belong to the text from now on. After a
 * failure, LLMC_CANCELLED among them, nothing has changed. */
LLMC_API llmc_status llmc_generator_next(llmc_generator *generator, uint32_t most,
                                         llmc_generated *generated, llmc_error *error);

/* All tokens so far, prompts included; borrowed until the generator's next call. */
LLMC_API const int32_t *llmc_generator_tokens(const llmc_generator *generator, uint32_t *n_tokens);
/* Forgets the tokens from `n_tokens` on; more than there are is an error. */
LLMC_API llmc_status llmc_generator_truncate(llmc_generator *generator, uint32_t n_tokens,
                                             llmc_error *error);

#ifdef __cplusplus
}
#endif
#endif /* LLMC_GENERATE_H */
