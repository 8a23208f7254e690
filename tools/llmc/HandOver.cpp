// SPDX-License-Identifier: Apache-2.0
// Finds the compiler by the path of the running program, never by PATH: both are of one build.
#include "tools/llmc/HandOver.h"
#include "dialects/model/Error.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>
#include <vector>

namespace llmc::tool {
namespace {

constexpr char kCompiler[] = "llmc-compiler";
constexpr size_t kLongestPath = 1u << 16;

// The folder of the running program with its last '/', or "" where the system does not tell.
std::string ownFolder() {
  std::vector<char> path(kLongestPath);
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0)
    return {};
  const std::string own(path.data(), static_cast<size_t>(length));
  return own.substr(0, own.rfind('/') + 1);
}

// Whether a compiled model is among the arguments, or a wish for help, or nothing.
bool namesArtefact(int argc, char *const *argv) {
  for (int i = 2; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool isArtefact = argument.size() > 3 && argument.substr(argument.size() - 3) == ".so";
    if (isArtefact || argument == "--help" || argument == "-h")
      return true;
  }
  return argc < 3;
}

} // namespace

std::string compilerPath() { return ownFolder() + kCompiler; }

bool needsCompiler(int argc, char *const *argv) {
  if (argc < 2)
    return false;
  const std::string_view command = argv[1];
  if (command == "compile" || command == "compare")
    return true;
  if (command == "explain")
    return !namesArtefact(argc, argv);
  if (command != "run")
    return false;
  for (int i = 2; i < argc; ++i)
    if (std::string_view(argv[i]) == "--reference")
      return true;
  return false;
}

int becomeCompiler(char *const *argv) {
  const std::string compiler = compilerPath();
  std::vector<char *> arguments = {const_cast<char *>(kCompiler)};
  for (char *const *argument = argv + 1; *argument; ++argument)
    arguments.push_back(*argument);
  arguments.push_back(nullptr);
  execv(compiler.c_str(), arguments.data());
  const std::string text = "found no program to start (" + std::string(strerror(errno)) +
                           "), expected the compiler beside llmc, which '" + escaped(argv[1]) +
                           "' needs; build llmc with -DLLMC_BUILD_COMPILER=ON";
  fprintf(stderr, "%s\n", errorAt(compiler, "", text).str().c_str());
  return 1;
}

} // namespace llmc::tool
