/* SPDX-License-Identifier: Apache-2.0
 *
 * What a compiled model exports. Written by the compiler (passes/codegen), read by the executor that is linked into every
 * artefact and by the engine (libllmc); applications use llmc.h instead. Plain C, no dependency, native byte order.
 *
 * One function is exported: `const llmc_artifact *<name>_llmc_query(uint32_t abi_version)`, or `llmc_query` when the model
 * was compiled without --name. It returns NULL when it cannot speak `abi_version`. Everything else hangs on the struct that
 * it returns: constant, shared by all threads, alive as long as the artefact is mapped.
 */
#ifndef LLMC_ABI_H
#define LLMC_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LLMC_ABI_VERSION 1u
#define LLMC_QUERY_SYMBOL "llmc_query"

/* Keys and values are reduced in chunks of this many logical positions, always (DESIGN section 8). */
#define LLMC_KV_CHUNK_TOKENS 64u
#define LLMC_WEIGHT_ALIGNMENT 64u
#define LLMC_MAX_OPERANDS 24u

/* A separate weights file: the 64-bit weights_hash, the 64-bit weights_bytes, zeros up to this size, then the weights. */
#define LLMC_WEIGHTS_FILE_HEADER 64u

/* ---- The step descriptor -------------------------------------------------------------------------------------------- */

typedef enum llmc_mask_kind {
  LLMC_MASK_CAUSAL = 0 /* a row sees the logical positions up to and including its own */
} llmc_mask_kind;

/* Rows of several sequences, mixed freely. Plain arrays, so a device can read it. All arrays are borrowed for the step.
 * A row's `position` is what rope and masks use; its `slot` is where its keys and values go: index into the pages of its
 * sequence, counted in tokens. Logical position of slot j of a sequence = sequence_base + j. */
typedef struct llmc_step {
  uint32_t struct_size;
  uint32_t mask_kind;           /* llmc_mask_kind */
  uint32_t n_rows;              /* new tokens, >= 1 */
  uint32_t n_sequences;         /* sequences taking part, >= 1 */
  uint32_t n_outputs;           /* rows whose logits are wanted, may be 0 */
  uint32_t page_chunks;         /* KV chunks in a page, >= 1 */
  uint32_t adapter;             /* 0: none */
  uint32_t reserved;
  const int32_t *tokens;        /* [n_rows] or NULL when embeddings are given */
  const float *embeddings;      /* [n_rows, hidden] or NULL */
  const int32_t *positions;     /* [n_rows] */
  const int32_t *slots;         /* [n_rows] */
  const int32_t *row_sequence;  /* [n_rows], index into the sequence arrays */
  const int32_t *output_rows;   /* [n_outputs], ascending row numbers */
  const int32_t *sequence_row;  /* [n_sequences + 1], first output (index into output_rows) of each sequence; may be empty */
  const int32_t *sequence_base; /* [n_sequences], logical position of slot 0, a multiple of the chunk */
  const int32_t *sequence_page; /* [n_sequences], index into `pages` of the first page of each sequence */
  const uint32_t *pages;        /* page numbers */
} llmc_step;

/* ---- Memory that a session lends to the executor --------------------------------------------------------------------- */

typedef struct llmc_memory {
  uint32_t struct_size;
  uint32_t max_rows;    /* rows that rows_arena was sized for */
  uint32_t max_outputs; /* rows that outputs_arena was sized for */
  uint32_t n_pages;     /* pages in kv */
  void *rows_arena;     /* artifact.rows_arena_bytes * max_rows, 64-byte aligned */
  void *outputs_arena;  /* artifact.outputs_arena_bytes * max_outputs, 64-byte aligned */
  void *kv;             /* pages; page p starts at kv + p * page_chunks * artifact.chunk_bytes */
  const void *weights;  /* NULL: those inside the artefact */
} llmc_memory;

/* ---- Tables: a graph is data ------------------------------------------------------------------------------------------ */

/* A kernel runs programs [begin, end) of a command. `table` holds the resolved address of every operand of the graph,
 * `slots` the operands of this command in the order of the kernel's parameters. */
typedef void (*llmc_kernel_fn)(void *const *table, const uint16_t *slots, const llmc_step *step, uint32_t begin, uint32_t end);

typedef enum llmc_operand_kind {
  LLMC_OPERAND_ROWS = 0,    /* rows_arena + offset * max_rows: an activation with one line per row */
  LLMC_OPERAND_OUTPUTS = 1, /* outputs_arena + offset * max_outputs */
  LLMC_OPERAND_WEIGHT = 2,  /* weights + offset; index: weight */
  LLMC_OPERAND_KV = 3       /* kv + offset: one cache inside the first chunk; index: cache */
} llmc_operand_kind;

typedef struct llmc_operand {
  uint32_t kind;  /* llmc_operand_kind */
  uint32_t index; /* weight or cache number, else 0 */
  uint64_t offset;
  uint64_t line_bytes; /* bytes of one row or output; of the whole for weights; of one chunk for KV */
} llmc_operand;

typedef enum llmc_extent {
  LLMC_EXTENT_ONE = 0,
  LLMC_EXTENT_ROWS = 1,
  LLMC_EXTENT_OUTPUTS = 2,
  LLMC_EXTENT_SEQUENCES = 3
} llmc_extent;

/* programs = extent(step) * inner; a chunk is `programs_per_chunk` of them, claimed by one thread. */
typedef struct llmc_command {
  uint32_t kernel;
  uint32_t first_slot; /* into graph.slots */
  uint16_t n_slots;
  uint16_t extent;     /* llmc_extent */
  uint32_t inner;
  uint32_t programs_per_chunk;
  int32_t dependency;  /* every command up to and including this one must be complete first; -1: none */
  uint32_t name;       /* offset into graph.names, for people: "layers.3.qkv" */
} llmc_command;

typedef enum llmc_graph_kind { LLMC_GRAPH_PREFILL = 0, LLMC_GRAPH_DECODE = 1, LLMC_GRAPH_VERIFY = 2 } llmc_graph_kind;

typedef enum llmc_result_kind {
  LLMC_RESULT_LOGITS = 0,   /* f32 [n_outputs, vocabulary] */
  LLMC_RESULT_ACCEPTED = 1  /* i32 [n_sequences, 2]: drafted tokens accepted, next token (-1 without an output); outputs
                               arena, so n_sequences <= max_outputs where a graph has this result */
} llmc_result_kind;

typedef struct llmc_result {
  uint32_t kind;
  uint32_t operand;
} llmc_result;

typedef struct llmc_graph {
  uint32_t kind; /* llmc_graph_kind */
  uint32_t n_commands;
  uint32_t n_operands;
  uint32_t n_slots;
  uint32_t n_results;
  uint32_t names_bytes;
  const llmc_command *commands;
  const llmc_operand *operands;
  const uint16_t *slots;
  const llmc_result *results;
  const char *names; /* NUL-terminated strings */
} llmc_graph;

typedef enum llmc_element { LLMC_F32 = 0, LLMC_F16 = 1, LLMC_BF16 = 2, LLMC_I8 = 3, LLMC_I4 = 4, LLMC_I32 = 5 } llmc_element;

/* A cache owned by one layer (or shared by several: layers refer to it by operand). */
typedef struct llmc_cache {
  const char *name;
  uint32_t element;     /* llmc_element; LLMC_I8: codes, an f32 scale for each head's keys and each head's values of a token */
  uint32_t kv_heads;
  uint32_t key_width;   /* elements a head */
  uint32_t value_width;
  uint32_t token_major; /* 1: [token][head][width], 0: values [head][token][width], keys [head][width][token] */
  uint32_t reserved;
  uint64_t offset;      /* inside a chunk block */
  uint64_t key_bytes;   /* keys come first, values after them; the scales of codes, [head][token], behind these: in both sizes */
  uint64_t value_bytes;
} llmc_cache;

typedef struct llmc_weight {
  const char *name;   /* canonical: "layers.3.q" or several joined by '+' */
  const char *format; /* packed layout in words: "panel32<f32>" */
  uint64_t offset;    /* from the start of the weights */
  uint64_t bytes;
  uint64_t rows;
  uint64_t columns;
  uint64_t hash;      /* XXH64-style 64-bit hash of the packed bytes, checked by inspect --verify */
} llmc_weight;

/* Bits of llmc_level.features; what a kernel set needs of the processor. */
#define LLMC_CPU_AVX2 (1u << 0)
#define LLMC_CPU_FMA (1u << 1)
#define LLMC_CPU_F16C (1u << 2)
#define LLMC_CPU_BMI2 (1u << 3)
#define LLMC_CPU_AVX512F (1u << 4)
#define LLMC_CPU_AVX512BW (1u << 5)
#define LLMC_CPU_AVX512DQ (1u << 6)
#define LLMC_CPU_AVX512VL (1u << 7)
#define LLMC_CPU_AVX512CD (1u << 8)
#define LLMC_CPU_AVX512VNNI (1u << 9)
#define LLMC_CPU_AVX512BF16 (1u << 10)

/* One compiled set of all kernels. Several may share an artefact, least demanding first; the last that the processor has is
 * used. */
typedef struct llmc_level {
  const char *name;     /* "x86-64-v3" */
  const char *cpu;      /* the processor it was tuned for, "znver4" */
  uint64_t features;    /* LLMC_CPU_* that must be there */
  const llmc_kernel_fn *kernels; /* [n_kernels] */
} llmc_level;

typedef struct llmc_limits {
  uint32_t hidden;
  uint32_t vocabulary;
  uint32_t layers;
  uint32_t max_positions; /* longest sequence, from --max-seq */
  uint32_t max_sequences; /* from --max-batch */
  uint32_t n_eos;
  const int32_t *eos;
} llmc_limits;

/* ---- Running a step --------------------------------------------------------------------------------------------------- */

typedef enum llmc_run_status {
  LLMC_RUN_OK = 0,
  LLMC_RUN_CANCELLED = 1,
  LLMC_RUN_BAD_ARGUMENT = 2
} llmc_run_status;

/* Times of one command, in ticks of the clock that was given; 0 where the command did not run. */
typedef struct llmc_command_time {
  uint64_t begin;
  uint64_t end;
} llmc_command_time;

typedef struct llmc_run_options {
  uint32_t struct_size;
  uint32_t graph;          /* index into artifact.graphs */
  uint32_t level;          /* index into artifact.levels */
  uint32_t first_command;
  uint32_t end_command;    /* one past the last; UINT32_MAX: all */
  /* Threads that are expected: each command's chunks are dealt out to as many, and whoever has done its own takes those of
   * others. 0: unknown, more may come all the same. 1: run_work is called once, by one thread, which shares nothing. */
  uint32_t threads;
  uint64_t (*clock)(void); /* NULL: no times */
  llmc_command_time *times;/* [n_commands] or NULL */
  /* NULL, or raised to the most time (ticks of the processor's time stamp counter) that a thread waited because threads
   * had lost their core: to each other, or to other processes. Written atomically. */
  uint64_t *late;
} llmc_run_options;

/* ---- The root --------------------------------------------------------------------------------------------------------- */

struct llmc_artifact;
typedef struct llmc_artifact llmc_artifact;

/* The workspace of a step: `run_bytes` bytes, 64-byte aligned, owned by the caller, reused from step to step. */
typedef struct llmc_run llmc_run;

struct llmc_artifact {
  uint32_t abi_version;
  uint32_t struct_size;
  const char *name;
  const char *manifest; /* JSON, for people */
  uint64_t manifest_bytes;
  llmc_limits limits;

  uint32_t n_graphs;
  uint32_t n_kernels;
  uint32_t n_levels;
  uint32_t n_caches;
  uint32_t n_weights;
  uint32_t reserved;
  const llmc_graph *graphs;
  const char *const *kernel_names;
  const llmc_level *levels;
  const llmc_cache *caches;
  const llmc_weight *weights;

  uint64_t rows_arena_bytes;    /* for each row of max_rows */
  uint64_t outputs_arena_bytes; /* for each row of max_outputs */
  uint64_t chunk_bytes;         /* all caches, for LLMC_KV_CHUNK_TOKENS tokens of one sequence */

  int64_t weights_delta;        /* address of the weights minus address of this field; 0: they lie in a separate file */
  uint64_t weights_bytes;
  uint64_t weights_hash;        /* hash of all packed bytes; a separate file (LLMC_WEIGHTS_FILE_HEADER) starts with it */
  const char *weights_file;     /* name of the separate file beside the artefact, else NULL */

  const void *tokenizer;        /* tables as tokenizer_abi.h has them, 8-byte aligned; NULL: the model has none */
  uint64_t tokenizer_bytes;

  /* The processor's LLMC_CPU_* bits, as far as the operating system saves their registers. */
  uint64_t (*cpu_features)(void);
  uint64_t (*run_bytes)(const llmc_artifact *, uint32_t graph);
  /* Prepares a run. Checks the arguments against the tables, touches no activation. */
  uint32_t (*run_begin)(const llmc_artifact *, const llmc_memory *, const llmc_step *, const llmc_run_options *, llmc_run *);
  /* Works on the run until it is finished or cancelled. Any number of threads may call it, at any time after run_begin;
   * one alone finishes the step. Returns llmc_run_status. The workspace must stay until the last call has returned. */
  uint32_t (*run_work)(llmc_run *);
  /* Asks for an early end; bounded by the chunks being worked on. */
  void (*run_cancel)(llmc_run *);
  /* Like run_work for a thread that helps another in it: returns as soon as nothing is left to claim, and earlier when
   * too much time is lost in that way. Artefacts from before it end above (struct_size). */
  void (*run_help)(llmc_run *);
};

typedef const llmc_artifact *(*llmc_query_fn)(uint32_t abi_version);

#ifdef __cplusplus
}
#endif
#endif /* LLMC_ABI_H */
