/* SPDX-License-Identifier: Apache-2.0
 *
 * Text in and out: a compiled model's tokenizer. Part of llmc.h, which includes it; the rules that
 * stand there hold here. All calls are for any number of threads at once, but a llmc_decoder is
 * used by one at a time.
 *
 * A model compiled from a source without a tokenizer has none: then each call that needs one gives
 * LLMC_NO_TOKENIZER.
 */
#ifndef LLMC_TEXT_H
#define LLMC_TEXT_H

#include "llmc/llmc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All pointers are borrowed from the model. */
typedef struct llmc_tokenizer_info {
  uint32_t struct_size;
  uint32_t n_tokens; /* may be fewer than the model's vocabulary, which is often padded */
  int32_t bos;       /* token ids; -1: there is none */
  int32_t eos;       /* of texts; the ids that end an answer are those of llmc_model_info */
  int32_t unk;
  int32_t pad;
  uint32_t n_prefix;   /* tokens that LLMC_ENCODE_ADD_SPECIAL puts before a text */
  uint32_t n_suffix;   /* and after it */
  const char *kind;    /* "byte-level" or "characters" */
  uint32_t n_templates; /* of llmc_chat_template */
  uint32_t reserved;
} llmc_tokenizer_info;

LLMC_API llmc_status llmc_model_get_tokenizer_info(const llmc_model *model,
                                                   llmc_tokenizer_info *info, llmc_error *error);

/* ---- Text to tokens ---- */

/* What is put before and after a text as the model was trained (mostly BOS before it, or nothing).
 */
#define LLMC_ENCODE_ADD_SPECIAL 1u
/* Special tokens written out in the text ("<|im_end|>") are read as such. Without it they are text
 * like any other: the right choice for text by strangers. */
#define LLMC_ENCODE_PARSE_SPECIAL 2u

/* Writes the tokens of `text` (UTF-8, `bytes` long, NULs allowed; what is no UTF-8 is read as
 * U+FFFD) to `tokens`, which has room for `capacity`. *n_tokens (not NULL) is how many there are.
 * LLMC_TOO_SMALL when they are more than `capacity`: the first ones are written. No text has more
 * tokens than bytes plus 2 of each kind of special ones, but for normalisers that make text longer.
 */
LLMC_API llmc_status llmc_encode(const llmc_model *model, const char *text, size_t bytes,
                                 uint32_t flags, int32_t *tokens, size_t capacity,
                                 size_t *n_tokens, llmc_error *error);

/* ---- Tokens to text ---- */

/* Special tokens give no text. */
#define LLMC_DECODE_SKIP_SPECIAL 1u

/* Writes the text of `tokens` to `text`, without a NUL. *bytes (not NULL) is how long it is.
 * LLMC_TOO_SMALL when that is more than `capacity`: the first bytes are written. The text is UTF-8,
 * with U+FFFD for bytes that are not. Ids of the model's vocabulary without a token give nothing,
 * ids outside it are an error. */
LLMC_API llmc_status llmc_decode(const llmc_model *model, const int32_t *tokens, size_t n_tokens,
                                 uint32_t flags, char *text, size_t capacity, size_t *bytes,
                                 llmc_error *error);

/* The bytes that one token stands for, which need not be whole characters; borrowed from the model.
 */
LLMC_API llmc_status llmc_token_bytes(const llmc_model *model, int32_t token, const char **bytes,
                                      size_t *count, llmc_error *error);

/* 1 for a special token, else 0. */
LLMC_API int llmc_token_is_special(const llmc_model *model, int32_t token);

/* Decodes token by token; what it gives is always whole characters. */
typedef struct llmc_decoder llmc_decoder;

LLMC_API llmc_status llmc_decoder_create(llmc_model *model, uint32_t flags, llmc_decoder **decoder,
                                         llmc_error *error);
LLMC_API void llmc_decoder_destroy(llmc_decoder *decoder);
/* The text that `token` completes, perhaps none; borrowed until the next call. Does not allocate.
 * All texts joined, and the last one of llmc_decoder_finish, are what llmc_decode gives, with one
 * exception: where a tokenizer of characters spells out bytes (<0xNN>) that are no UTF-8 as a
 * whole, whole characters among them have been given already. */
LLMC_API llmc_status llmc_decoder_add(llmc_decoder *decoder, int32_t token, const char **text,
                                      size_t *bytes, llmc_error *error);
/* What is left at the end: U+FFFD for an unfinished character. The decoder is as new afterwards. */
LLMC_API void llmc_decoder_finish(llmc_decoder *decoder, const char **text, size_t *bytes);

/* ---- Chat templates ---- */

/* The text of the template named `name` (NULL: "default"), as the model's source has it; borrowed
 * from the model. LLMC_NOT_FOUND when there is none of that name. */
LLMC_API llmc_status llmc_chat_template(const llmc_model *model, const char *name,
                                        const char **text, size_t *bytes, llmc_error *error);

#ifdef __cplusplus
}
#endif
#endif /* LLMC_TEXT_H */
