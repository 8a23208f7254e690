// SPDX-License-Identifier: Apache-2.0
//
// What emit promises beyond right results: names, levels, determinism, what it refuses.
#include "test/passes/codegen/cpu/KernelHarness.h"
#include <gtest/gtest.h>

using namespace llmc::cpu::test;

static std::string kernel(const std::string &body, const std::string &name = "k") {
  return "tile.kernel @" + name + "(%step: !tile.step, %x: !tile.view<?x64xf32>, %y: !tile.view<?x64xf32>) {\n"
         "  %r = tile.program_id line\n  %c0 = arith.constant 0 : index\n"
         "  %a = tile.load %x[%r, %c0] : !tile.view<?x64xf32> -> tensor<64xf32>\n" +
         body +
         "  tile.store %b, %y[%r, %c0] : tensor<64xf32>, !tile.view<?x64xf32>\n  tile.return\n}\n";
}

static const std::string kSquareAndAdd =
    "  %s = arith.mulf %a, %a : tensor<64xf32>\n  %b = arith.addf %s, %a : tensor<64xf32>\n";

static size_t count(const std::string &text, const std::string &word) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at)
    ++found;
  return found;
}

static CompileOptions assembly(const std::string &level, const std::string &prefix = "") {
  return {CompileOptions::Assembly, level, prefix, false};
}

TEST(Emit, a_product_and_a_sum_stay_two_roundings) {
  std::string separate = compile(kernel(kSquareAndAdd), assembly("x86-64-v3"));
  EXPECT_EQ(count(separate, "vfmadd"), 0u);
  std::string fused =
      compile(kernel("  %b = math.fma %a, %a, %a : tensor<64xf32>\n"), assembly("x86-64-v3"));
  EXPECT_GE(count(fused, "vfmadd"), 8u);
}

TEST(Emit, a_level_uses_its_registers_and_no_others) {
  std::string v3 = compile(kernel(kSquareAndAdd), assembly("x86-64-v3")),
              v4 = compile(kernel(kSquareAndAdd), assembly("x86-64-v4"));
  EXPECT_EQ(count(v3, "zmm"), 0u);
  EXPECT_GT(count(v3, "ymm"), 0u);
  EXPECT_GT(count(v4, "zmm"), 0u);
}

TEST(Emit, the_prefix_tells_levels_apart_and_symbols_are_hidden) {
  std::string text = compile(kernel(kSquareAndAdd), assembly("x86-64-v4", "v4_"));
  EXPECT_EQ(count(text, ".hidden\tv4_k"), 1u);
  EXPECT_EQ(count(text, ".section\t.text.v4_k"), 1u);
}

TEST(Emit, the_same_input_gives_the_same_bytes) {
  std::string first = compile(kernel(kSquareAndAdd), {});
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(first, compile(kernel(kSquareAndAdd), {}));
}

TEST(Emit, wide_and_masked_accesses_reach_the_thread_sanitizer) {
  std::string body =
      "  %n = arith.constant 5 : index\n  %b = arith.addf %a, %a : tensor<64xf32>\n"
      "  tile.store %b, %y[%r, %c0] valid %r : tensor<64xf32>, !tile.view<?x64xf32>\n";
  CompileOptions options{CompileOptions::LLVMIR, "x86-64-v3", "", true};
  std::string text = compile(kernel(body), options);
  EXPECT_GE(count(text, "call void @__tsan_read_range("), 1u);
  EXPECT_GE(count(text, "call void @__tsan_write_range("), 2u);
  EXPECT_GE(count(text, "call void @__tsan_func_entry("), 1u);
  options.instrumentThreads = false;
  EXPECT_EQ(count(compile(kernel(body), options), "__tsan"), 0u);
}

TEST(Emit, objects_have_every_kernel_once_whoever_makes_them) {
  std::string source;
  for (int i = 0; i < 11; ++i) {
    std::string body = "  %b = arith.addf %a, %a : tensor<64xf32>\n";
    for (int more = 0; more < i; ++more)
      body += "  %m" + std::to_string(more) + " = math.exp %b : tensor<64xf32>\n  tile.store %m" + std::to_string(more) +
              ", %y[%r, %c0] : tensor<64xf32>, !tile.view<?x64xf32>\n";
    source += kernel(body, "kernel_" + std::to_string(i) + "_");
  }
  std::vector<std::string> alone = compileObjects(source, false), together = compileObjects(source, true);
  EXPECT_EQ(alone.size(), 8u);
  EXPECT_TRUE(alone == together) << "the same bytes, in the same order";
  for (int i = 0; i < 11; ++i) {
    size_t found = 0;
    for (const std::string &object : alone)
      found += count(object, ".text.kernel_" + std::to_string(i) + "_") > 0;
    EXPECT_EQ(found, 1u) << "kernel_" << i;
  }
  EXPECT_EQ(compileObjects(kernel(kSquareAndAdd), true).size(), 1u);
  EXPECT_EQ(compileObjects("", true).size(), 1u);
}

static std::string errorsOf(const std::string &source, const std::string &level = "x86-64-v3") {
  std::string errors, object = compile(source, {CompileOptions::Object, level, "", false}, &errors);
  EXPECT_TRUE(object.empty());
  return errors;
}

TEST(Emit, unknown_levels_are_named) {
  EXPECT_EQ(
      errorsOf(kernel(kSquareAndAdd), "x86-64-v9"),
      "unknown CPU level 'x86-64-v9', expected x86-64-v3, x86-64-v4, x86-64-v4+vnni+bf16, native");
}

TEST(Emit, functions_of_a_maths_library_are_refused) {
  EXPECT_NE(errorsOf(kernel("  %b = math.sin %a : tensor<64xf32>\n"))
                .find("'math.sin' op cannot be lowered for a CPU"),
            std::string::npos);
  EXPECT_NE(errorsOf(kernel("  %b = arith.remf %a, %a : tensor<64xf32>\n"))
                .find("'arith.remf' op cannot be lowered for a CPU"),
            std::string::npos);
  // And where an llvm.func brings its own: the object is looked at.
  EXPECT_NE(errorsOf("llvm.func @sinf(f32) -> f32\nllvm.func @f(%x: f32) -> f32 {\n  %y = "
                     "llvm.call @sinf(%x) : (f32) -> f32\n"
                     "  llvm.return %y : f32\n}")
                .find("code for CPU level x86-64-v3 needs 'sinf', expected nothing but memcpy, "
                      "memmove and memset"),
            std::string::npos);
}

TEST(Emit, fatal_errors_of_llvm_come_back_as_errors) {
  std::string source = "llvm.func @f(%a: vector<16xi32>, %b: vector<64xi8>) -> vector<16xi32> {\n"
                       "  %r = llvm.call_intrinsic \"llvm.x86.avx512.vpdpbusd.512\"(%a, %b, %b) : "
                       "(vector<16xi32>, vector<64xi8>, "
                       "vector<64xi8>) -> vector<16xi32>\n  llvm.return %r : vector<16xi32>\n}";
  std::string errors = errorsOf(source);
  EXPECT_NE(errors.find("no code for CPU level x86-64-v3: "), std::string::npos) << errors;
  // From one part of several: an instruction that no level has.
  std::string parts;
  EXPECT_TRUE(compileObjects("llvm.func @g(%a: i32) -> i32 {\n  llvm.return %a : i32\n}\n"
                             "llvm.func @f() {\n  llvm.call_intrinsic \"llvm.x86.xsusldtrk\"() : () -> ()\n  llvm.return\n}",
                             true, &parts)
                  .empty());
  EXPECT_NE(parts.find("no code for CPU level native: "), std::string::npos) << parts;
  // The process goes on, and so does code generation.
  EXPECT_FALSE(compile(source, {CompileOptions::Object, "x86-64-v4+vnni+bf16", "", false}).empty());
}
