// SPDX-License-Identifier: Apache-2.0
//
// Makes what the tests here link: two models as objects, plain and instrumented, and the first one with two planted faults, edited
// into the text of `--emit memory`.
#include "passes/codegen/artifact/EmbeddedExecutor.h"
#include "test/e2e/Goldens.h"
#include "test/e2e/compiled/CompileModel.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace llmc;
using namespace llmc::test;

namespace {

bool succeeded(const Result<CompiledModel> &result) {
  if (!result)
    std::fprintf(stderr, "%s\n", result.error().str().c_str());
  return bool(result);
}

/// Replaces what lies between the first `before` behind `start` and the next `after`.
bool replaceBetween(std::string &text, const std::string &start, const std::string &before,
                    const std::string &after, const std::string &with) {
  size_t from = text.find(start);
  from = from == std::string::npos ? from : text.find(before, from);
  size_t to = from == std::string::npos ? from : text.find(after, from += before.size());
  if (to == std::string::npos) {
    std::fprintf(stderr, "no '%s' in the printed module\n", before.c_str());
    return false;
  }
  text.replace(from, to - from, with);
  return true;
}

/// All rows and heads write where the first ones do: chunks of one command overlap. Stores to a parameter of the kernel leave it.
bool overlapChunks(std::string &text) {
  bool found = false;
  for (size_t kernel = 0; (kernel = text.find("tile.kernel @attention_", kernel)) != std::string::npos; ++kernel)
    for (size_t store = kernel; (store = text.find("tile.store", store)) < text.find("tile.return", kernel); ++store) {
      const size_t end = text.find('\n', store), place = text.find(", %arg", store);
      if (place > end)
        continue;
      const size_t first = text.find('[', place) + 1;
      text.replace(first, text.find(']', first) - first, "%c0, %c0");
      found = true;
    }
  return found;
}

/// Attention of layer 0 no longer waits for the keys and values of its own step.
bool loseDependency(std::string &text) {
  size_t launch = text.find("\"layers.0.attention\"");
  size_t number = text.find(" after ", launch);
  if (launch == std::string::npos || number == std::string::npos)
    return false;
  int after = std::atoi(text.c_str() + number + 7);
  return replaceBetween(text, "\"layers.0.attention\"", " after ", "(", std::to_string(after - 1));
}

bool makeFaulty(const std::string &folder, const std::string &model, const std::string &name,
                bool (*plant)(std::string &)) {
  const std::string printed = folder + "/" + name + ".mlir";
  ModelRequest print;
  print.input = model;
  print.output = printed;
  print.emit = "memory";
  if (!succeeded(compileModel(print)))
    return false;
  std::ifstream in(printed);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (!plant(text))
    return false;
  std::ofstream(printed) << text;
  ModelRequest resume;
  resume.input = printed;
  resume.from = "memory";
  resume.weights = model;
  resume.output = folder + "/" + name + ".o";
  resume.name = "first";
  resume.threadSanitizerExecutor = artifact::threadSanitizerExecutorObject();
  return succeeded(compileModel(resume));
}

bool makeObject(const std::string &model, const std::string &output, const std::string &name,
                std::string_view executor) {
  ModelRequest request;
  request.input = model;
  request.output = output;
  request.name = name;
  request.threadSanitizerExecutor = executor;
  return succeeded(compileModel(request));
}

} // namespace

int main(int count, char **arguments) {
  if (count != 2)
    return 2;
  const std::string folder = arguments[1], tsan = folder + "/tsan";
  const std::string first = goldenModel("llama-mha"), second = goldenModel("qwen3-bias");
  const std::string_view executor = artifact::threadSanitizerExecutorObject();
  std::filesystem::create_directories(tsan);
  return makeObject(first, folder + "/first.o", "first", {}) &&
                 makeObject(second, folder + "/second.o", "second", {}) &&
                 makeObject(first, tsan + "/first.o", "first", executor) &&
                 makeObject(second, tsan + "/second.o", "second", executor) &&
                 makeFaulty(tsan, first, "overlapping_chunks", overlapChunks) &&
                 makeFaulty(tsan, first, "lost_dependency", loseDependency)
             ? 0
             : 1;
}
