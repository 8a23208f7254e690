// SPDX-License-Identifier: Apache-2.0
// The weights of a model compiled with --weights=separate: found beside the model, checked against
// it, mapped read-only.
#include "runtime/engine/Error.h"
#include "runtime/engine/Model.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace llmc {
namespace {

using ull = unsigned long long;

// The path of the weights file, or false when it is no plain name or too long.
bool weightsPath(const char *modelPath, const char *given, const char *name, char *path,
                 size_t capacity) {
  int length;
  if (given) {
    length = snprintf(path, capacity, "%s", given);
  } else {
    if (!*name || strchr(name, '/'))
      return false;
    const char *slash = modelPath ? strrchr(modelPath, '/') : nullptr;
    const int folder = slash ? static_cast<int>(slash - modelPath) + 1 : 0;
    length = snprintf(path, capacity, "%.*s%s", folder, modelPath ? modelPath : "", name);
  }
  return length >= 0 && static_cast<size_t>(length) < capacity;
}

llmc_status checkAndMap(llmc_model &model, const char *path, int descriptor, llmc_error *error) {
  const llmc_artifact &artifact = *model.artifact;
  const Escaped file(path);
  struct stat status;
  const uint64_t expected = LLMC_WEIGHTS_FILE_HEADER + artifact.weights_bytes;
  if (fstat(descriptor, &status) || !S_ISREG(status.st_mode) ||
      static_cast<uint64_t>(status.st_size) != expected)
    return fail(error, LLMC_BAD_ARTIFACT,
                "%s: error: found %llu bytes, expected %llu; the file is cut short or belongs to "
                "another model",
                file.text(), static_cast<ull>(status.st_size), static_cast<ull>(expected));
  uint64_t header[2];
  if (pread(descriptor, header, sizeof header, 0) != static_cast<ssize_t>(sizeof header))
    return fail(error, LLMC_NOT_FOUND, "%s: error: cannot be read: %s", file.text(),
                strerror(errno));
  if (header[0] != artifact.weights_hash || header[1] != artifact.weights_bytes)
    return fail(
        error, LLMC_BAD_ARTIFACT,
        "%s: header: error: found hash %016llx of %llu bytes, expected %016llx of %llu; the "
        "file belongs to another model, compile both again",
        file.text(), static_cast<ull>(header[0]), static_cast<ull>(header[1]),
        static_cast<ull>(artifact.weights_hash), static_cast<ull>(artifact.weights_bytes));
  void *map = mmap(nullptr, expected, PROT_READ, MAP_SHARED, descriptor, 0);
  if (map == MAP_FAILED)
    return fail(error, LLMC_OUT_OF_MEMORY, "%s: error: cannot be mapped: %s", file.text(),
                strerror(errno));
  model.weightsMap = map;
  model.weightsMapBytes = expected;
  model.weights = static_cast<const char *>(map) + LLMC_WEIGHTS_FILE_HEADER;
  return LLMC_OK;
}

} // namespace

llmc_status mapWeightsFile(llmc_model &model, const char *modelPath, const char *given,
                           llmc_error *error) {
  char path[4352];
  if (!weightsPath(modelPath, given, model.artifact->weights_file, path, sizeof path))
    return fail(error, LLMC_BAD_ARTIFACT,
                "weights file '%s': error: found a name that is empty, too long or has a folder in "
                "it, expected a plain file name; give its path",
                Escaped(model.artifact->weights_file).text());
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return fail(
        error, LLMC_NOT_FOUND,
        "%s: error: cannot be opened: %s; the model was compiled with --weights=separate and "
        "needs this file beside it",
        Escaped(path).text(), strerror(errno));
  const llmc_status status = checkAndMap(model, path, descriptor, error);
  close(descriptor);
  return status;
}

} // namespace llmc
