// SPDX-License-Identifier: Apache-2.0
// A file that appears whole or not at all: written under a temporary name beside its place, renamed
// by commit(), removed otherwise, also where a signal ends the program.
#pragma once

#include "dialects/model/Error.h"
#include "tools/llmc/RemoveOnSignal.h"
#include <cstdio>
#include <optional>

namespace llmc::tool {

class NewFile {
public:
  explicit NewFile(std::string path) : path(std::move(path)) {}
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;
  ~NewFile();

  Status open();
  Status write(const void *data, size_t size);
  Status commit();

private:
  Error failed(const char *what, int code) const;

  std::string path;
  std::string temporary;
  std::optional<RemoveOnSignal> guard;
  FILE *file = nullptr;
};

Status writeWholeFile(const std::string &path, std::string_view text);

} // namespace llmc::tool
