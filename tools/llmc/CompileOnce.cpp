// SPDX-License-Identifier: Apache-2.0
// The compiler is another process: this one stays free of LLVM.
#include "tools/llmc/CompileOnce.h"
#include "tools/llmc/HandOver.h"
#include "tools/llmc/RemoveOnSignal.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace llmc::tool {
namespace {

constexpr size_t kMostErrorBytes = 1u << 16;

// A folder of our own, removed with the two files in it.
class TemporaryFolder {
public:
  Status make() {
    const char *base = getenv("TMPDIR");
    name = std::string(base && *base ? base : "/tmp") + "/llmc-eval-XXXXXX";
    if (mkdtemp(name.data())) {
      for (const std::string &path : {name, file(), errors()})
        guards.push_back(std::make_unique<RemoveOnSignal>(path));
      return {};
    }
    const std::string reason = strerror(errno);
    return errorAt(std::exchange(name, ""), "", "cannot be made: " + reason);
  }
  ~TemporaryFolder() {
    if (name.empty())
      return;
    unlink(file().c_str());
    unlink(errors().c_str());
    rmdir(name.c_str());
  }
  std::string file() const { return name + "/model.so"; }
  std::string errors() const { return name + "/errors"; } // what the compiler says

private:
  std::string name;
  std::vector<std::unique_ptr<RemoveOnSignal>> guards;
};

[[noreturn]] void becomeChild(const std::string &program, std::vector<std::string> words,
                              const std::string &errors) {
  const int nowhere = open("/dev/null", O_WRONLY);
  const int file = open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (nowhere >= 0)
    dup2(nowhere, STDOUT_FILENO);
  if (file >= 0)
    dup2(file, STDERR_FILENO);
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  _exit(127);
}

// The compiler's own error and its notes; they are escaped already.
Error compilerError(const std::string &model, const std::string &errors) {
  std::string text(kMostErrorBytes, '\0');
  FILE *file = fopen(errors.c_str(), "rb");
  text.resize(file ? fread(text.data(), 1, text.size(), file) : 0);
  if (file)
    fclose(file);
  std::istringstream lines(text);
  Error error = errorAt(model, "", "found a model that cannot be compiled, expected one that can");
  bool isFirst = true;
  for (std::string line; std::getline(lines, line);) {
    const bool isError = line.find("error: ") != line.npos,
               isNote = line.find("note: ") != line.npos;
    if (isFirst && isError)
      error.message = line;
    else if (isError || isNote)
      error.notes.push_back(line);
    isFirst = isFirst && !isError;
  }
  return error;
}

Status runCompiler(const std::string &model, const std::string &program,
                   std::vector<std::string> words, const std::string &errors) {
  const pid_t child = fork();
  if (!child)
    becomeChild(program, std::move(words), errors);
  const EndOnSignal guard(child);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (child < 0)
    return errorAt(program, "", std::string("cannot be started: ") + strerror(errno));
  if (WIFEXITED(status) && !WEXITSTATUS(status))
    return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    return errorAt(
        program, "",
        "found no program to start, expected the compiler beside llmc, which a model that "
        "is not compiled needs; build llmc with -DLLMC_BUILD_COMPILER=ON");
  return compilerError(model, errors);
}

} // namespace

Result<LoadedModel> compileAndLoad(const ModelOptions &options, uint32_t longest) {
  TemporaryFolder folder;
  if (Status status = folder.make(); !status)
    return status.takeError();
  const std::string compiler = compilerPath();
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "compiling %s to float32\n", escaped(options.path).c_str());
  if (Status status =
          runCompiler(options.path, compiler,
                      {compiler, "compile", options.path, "-o", folder.file(), "--quant", "f32",
                       "--kv", "f32", "--no-tokenizer", "--max-seq", std::to_string(longest)},
                      folder.errors());
      !status)
    return status.takeError();
  ModelOptions compiled = options;
  compiled.path = folder.file();
  Result<LoadedModel> loaded = loadModel(compiled, nullptr);
  if (loaded)
    loaded->path = options.path;
  return loaded;
}

} // namespace llmc::tool
