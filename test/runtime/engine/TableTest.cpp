// SPDX-License-Identifier: Apache-2.0
// Damage inside an artefact's tables: each field is spoilt in a copy of the demo's tables, and
// opening must name the place.
#include "llmc/abi.h"
#include "test/runtime/engine/Support.h"
#include <functional>

namespace llmc::test {
namespace {

// Copies of the demo's tables in memory of this program, where the checks accept them, free to be
// spoilt.
struct Tables {
  llmc_artifact artifact;
  llmc_graph graphs[3];
  llmc_command commands[9];
  llmc_operand operands[13];
  uint16_t slots[32];
  llmc_result results[2];
  char names[256];
  llmc_level levels[2];
  llmc_kernel_fn kernels[6];
  const char *kernelNames[6];
  llmc_cache caches[2];
  llmc_weight weights[6];
  alignas(64) char packed[13312];
};
Tables tables;

template <typename T, typename U> void copy(T *to, U *&from, size_t count) {
  memcpy(to, from, count * sizeof(T));
  from = to;
}

void copyTables() {
  const llmc_artifact &demo = *demo_llmc_query(LLMC_ABI_VERSION);
  Tables &t = tables;
  t.artifact = demo;
  llmc_artifact &a = t.artifact;
  copy(t.graphs, a.graphs, 3);
  copy(t.levels, a.levels, 2);
  copy(t.kernelNames, a.kernel_names, 6);
  copy(t.caches, a.caches, 2);
  copy(t.weights, a.weights, 6);
  copy(t.kernels, t.levels[0].kernels, 6);
  llmc_graph &graph = t.graphs[2];
  copy(t.commands, graph.commands, 9);
  copy(t.operands, graph.operands, 13);
  copy(t.slots, graph.slots, graph.n_slots);
  copy(t.results, graph.results, 2);
  copy(t.names, graph.names, graph.names_bytes);
  a.weights_delta = reinterpret_cast<char *>(t.packed) - reinterpret_cast<char *>(&a.weights_delta);
}

const llmc_artifact *queryTables(uint32_t version) {
  return version == LLMC_ABI_VERSION ? &tables.artifact : nullptr;
}
const llmc_artifact *queryNowhere(uint32_t) {
  return reinterpret_cast<const llmc_artifact *>(uintptr_t{4096});
}
const llmc_artifact *queryNothing(uint32_t) { return nullptr; }

class Table : public ::testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(llmc_context_create(nullptr, &context, nullptr), LLMC_OK); }
  void TearDown() override { llmc_context_destroy(context); }
  llmc_status open(llmc_model_query query) {
    llmc_model *model = nullptr;
    error = newError();
    const llmc_status status = llmc_model_from_artifact(context, query, nullptr, &model, &error);
    llmc_model_destroy(model);
    return status;
  }
  void spoil(const char *place, const std::function<void(Tables &)> &change) {
    copyTables();
    change(tables);
    EXPECT_EQ(open(queryTables), LLMC_BAD_ARTIFACT) << place;
    const std::string start = std::string("linked model: ") + place + ": error: found ";
    EXPECT_EQ(strncmp(error.message, start.c_str(), start.size()), 0) << error.message;
    EXPECT_NE(strstr(error.message, "expected "), nullptr) << error.message;
  }
  llmc_context *context = nullptr;
  llmc_error error = newError();
};

template <typename T> T *outside() { return reinterpret_cast<T *>(uintptr_t{0x1000}); }

TEST_F(Table, CopyOpens) {
  copyTables();
  EXPECT_EQ(open(queryTables), LLMC_OK) << error.message;
}

TEST_F(Table, RootIsChecked) {
  EXPECT_EQ(open(queryNowhere), LLMC_BAD_ARTIFACT);
  EXPECT_EQ(open(queryNothing), LLMC_BAD_VERSION);
  spoil("root table", [](Tables &t) { t.artifact.struct_size = 8; });
  spoil("root table", [](Tables &t) { t.artifact.name = outside<char>(); });
  spoil("root table", [](Tables &t) { t.artifact.manifest_bytes = 1ull << 40; });
  spoil("root table", [](Tables &t) { t.artifact.graphs = outside<llmc_graph>(); });
  spoil("root table", [](Tables &t) { t.artifact.n_graphs = 0; });
  spoil("root table", [](Tables &t) { t.artifact.n_graphs = UINT32_MAX; });
  spoil("root table", [](Tables &t) { t.artifact.n_kernels = 0; });
  spoil("root table", [](Tables &t) { t.artifact.n_weights = UINT32_MAX; });
  spoil("root table", [](Tables &t) { t.artifact.limits.vocabulary = 0; });
  spoil("root table", [](Tables &t) { t.artifact.limits.max_positions = UINT32_MAX; });
  spoil("root table", [](Tables &t) { t.artifact.limits.eos = outside<int32_t>(); });
  spoil("root table", [](Tables &t) { t.artifact.rows_arena_bytes = 1ull << 60; });
  spoil("root table", [](Tables &t) { t.artifact.chunk_bytes = ~0ull; });
  spoil("root table", [](Tables &t) { t.artifact.run_work = nullptr; });
  spoil("root table", [](Tables &t) {
    t.artifact.run_begin = reinterpret_cast<decltype(t.artifact.run_begin)>(t.packed);
  });
  spoil("root table", [](Tables &t) { t.artifact.weights_file = outside<char>(); });
}

TEST_F(Table, LevelsCachesAndWeightsAreChecked) {
  spoil("level 0, kernel 3", [](Tables &t) { t.kernels[3] = nullptr; });
  spoil("level 0, kernel 5",
        [](Tables &t) { t.kernels[5] = reinterpret_cast<llmc_kernel_fn>(t.packed); });
  spoil("level 1", [](Tables &t) { t.levels[1].kernels = outside<llmc_kernel_fn>(); });
  spoil("level 0", [](Tables &t) { t.levels[0].name = nullptr; });
  spoil("kernel 2", [](Tables &t) { t.kernelNames[2] = nullptr; });
  spoil("cache 1", [](Tables &t) { t.caches[1].offset += 64; });
  spoil("cache 0", [](Tables &t) { t.caches[0].value_bytes = ~0ull; });
  spoil("weight 5", [](Tables &t) { t.weights[5].bytes += 64; });
  spoil("weight 2", [](Tables &t) { t.weights[2].offset += 4; });
  spoil("weight 0", [](Tables &t) { t.weights[0].format = outside<char>(); });
  spoil("weights", [](Tables &t) { t.artifact.weights_delta += 1ll << 40; });
  spoil("weights", [](Tables &t) { t.artifact.weights_delta += 4; });
  spoil("weights", [](Tables &t) { t.artifact.weights_delta = 0; });
}

TEST_F(Table, GraphsAreChecked) {
  spoil("graph 2", [](Tables &t) { t.graphs[2].kind = 3; });
  spoil("graph 2", [](Tables &t) { t.graphs[2].n_commands = 0; });
  spoil("graph 2", [](Tables &t) { t.graphs[2].n_operands = 1u << 20; });
  spoil("graph 2", [](Tables &t) { t.graphs[2].commands = outside<llmc_command>(); });
  spoil("graph 2", [](Tables &t) { t.names[t.graphs[2].names_bytes - 1] = 'x'; });
  spoil("graph 2, operand 1", [](Tables &t) { t.operands[1].offset = 129; });
  spoil("graph 2, operand 4", [](Tables &t) { t.operands[4].line_bytes = 65; });
  spoil("graph 2, operand 5", [](Tables &t) { t.operands[5].index = 6; });
  spoil("graph 2, operand 12", [](Tables &t) { t.operands[12].offset = ~0ull; });
  spoil("graph 2, operand 0", [](Tables &t) { t.operands[0].kind = 4; });
  spoil("graph 2, slot 7", [](Tables &t) { t.slots[7] = 13; });
  spoil("graph 2, command 3", [](Tables &t) { t.commands[3].kernel = 6; });
  spoil("graph 2, command 8", [](Tables &t) { t.commands[8].n_slots = 3; });
  spoil("graph 2, command 1", [](Tables &t) { t.commands[1].first_slot = UINT32_MAX; });
  spoil("graph 2, command 0", [](Tables &t) { t.commands[0].dependency = 0; });
  spoil("graph 2, command 4", [](Tables &t) { t.commands[4].dependency = -2; });
  spoil("graph 2, command 2", [](Tables &t) { t.commands[2].programs_per_chunk = 0; });
  spoil("graph 2, command 2", [](Tables &t) { t.commands[2].extent = 4; });
  spoil("graph 2, command 2", [](Tables &t) { t.commands[2].name = 5000; });
  spoil("graph 2, result 0", [](Tables &t) { t.results[0].operand = 13; });
  spoil("graph 2, result 1", [](Tables &t) { t.results[1].operand = 0; });
  spoil("graph 2, result 0", [](Tables &t) { t.operands[3].line_bytes = 8; });
  spoil("graph 2", [](Tables &t) { t.results[0] = t.results[1]; });
}

// Random words in all tables: opening accepts what is still inside its bounds, but must always come
// back.
TEST_F(Table, RandomDamageNeverCrashesOpening) {
  uint64_t state = 88172645463325252u;
  const auto next = [&] {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
  };
  int refused = 0;
  for (int seed = 0; seed < 3000; ++seed) {
    copyTables();
    const size_t words = offsetof(Tables, packed) / sizeof(uint32_t);
    for (int i = 0; i < 3; ++i) {
      uint32_t *word = reinterpret_cast<uint32_t *>(&tables) + next() % words;
      *word = static_cast<uint32_t>(next() >> (next() % 33));
    }
    tables.artifact.cpu_features =
        demo_llmc_query(LLMC_ABI_VERSION)->cpu_features; // code cannot be checked
    refused += open(queryTables) != LLMC_OK;
  }
  EXPECT_GT(refused, 1000);
}

} // namespace
} // namespace llmc::test
