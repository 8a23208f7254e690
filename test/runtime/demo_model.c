/* SPDX-License-Identifier: Apache-2.0
 *
 * A hand-written artefact of abi.h: what the compiler would emit for a decoder of two layers, with
 * kernels in plain C. It lets executor and engine be tested without a compiler, and is the shortest
 * complete example of the ABI. Its attention weighs by a polynomial, not by exp, since artefacts
 * call no libm; keys and values are reduced in chunks of 64 and folded in order.
 *
 * Variants, by macro: DEMO_DELAY (kernels dawdle at random), DEMO_FAULT_OVERLAP and
 * DEMO_FAULT_DEPENDENCY (planted races), DEMO_QUERY, DEMO_VERSION, DEMO_ANY_VERSION, DEMO_WEAK_CPU,
 * DEMO_SEPARATE, DEMO_SEAL, DEMO_TOKENIZER (a file with the numbers of its tables).
 */
#include "llmc/seal.h"
#include "runtime/executor/Executor.h"

enum {
  HIDDEN = 16,
  VOCABULARY = 40,
  LAYERS = 2,
  MAX_POSITIONS = 1000,
  MAX_SEQUENCES = 8,
  TILE = 8
};
enum { LINE = HIDDEN * sizeof(float), CACHE_BYTES = LLMC_KV_CHUNK_TOKENS * 2 * LINE };
enum { CHUNK_BYTES = LAYERS * CACHE_BYTES };

#ifndef DEMO_QUERY
#define DEMO_QUERY llmc_query
#endif
#ifndef DEMO_VERSION
#define DEMO_VERSION LLMC_ABI_VERSION
#endif

/* ---- Kernels ---- */

#ifdef DEMO_DELAY
static void delay(void) {
  const uint64_t start = __builtin_ia32_rdtsc();
  const uint64_t ticks =
      (start * 0x9e3779b97f4a7c15u >> 50) * 4; /* up to 2^16, some tens of microseconds */
  while (__builtin_ia32_rdtsc() - start < ticks)
    __builtin_ia32_pause();
}
#else
static void delay(void) {}
#endif

static float dot(const float *left, const float *right) {
  float sum = 0;
  for (int i = 0; i < HIDDEN; ++i)
    sum += left[i] * right[i];
  return sum;
}

/* One token's keys (part 0) or values (part 1) in a cache. */
static float *cacheLine(char *cache, const llmc_step *step, int32_t sequence, int32_t slot,
                        int part) {
  const uint32_t chunk = (uint32_t)slot / LLMC_KV_CHUNK_TOKENS;
  const uint32_t page =
      step->pages[(uint32_t)step->sequence_page[sequence] + chunk / step->page_chunks];
  char *block =
      cache + ((uint64_t)page * step->page_chunks + chunk % step->page_chunks) * CHUNK_BYTES;
  return (float *)(block + part * (CACHE_BYTES / 2)) +
         (uint32_t)slot % LLMC_KV_CHUNK_TOKENS * HIDDEN;
}

/* (table, x) */
static void embed(void *const *table, const uint16_t *slots, const llmc_step *step, uint32_t begin,
                  uint32_t end) {
  const float *embedding = (const float *)table[slots[0]];
  float *x = (float *)table[slots[1]];
  delay();
  for (uint32_t row = begin; row < end; ++row)
    for (int i = 0; i < HIDDEN; ++i)
      x[row * HIDDEN + i] = embedding[step->tokens[row] * HIDDEN + i] +
                            (float)(step->positions[row] * (i + 1) % 7) * 0.125f;
}

/* (x, weight [q; k; v], q, cache); programs: rows x 3 */
static void project(void *const *table, const uint16_t *slots, const llmc_step *step,
                    uint32_t begin, uint32_t end) {
  const float *x = (const float *)table[slots[0]];
  const float *weight = (const float *)table[slots[1]];
  delay();
  for (uint32_t program = begin; program < end; ++program) {
    const uint32_t row = program / 3, part = program % 3;
    float *to = (float *)table[slots[2]] + row * HIDDEN;
    if (part)
      to = cacheLine((char *)table[slots[3]], step, step->row_sequence[row], step->slots[row],
                     (int)part - 1);
    for (int i = 0; i < HIDDEN; ++i)
      to[i] = dot(weight + (part * HIDDEN + (uint32_t)i) * HIDDEN, x + row * HIDDEN);
  }
}

/* (q, cache, o) */
static void attend(void *const *table, const uint16_t *slots, const llmc_step *step, uint32_t begin,
                   uint32_t end) {
  delay();
  for (uint32_t row = begin; row < end; ++row) {
    const float *q = (const float *)table[slots[0]] + row * HIDDEN;
    float *o = (float *)table[slots[2]] + row * HIDDEN;
    const int32_t sequence = step->row_sequence[row];
    const int32_t last = step->positions[row] - step->sequence_base[sequence];
    float sum = 0, total[HIDDEN] = {0};
    for (int32_t first = 0; first <= last; first += (int32_t)LLMC_KV_CHUNK_TOKENS) {
      float chunkSum = 0, chunk[HIDDEN] = {0};
      for (int32_t slot = first; slot <= last && slot < first + (int32_t)LLMC_KV_CHUNK_TOKENS;
           ++slot) {
        const float score = dot(q, cacheLine((char *)table[slots[1]], step, sequence, slot, 0));
        const float weight = 1.0f + score + 0.5f * score * score;
        const float *value = cacheLine((char *)table[slots[1]], step, sequence, slot, 1);
        chunkSum += weight;
        for (int i = 0; i < HIDDEN; ++i)
          chunk[i] += weight * value[i];
      }
      sum += chunkSum;
      for (int i = 0; i < HIDDEN; ++i)
        total[i] += chunk[i];
    }
    for (int i = 0; i < HIDDEN; ++i)
      o[i] = total[i] / sum;
  }
}

/* (o, weight, x): x += weight o */
static void addOutput(void *const *table, const uint16_t *slots, const llmc_step *step,
                      uint32_t begin, uint32_t end) {
  const float *weight = (const float *)table[slots[1]];
  delay();
#ifdef DEMO_FAULT_OVERLAP
  end = end < step->n_rows ? end + 1 : end;
#else
  (void)step;
#endif
  for (uint32_t row = begin; row < end; ++row) {
    const float *o = (const float *)table[slots[0]] + row * HIDDEN;
    float *x = (float *)table[slots[2]] + row * HIDDEN;
    for (int i = 0; i < HIDDEN; ++i)
      x[i] += 2.0f * dot(weight + i * HIDDEN, o);
  }
}

/* (x, weight, logits); programs: outputs x tiles of the vocabulary */
static void head(void *const *table, const uint16_t *slots, const llmc_step *step, uint32_t begin,
                 uint32_t end) {
  const uint32_t tiles = VOCABULARY / TILE;
  delay();
  for (uint32_t program = begin; program < end; ++program) {
    const uint32_t output = program / tiles, first = program % tiles * TILE;
    const float *x = (const float *)table[slots[0]] + (uint32_t)step->output_rows[output] * HIDDEN;
    const float *weight = (const float *)table[slots[1]];
    float *logits = (float *)table[slots[2]] + output * VOCABULARY;
    for (uint32_t token = first; token < first + TILE; ++token)
      logits[token] = dot(weight + token * HIDDEN, x);
  }
}

/* (logits, accepted); programs: sequences */
static void accept(void *const *table, const uint16_t *slots, const llmc_step *step, uint32_t begin,
                   uint32_t end) {
  const float *logits = (const float *)table[slots[0]];
  for (uint32_t sequence = begin; sequence < end; ++sequence) {
    int32_t *result = (int32_t *)table[slots[1]] + sequence * 2;
    const int32_t first = step->sequence_row[sequence], last = step->sequence_row[sequence + 1] - 1;
    result[0] = 0;
    result[1] = -1;
    for (int32_t output = first; output <= last; ++output) {
      int32_t best = 0;
      for (int32_t token = 1; token < VOCABULARY; ++token)
        if (logits[output * VOCABULARY + token] > logits[output * VOCABULARY + best])
          best = token;
      result[0] = output - first;
      result[1] = best;
      if (output == last || step->tokens[step->output_rows[output] + 1] != best)
        break;
    }
  }
}

enum { EMBED, PROJECT, ATTEND, ADD_OUTPUT, HEAD, ACCEPT, N_KERNELS };
static const llmc_kernel_fn kernels[N_KERNELS] = {embed, project, attend, addOutput, head, accept};
static const char *const kernelNames[N_KERNELS] = {"embed",      "project", "attend",
                                                   "add_output", "head",    "accept"};

/* ---- Weights: 3,328 numbers between -1/4 and 1/4, from a hash of their index
 * ------------------------------------------- */

#define W1(i) ((float)((int)(((unsigned)(i) * 2654435761u) >> 24) - 128) / 512.0f)
#define W4(i) W1(i), W1((i) + 1), W1((i) + 2), W1((i) + 3)
#define W16(i) W4(i), W4((i) + 4), W4((i) + 8), W4((i) + 12)
#define W64(i) W16(i), W16((i) + 16), W16((i) + 32), W16((i) + 48)
#define W256(i) W64(i), W64((i) + 64), W64((i) + 128), W64((i) + 192)
#define W1024(i) W256(i), W256((i) + 256), W256((i) + 512), W256((i) + 768)
#define WEIGHT_VALUES W1024(0), W1024(1024), W1024(2048), W256(3072)

enum {
  EMBEDDING_BYTES = VOCABULARY * LINE,
  QKV_BYTES = 3 * HIDDEN * LINE,
  OUT_BYTES = HIDDEN * LINE
};
enum {
  QKV_0 = EMBEDDING_BYTES,
  OUT_0 = QKV_0 + QKV_BYTES,
  QKV_1 = OUT_0 + OUT_BYTES,
  OUT_1 = QKV_1 + QKV_BYTES
};
enum { HEAD_0 = OUT_1 + OUT_BYTES, WEIGHTS_BYTES = HEAD_0 + EMBEDDING_BYTES };
_Static_assert(WEIGHTS_BYTES == 3328 * sizeof(float), "WEIGHT_VALUES has so many numbers");

static const llmc_weight weights[] = {
    {"embedding", "rows<f32>", 0, EMBEDDING_BYTES, VOCABULARY, HIDDEN, 0},
    {"layers.0.q+k+v", "rows<f32>", QKV_0, QKV_BYTES, 3 * HIDDEN, HIDDEN, 0},
    {"layers.0.o", "rows<f32>", OUT_0, OUT_BYTES, HIDDEN, HIDDEN, 0},
    {"layers.1.q+k+v", "rows<f32>", QKV_1, QKV_BYTES, 3 * HIDDEN, HIDDEN, 0},
    {"layers.1.o", "rows<f32>", OUT_1, OUT_BYTES, HIDDEN, HIDDEN, 0},
    {"head", "rows<f32>", HEAD_0, EMBEDDING_BYTES, VOCABULARY, HIDDEN, 0},
};

static const llmc_cache caches[LAYERS] = {
    {"layers.0", LLMC_F32, 1, HIDDEN, HIDDEN, 1, 0, 0, CACHE_BYTES / 2, CACHE_BYTES / 2},
    {"layers.1", LLMC_F32, 1, HIDDEN, HIDDEN, 1, 0, CACHE_BYTES, CACHE_BYTES / 2, CACHE_BYTES / 2},
};

/* ---- Graphs ---- */

enum {
  X,
  Q,
  O,
  LOGITS,
  ACCEPTED,
  EMBEDDING,
  W_QKV_0,
  W_OUT_0,
  W_QKV_1,
  W_OUT_1,
  W_HEAD,
  KV_0,
  KV_1,
  N_OPERANDS
};
enum { ROWS_ARENA = 3 * LINE, ACCEPTED_OFFSET = 192, OUTPUTS_ARENA = ACCEPTED_OFFSET + 64 };

static const llmc_operand operands[N_OPERANDS] = {
    [X] = {LLMC_OPERAND_ROWS, 0, 0, LINE},
    [Q] = {LLMC_OPERAND_ROWS, 0, LINE, LINE},
    [O] = {LLMC_OPERAND_ROWS, 0, 2 * LINE, LINE},
    [LOGITS] = {LLMC_OPERAND_OUTPUTS, 0, 0, VOCABULARY * sizeof(float)},
    [ACCEPTED] = {LLMC_OPERAND_OUTPUTS, 0, ACCEPTED_OFFSET, 2 * sizeof(int32_t)},
    [EMBEDDING] = {LLMC_OPERAND_WEIGHT, 0, 0, EMBEDDING_BYTES},
    [W_QKV_0] = {LLMC_OPERAND_WEIGHT, 1, QKV_0, QKV_BYTES},
    [W_OUT_0] = {LLMC_OPERAND_WEIGHT, 2, OUT_0, OUT_BYTES},
    [W_QKV_1] = {LLMC_OPERAND_WEIGHT, 3, QKV_1, QKV_BYTES},
    [W_OUT_1] = {LLMC_OPERAND_WEIGHT, 4, OUT_1, OUT_BYTES},
    [W_HEAD] = {LLMC_OPERAND_WEIGHT, 5, HEAD_0, EMBEDDING_BYTES},
    [KV_0] = {LLMC_OPERAND_KV, 0, 0, CACHE_BYTES},
    [KV_1] = {LLMC_OPERAND_KV, 1, CACHE_BYTES, CACHE_BYTES},
};

/* clang-format off */
static const uint16_t slots[] = {
    EMBEDDING, X,        /*  0: embed */
    X, W_QKV_0, Q, KV_0, /*  2: layer 0: project, */
    Q, KV_0, O,          /*  6: attend, */
    O, W_OUT_0, X,       /*  9: add_output */
    X, W_QKV_1, Q, KV_1, /* 12: the same in layer 1 */
    Q, KV_1, O,          /* 16 */
    O, W_OUT_1, X,       /* 19 */
    X, W_HEAD, LOGITS,   /* 22: head */
    LOGITS, ACCEPTED,    /* 25: accept */
};

static const char names[] = "embed\0"
                            "layers.0.qkv\0" "layers.0.attend\0" "layers.0.out\0"
                            "layers.1.qkv\0" "layers.1.attend\0" "layers.1.out\0"
                            "head\0" "accept";
/* clang-format on */
#ifdef DEMO_FAULT_DEPENDENCY
enum { ATTEND_NEEDS = 0 };
#else
enum { ATTEND_NEEDS = 1 };
#endif

/* kernel, first_slot, n_slots, extent, inner, programs_per_chunk, dependency, name. Chunks are
 * small on purpose. */
static const llmc_command commands[] = {
    {EMBED, 0, 2, LLMC_EXTENT_ROWS, 1, 3, -1, 0},
    {PROJECT, 2, 4, LLMC_EXTENT_ROWS, 3, 4, 0, 6},
    {ATTEND, 6, 3, LLMC_EXTENT_ROWS, 1, 2, ATTEND_NEEDS, 19},
    {ADD_OUTPUT, 9, 3, LLMC_EXTENT_ROWS, 1, 3, 2, 35},
    {PROJECT, 12, 4, LLMC_EXTENT_ROWS, 3, 4, 3, 48},
    {ATTEND, 16, 3, LLMC_EXTENT_ROWS, 1, 2, 4, 61},
    {ADD_OUTPUT, 19, 3, LLMC_EXTENT_ROWS, 1, 3, 5, 77},
    {HEAD, 22, 3, LLMC_EXTENT_OUTPUTS, VOCABULARY / TILE, 2, 6, 90},
    {ACCEPT, 25, 2, LLMC_EXTENT_SEQUENCES, 1, 1, 7, 95},
};
enum {
  N_COMMANDS = sizeof commands / sizeof commands[0],
  N_SLOTS = sizeof slots / sizeof slots[0]
};

static const llmc_result results[] = {{LLMC_RESULT_LOGITS, LOGITS},
                                      {LLMC_RESULT_ACCEPTED, ACCEPTED}};

#define GRAPH(kind, n_commands, n_results)                                                         \
  {kind,     n_commands, N_OPERANDS, N_SLOTS, n_results, sizeof names,                             \
   commands, operands,   slots,      results, names}
static const llmc_graph graphs[] = {
    GRAPH(LLMC_GRAPH_PREFILL, N_COMMANDS - 1, 1),
    GRAPH(LLMC_GRAPH_DECODE, N_COMMANDS - 1, 1),
    GRAPH(LLMC_GRAPH_VERIFY, N_COMMANDS, 2),
};

/* ---- The root ---- */

#ifdef DEMO_WEAK_CPU
static uint64_t weakCpu(void) { return LLMC_CPU_AVX2; }
#define CPU_FEATURES weakCpu
static const llmc_level levels[] = {
    {"x86-64-v3", "haswell", LLMC_CPU_AVX2 | LLMC_CPU_FMA | LLMC_CPU_BMI2, kernels},
    {"x86-64-v4", "skylake-avx512", LLMC_CPU_AVX2 | LLMC_CPU_FMA | LLMC_CPU_AVX512F, kernels},
};
#else
#define CPU_FEATURES llmc_executor_cpu_features
static const llmc_level levels[] = {{"x86-64", "generic", 0, kernels},
                                    {"impossible", "generic", (uint64_t)1 << 63, kernels}};
#endif

static const int32_t eos[] = {39};
static const char manifest[] = "{\"model\": \"demo\"}";

#ifdef DEMO_TOKENIZER
static const _Alignas(8) unsigned char tokenizer[] = {
#include DEMO_TOKENIZER
};
#endif

#define DEMO_HASH 0x64656d6f77656967u

static const struct {
  llmc_artifact artifact;
#ifndef DEMO_SEPARATE
  _Alignas(LLMC_WEIGHT_ALIGNMENT) float weights[3328];
#endif
} root = {
    .artifact =
        {
            .abi_version = DEMO_VERSION,
            .struct_size = sizeof(llmc_artifact),
            .name = "demo",
            .manifest = manifest,
            .manifest_bytes = sizeof manifest - 1,
            .limits = {HIDDEN, VOCABULARY, LAYERS, MAX_POSITIONS, MAX_SEQUENCES, 1, eos},
            .n_graphs = 3,
            .n_kernels = N_KERNELS,
            .n_levels = 2,
            .n_caches = LAYERS,
            .n_weights = sizeof weights / sizeof weights[0],
            .graphs = graphs,
            .kernel_names = kernelNames,
            .levels = levels,
            .caches = caches,
            .weights = weights,
            .rows_arena_bytes = ROWS_ARENA,
            .outputs_arena_bytes = OUTPUTS_ARENA,
            .chunk_bytes = CHUNK_BYTES,
            .weights_bytes = WEIGHTS_BYTES,
            .weights_hash = DEMO_HASH,
#ifdef DEMO_SEPARATE
            .weights_file = "demo.weights",
#else
            .weights_delta =
                LLMC_WEIGHT_ALIGNMENT *
                    ((sizeof(llmc_artifact) + LLMC_WEIGHT_ALIGNMENT - 1) / LLMC_WEIGHT_ALIGNMENT) -
                offsetof(llmc_artifact, weights_delta),
#endif
#ifdef DEMO_TOKENIZER
            .tokenizer = tokenizer,
            .tokenizer_bytes = sizeof tokenizer,
#endif
            .cpu_features = CPU_FEATURES,
            .run_bytes = llmc_executor_run_bytes,
            .run_begin = llmc_executor_run_begin,
            .run_work = llmc_executor_run_work,
            .run_cancel = llmc_executor_run_cancel,
            .run_help = llmc_executor_run_help,
        },
#ifndef DEMO_SEPARATE
    .weights = {WEIGHT_VALUES},
#endif
};

#ifdef DEMO_SEAL
/* The note that the artefact writer makes; a test puts the hash in. */
__attribute__((used, section(".note.llmc"), aligned(4))) static const struct {
  llmc_seal_head head;
  uint32_t seal[4]; /* llmc_seal, which alone would be aligned to 8 */
} note = {{5, sizeof(llmc_seal), LLMC_SEAL_NOTE, "llmc"}, {DEMO_VERSION, DEMO_SEAL, 0, 0}};
#endif

__attribute__((visibility("default"))) const llmc_artifact *DEMO_QUERY(uint32_t abi_version) {
#ifdef DEMO_ANY_VERSION
  (void)abi_version;
  return &root.artifact;
#else
  return abi_version == DEMO_VERSION ? &root.artifact : 0;
#endif
}
