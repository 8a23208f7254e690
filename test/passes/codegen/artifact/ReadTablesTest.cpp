// SPDX-License-Identifier: Apache-2.0
// From the module at the end of the memory stage to tables: what arrives, and what is refused
// where.
#include "test/passes/codegen/artifact/ToyModel.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace llmc::artifact;
using namespace llmc::artifact::test;

namespace {

TEST(ReadTables, CommandsNamesAndKernels) {
  ReadResult result = read(toyModule());
  ASSERT_TRUE(result.tables) << result.error;
  const Tables &tables = *result.tables;
  EXPECT_EQ(tables.kernels, (std::vector<std::string>{"embed", "append", "mix", "head"}));
  ASSERT_EQ(tables.graphs.size(), 2u);
  const Graph &graph = tables.graphs[1];
  EXPECT_EQ(graph.kind, LLMC_GRAPH_DECODE);
  ASSERT_EQ(graph.commands.size(), 4u);
  const llmc_command &head = graph.commands[3];
  EXPECT_EQ(head.kernel, 3u);
  EXPECT_EQ(head.extent, LLMC_EXTENT_OUTPUTS);
  EXPECT_EQ(head.inner, 3u);
  EXPECT_EQ(head.programs_per_chunk, 2u);
  EXPECT_EQ(head.dependency, 2);
  EXPECT_EQ(head.n_slots, 3u);
  EXPECT_STREQ(graph.names.data() + graph.commands[2].name, "layers.0.mix");
  ASSERT_EQ(graph.results.size(), 1u);
  EXPECT_EQ(graph.operands[graph.results[0].operand].line_bytes, 44u);
}

TEST(ReadTables, EqualPlacesShareOneOperand) {
  Tables tables = toyTables();
  const Graph &graph = tables.graphs[0];
  EXPECT_EQ(graph.operands.size(),
            7u); // table, rope, cache, head, x (twice in the module), y, logits
  const uint16_t written = graph.slots[graph.commands[0].first_slot + 1];
  const uint16_t read = graph.slots[graph.commands[1].first_slot + 1];
  EXPECT_EQ(written, read);
}

TEST(ReadTables, WeightsAscendAndCarryTheirPacking) {
  Tables tables = toyTables();
  ASSERT_EQ(tables.weights.size(), 3u);
  EXPECT_EQ(tables.weights[1].name, "head.a+head.b");
  EXPECT_EQ(tables.weights[1].panelRows, 4u);
  EXPECT_EQ(tables.weights[2].name, "rope");
  ASSERT_TRUE(tables.weights[2].computed);
  EXPECT_EQ(tables.weights[2].computed->frequencies, (std::vector<float>{1.0f, 0.25f}));
  EXPECT_EQ(tables.weightsBytes, 896u);
  const Graph &graph = tables.graphs[0];
  const llmc_operand &head = graph.operands[graph.slots[graph.commands[3].first_slot + 1]];
  EXPECT_EQ(head.kind, LLMC_OPERAND_WEIGHT);
  EXPECT_EQ(head.index, 1u);
  EXPECT_EQ(head.offset, 320u);
}

TEST(ReadTables, LimitsAndSizes) {
  Tables tables = toyTables();
  EXPECT_EQ(tables.limits.vocabulary, 11u);
  EXPECT_EQ(tables.limits.eos, (std::vector<int32_t>{3, 7}));
  EXPECT_EQ(tables.rowsArenaBytes, 128u);
  EXPECT_EQ(tables.chunkBytes, 1024u);
  ASSERT_EQ(tables.caches.size(), 1u);
  EXPECT_EQ(tables.caches[0].keyBytes, 512u);
}

struct Fault {
  const char *found;
  const char *planted;
  const char *message;
};

// Each edits the good module in one place; the error names the op's line and both values.
TEST(ReadTables, RefusesWhatTheTablesCannotHold) {
  const Fault faults[] = {
      {"llm.chunk_bytes = 1024", "llm.chunk_bytes = 2048",
       "has blocks of 1024 bytes, expected 'llm.chunk_bytes' (2048)"},
      {"llm.rows_arena_bytes = 128 : i64, ", "", "has no attribute 'llm.rows_arena_bytes'"},
      {"vocabulary = 11", "vocabulary = -1", "has no 'vocabulary' in 'llm.limits'"},
      {"eos = array<i32: 3, 7>", "eos = 3", "has no 'eos'"},
      {"offset 64 : !tile.view<?x6xf32>", "offset 128 : !tile.view<?x6xf32>",
       "needs 24 bytes a line at 128, expected them inside an arena of 128"},
      {"grid(rows, 1) chunk 2 after -1", "grid(rows, 4294967295) chunk 2 after -1",
       "has 4294967295 programs for each of up to 16 lines"},
      {"chunk 2 after -1", "chunk 2", "depends on command (unset), expected -1 to -1"},
      {"chunk 1 after 1", "chunk 1 after 2", "depends on command 2, expected -1 to 1"},
      {"chunk 2 after -1", "chunk 8589934592 after -1", "has chunks of 8589934592 programs"},
      {"offset 320 bytes 288", "offset 320 bytes 264", "occupies 264 bytes, expected 288"},
      {"offset 320 bytes 288", "offset 256 bytes 288",
       "lies at 256, expected a multiple of 64 that is not below the end of the weight before it "
       "(264)"},
      {"panel_rows 4 offset 320", "panel_rows 8192 offset 320", "has panels of 8192 rows"},
      {"{sources = [\"embed\"]}", "", "expects either sources or a computed table, found neither"},
      {"{sources = [\"embed\"]}", "{sources = []}", "has an empty list of sources"},
      {"{sources = [\"embed\"]}", "{computed = 3 : i64}",
       "is computed by 3 : i64, expected #llm.rope_table"},
      {"frequencies = [1.0, 0.25]", "frequencies = [1.0]",
       "expects a row-major table of f32 and 2 columns, found 4 columns"},
      {"16 x 4 of f32 panel_rows 0 offset 640 bytes 256",
       "16 x 4 of bf16 panel_rows 0 offset 640 bytes 128",
       "expects a row-major table of f32 and 4 columns, found 4 columns"},
      {"max_positions = 16", "max_positions = 17", "has angles of 16 positions, expected as many as 'max_positions' in 'llm.limits' (17)"},
      {"11 x 6 of f32 panel_rows 0", "11 x 6 of f64 panel_rows 0",
       "has elements of 'f64', expected f32, f16, bf16 or !llm.group"},
      {"11 x 6 of f32 panel_rows 0", "11 x 6 of bf16 panel_rows 0",
       "occupies 264 bytes, expected 132 for its shape and panels"},
      {"11 x 6 of f32 panel_rows 4", "11 x 6 of !llm.group<bits = 4> panel_rows 4",
       "keeps 6 columns in groups with panel_rows 4, expected a multiple of 32 columns in panels"},
      {"11 x 6 of f32 panel_rows 0", "11 x 64 of !llm.group<bits = 8> panel_rows 0",
       "keeps 64 columns in groups with panel_rows 0, expected a multiple of 32 columns in panels"},
      {"11 x 6 of f32 panel_rows 4", "11 x 64 of !llm.group<bits = 4, minimum = true> panel_rows 4",
       "occupies 288 bytes, expected 480 for its shape and panels"},
      {"tile.weight @rope", "tile.weight @nowhere",
       "names @nowhere, expected a tile.packed of that name"},
      {"tile.cache @layers.0.kv", "tile.cache @nowhere",
       "names @nowhere, expected a tile.placed_cache of that name"},
      {"llm.graph = \"decode\"", "llm.graph = \"prefill\"", "is a second graph \"prefill\""},
      {"llm.graph = \"decode\"", "llm.graph = \"draft\"",
       "\"draft\", expected \"prefill\", \"decode\" or \"verify\""},
      {"tile.result logits %logits", "tile.result accepted %logits",
       "has 44 bytes a line, expected a slice of outputs with 8"},
      {"  tile.result logits %logits : !tile.view<?x11xf32>\n", "", "has 4 launches and 0 results"},
      {"tile.packed @rope 16 x 4", "tile.packed @rope 4611686018427387904 x 4",
       "expected 0 for its shape"},
      {"offset 640 bytes 256", "offset -64 bytes 256", "no negative place"},
  };
  for (const Fault &fault : faults) {
    ReadResult result = read(toyModule(fault.found, fault.planted));
    EXPECT_FALSE(result.tables) << fault.planted;
    EXPECT_NE(result.error.find(fault.message), std::string::npos)
        << fault.planted << ": " << result.error;
    EXPECT_TRUE(isdigit(result.error[0])) << "no line: " << result.error;
  }
}

TEST(ReadTables, RefusesAModuleWithoutGraphs) {
  ReadResult result = read("module attributes {llm.rows_arena_bytes = 0 : i64, "
                           "llm.outputs_arena_bytes = 0 : i64, llm.chunk_bytes = 0 : i64, "
                           "llm.limits = {hidden = 1 : i64, vocabulary = 1 : i64, layers = 1 : "
                           "i64, max_positions = 1 : i64, "
                           "max_sequences = 1 : i64, eos = array<i32>}} {}");
  EXPECT_FALSE(result.tables);
  EXPECT_NE(result.error.find("has no function with attribute 'llm.graph'"), std::string::npos)
      << result.error;
}

// 65,537 different places in one graph do not fit 16-bit slots.
TEST(ReadTables, RefusesMoreOperandsThanSlotsCanName) {
  std::string places;
  for (int i = 0; i < 65537; ++i)
    places += "%p" + std::to_string(i) + " = tile.slice rows offset " + std::to_string(i * 64) +
              " : !tile.view<?x1xf32>\n";
  std::string text = toyModule("  %embed = tile.weight", places + "  %embed = tile.weight");
  text.replace(text.find("rows_arena_bytes = 128"), strlen("rows_arena_bytes = 128"),
               "rows_arena_bytes = 8388608");
  ReadResult result = read(text);
  EXPECT_FALSE(result.tables);
  EXPECT_NE(result.error.find("is operand 65537 of its graph, expected at most 65536"),
            std::string::npos)
      << result.error;
}

} // namespace
