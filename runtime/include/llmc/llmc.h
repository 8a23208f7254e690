/* SPDX-License-Identifier: Apache-2.0
 *
 * What an application calls to run compiled models: context > model > session > sequence. Plain C.
 *
 * Rules that hold everywhere:
 *
 * Every call gives a status; nothing throws, aborts or exits. Where an `llmc_error *` may be given
 * (NULL: not wanted), it holds one line for people after a failure and is untouched after success.
 *
 * Every struct starts with its own size, set by the caller: `llmc_error error = {.struct_size =
 * sizeof error};`. Fields left at zero mean the default. A larger size than this library knows is
 * accepted, its extra fields are ignored.
 *
 * Contexts and models may be used by any number of threads at once. A session and its sequences are
 * used by one thread at a time (a second gets LLMC_BUSY), but for llmc_session_cancel. Sessions of
 * one model run at the same time.
 *
 * Objects keep what they stand on alive: a context that is destroyed before its models goes when
 * the last of them goes.
 *
 * All memory comes from the context's allocator (the dynamic loader's own apart). No step allocates.
 */
#ifndef LLMC_LLMC_H
#define LLMC_LLMC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LLMC_API __attribute__((visibility("default")))
#else
#define LLMC_API
#endif

/* ---- Status ---- */

typedef enum llmc_status {
  LLMC_OK = 0,
  LLMC_INVALID_ARGUMENT = 1, /* the call cannot be right: a token outside the vocabulary, a NULL */
  LLMC_OUT_OF_MEMORY = 2,   /* the allocator gave nothing */
  LLMC_NOT_FOUND = 3,       /* a file is missing or cannot be read */
  LLMC_BAD_ARTIFACT = 4,    /* damaged, cut short, or not a compiled model */
  LLMC_BAD_VERSION = 5,     /* made by a compiler that this library is too old or too new for */
  LLMC_UNSUPPORTED_CPU = 6, /* the processor lacks features that the model was compiled for */
  LLMC_SESSION_FULL = 7,    /* no room for more: release, truncate, or make a larger session */
  LLMC_CANCELLED = 8,       /* llmc_session_cancel was called */
  LLMC_BUSY = 9,            /* another thread is inside this session */
  LLMC_SYSTEM_ERROR = 10,   /* the operating system refused something, for example a thread */
  LLMC_TOO_SMALL = 11,      /* the caller's buffer; the call says what it must hold */
  LLMC_NO_TOKENIZER = 12    /* the model was compiled from a source without one */
} llmc_status;

/* A constant string, "session full"; never NULL. */
LLMC_API const char *llmc_status_name(llmc_status status);

#define LLMC_ERROR_BYTES 504

/* Owned by the caller, filled by a call that fails. */
typedef struct llmc_error {
  uint32_t struct_size;
  llmc_status status;
  char message[LLMC_ERROR_BYTES]; /* "place: error: found ..., expected ..., what to do",
                                     NUL-terminated, one line */
} llmc_error;

/* ---- Context ---- */

typedef struct llmc_context llmc_context;
typedef struct llmc_model llmc_model;
typedef struct llmc_session llmc_session;
typedef struct llmc_sequence llmc_sequence;

/* Memory from the host. `allocate` returns NULL when it has none; `alignment` is a power of two.
 * `release` gets back what allocate was asked for. Called from any thread that makes or destroys
 * objects, and, with a host pool, from a late task. */
typedef struct llmc_allocator {
  uint32_t struct_size;
  uint32_t reserved;
  void *user;
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *memory, size_t bytes, size_t alignment);
} llmc_allocator;

/* Threads from the host. `submit` hands over a task that should be run once, by any thread, when it
 * suits: at once inside submit, one after the other, or long after the step is over; a step never
 * waits for a task that has not begun. A task handed over and never run keeps a small block of
 * memory. The allocator must work until the last task has returned. */
typedef struct llmc_pool {
  uint32_t struct_size;
  uint32_t reserved;
  void *user;
  /* Tasks that may run beside the caller, 0 or more; asked when a session is made. */
  uint32_t (*workers)(void *user);
  void (*submit)(void *user, void (*task)(void *argument), void *argument);
} llmc_pool;

typedef enum llmc_log_level { LLMC_LOG_INFO = 0, LLMC_LOG_WARNING = 1 } llmc_log_level;

typedef struct llmc_log {
  uint32_t struct_size;
  uint32_t reserved;
  void *user;
  /* `message` is borrowed for the call. */
  void (*write)(void *user, llmc_log_level level, const char *message);
} llmc_log;

typedef struct llmc_context_options {
  uint32_t struct_size;
  uint32_t threads;           /* of a step, the caller's included; 0: as many as processors */
  uint32_t spin_microseconds; /* how long an idle thread of ours spins before it sleeps; 0: 100 */
  uint32_t reserved;
  const llmc_allocator *allocator; /* copied; NULL: malloc */
  const llmc_pool *pool;           /* copied; NULL: our own threads */
  const llmc_log *log;             /* copied; NULL: silent */
} llmc_context_options;

/* `options` may be NULL. On success *context is owned by the caller, who destroys it. */
LLMC_API llmc_status llmc_context_create(const llmc_context_options *options,
                                         llmc_context **context, llmc_error *error);
/* NULL is fine, here and in each destroy below. */
LLMC_API void llmc_context_destroy(llmc_context *context);

/* ---- Model ---- */

struct llmc_artifact;
typedef const struct llmc_artifact *(*llmc_model_query)(uint32_t abi_version);

typedef enum llmc_weights_place {
  LLMC_WEIGHTS_MAP = 0, /* read where the file is mapped: opens at once, shared by processes */
  LLMC_WEIGHTS_COPY = 1 /* copied into memory of the allocator, in huge pages where the system has
                           them: as much memory, and a moment to read */
} llmc_weights_place;

typedef struct llmc_model_options {
  uint32_t struct_size;
  uint32_t weights;         /* llmc_weights_place */
  const char *name;         /* what --name said when the model was compiled; NULL: nothing */
  const char *weights_path; /* the file of --weights=separate; NULL: beside the model */
} llmc_model_options;

/* Opens a compiled model. The file is checked before it is mapped, its tables after; weights are
 * mapped, not read, but for LLMC_WEIGHTS_COPY. */
LLMC_API llmc_status llmc_model_open(llmc_context *context, const char *path,
                                     const llmc_model_options *options, llmc_model **model,
                                     llmc_error *error);
/* A model that is linked into the program: `query` is its exported function, `llmc_query` or
 * `<name>_llmc_query`. */
LLMC_API llmc_status llmc_model_from_artifact(llmc_context *context, llmc_model_query query,
                                              const llmc_model_options *options, llmc_model **model,
                                              llmc_error *error);
LLMC_API void llmc_model_destroy(llmc_model *model);

/* All pointers are borrowed from the model. */
typedef struct llmc_model_info {
  uint32_t struct_size;
  uint32_t vocabulary;
  uint32_t hidden;
  uint32_t layers;
  uint32_t max_positions; /* longest sequence in tokens */
  uint32_t max_sequences; /* most sequences of a session */
  uint32_t n_eos;
  uint32_t reserved;
  const int32_t *eos;   /* token ids that end a text */
  const char *name;     /* as compiled, may be "" */
  const char *level;    /* instruction set in use, "x86-64-v3" */
  const char *cpu;      /* the processor that it was tuned for */
  const char *manifest; /* JSON for people, manifest_bytes long */
  uint64_t manifest_bytes;
  uint64_t weights_bytes;
  uint64_t token_bytes; /* KV bytes of a token, rounded up */
} llmc_model_info;

LLMC_API llmc_status llmc_model_get_info(const llmc_model *model, llmc_model_info *info,
                                         llmc_error *error);

/* ---- Session ---- */

typedef struct llmc_session_options {
  uint32_t struct_size;
  uint32_t max_tokens;    /* tokens held by all sequences together; 0: the model's max_positions */
  uint32_t max_sequences; /* 0: 1 */
  uint32_t max_rows;      /* tokens of a step; 0: 256, or max_tokens if that is less */
  uint32_t max_outputs;   /* rows of logits of a step, raised to max_sequences if less */
  uint32_t page_chunks;   /* KV chunks (64 tokens) in a page; 0: 4 */
} llmc_session_options;

/* The exact number of bytes that llmc_session_create will ask the allocator for. */
LLMC_API llmc_status llmc_session_bytes(const llmc_model *model,
                                        const llmc_session_options *options, uint64_t *bytes,
                                        llmc_error *error);
LLMC_API llmc_status llmc_session_create(llmc_model *model, const llmc_session_options *options,
                                         llmc_session **session, llmc_error *error);
/* Its sequences go with it. Helpers that a host pool has not run yet are harmless afterwards. */
LLMC_API void llmc_session_destroy(llmc_session *session);

/* Ends the step that is running with LLMC_CANCELLED, or the next one if none is; exactly one step
 * for a call, or for several calls before that step returns. From any thread, and from a signal
 * handler. */
LLMC_API void llmc_session_cancel(llmc_session *session);

/* A sequence is borrowed from its session: it is gone after release, and when the session is
 * destroyed. */
LLMC_API llmc_status llmc_sequence_create(llmc_session *session, llmc_sequence **sequence,
                                          llmc_error *error);
LLMC_API llmc_status llmc_sequence_release(llmc_sequence *sequence, llmc_error *error);
LLMC_API uint32_t llmc_sequence_length(const llmc_sequence *sequence); /* in tokens */
/* Forgets the tokens from `length` on; a length beyond the sequence's is an error. */
LLMC_API llmc_status llmc_sequence_truncate(llmc_sequence *sequence, uint32_t length,
                                            llmc_error *error);

/* ---- Step ---- */

typedef enum llmc_outputs {
  LLMC_OUTPUTS_LAST = 0, /* logits of the last of these tokens */
  LLMC_OUTPUTS_NONE = 1,
  LLMC_OUTPUTS_ALL = 2,
  LLMC_OUTPUTS_MARKED = 3 /* those whose byte in `marks` is not 0 */
} llmc_outputs;

/* New tokens of one sequence; appended to it when the step succeeds. All pointers are borrowed for
 * the call. */
typedef struct llmc_rows {
  uint32_t struct_size;
  uint32_t n_tokens;
  llmc_sequence *sequence; /* each sequence at most once in a step */
  const int32_t *tokens;   /* [n_tokens] */
  uint32_t outputs;        /* llmc_outputs */
  uint32_t reserved;
  const uint8_t *marks;    /* [n_tokens], for LLMC_OUTPUTS_MARKED */
} llmc_rows;

typedef enum llmc_step_graph {
  /* One token a sequence: decode; 2 to 8 tokens each: verify; else prefill. Same bits from each. */
  LLMC_STEP_AUTO = 0,
  LLMC_STEP_PREFILL = 1,
  LLMC_STEP_DECODE = 2,
  LLMC_STEP_VERIFY = 3
} llmc_step_graph;

typedef struct llmc_step_options {
  uint32_t struct_size;
  uint32_t graph; /* llmc_step_graph */
} llmc_step_options;

/* All pointers are borrowed from the session until its next step. */
typedef struct llmc_step_result {
  uint32_t struct_size;
  uint32_t graph;      /* llmc_step_graph that ran */
  uint32_t n_outputs;
  uint32_t vocabulary;
  const float *logits; /* [n_outputs, vocabulary], in the order of the rows given */
  uint32_t n_sequences;
  uint32_t reserved;
  const int32_t *output_starts; /* [n_sequences + 1]: first logits row of each llmc_rows */
  /* Verify: [n_sequences, 2], drafted tokens that greedy decoding would have given, and the token
   * after them (-1 where no output was asked for); else NULL. Truncate to drop the rest. */
  const int32_t *accepted;
} llmc_step_result;

/* Runs the rows of `n_entries` sequences together. `rows[0].struct_size` is the stride of the
 * array. `options` and `result` may be NULL. All or nothing: after any failure every sequence is as
 * long as before. */
LLMC_API llmc_status llmc_session_step(llmc_session *session, const llmc_rows *rows,
                                       uint32_t n_entries, const llmc_step_options *options,
                                       llmc_step_result *result, llmc_error *error);

/* Appends any number of tokens to one sequence, in steps of max_rows; logits of the last token. All
 * or nothing as well. */
LLMC_API llmc_status llmc_prefill(llmc_session *session, llmc_sequence *sequence,
                                  const int32_t *tokens, uint32_t n_tokens,
                                  llmc_step_result *result, llmc_error *error);

/* The greedy pick: index of the largest value, the lowest index among equals; NaN never wins. -1 if
 * there is no number. */
LLMC_API int32_t llmc_argmax(const float *logits, uint32_t count);

#ifdef __cplusplus
}
#endif

#include "llmc/text.h" /* text in and out: the model's tokenizer */

#endif /* LLMC_LLMC_H */
