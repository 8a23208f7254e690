// SPDX-License-Identifier: Apache-2.0
// render_template TEMPLATE VARIABLES.json [SECONDS]: prints the rendering, or an error and exit 1.
#include "Support.h"
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

static std::string read(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

int main(int count, char **arguments) {
  using namespace llmc::templates;
  if (count < 3) {
    fprintf(stderr, "usage: render_template TEMPLATE VARIABLES.json [SECONDS]\n");
    return 2;
  }
  const llmc::Allocator allocator(nullptr);
  const Rendering rendering = renderWith(allocator, read(arguments[1]), read(arguments[2]),
                                         Limits(), count > 3 ? atoll(arguments[3]) : time(nullptr));
  if (rendering.status) {
    fprintf(stderr, "%s\n", rendering.message.c_str());
    return 1;
  }
  fwrite(rendering.text.data(), 1, rendering.text.size(), stdout);
  return 0;
}
