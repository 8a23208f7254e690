// SPDX-License-Identifier: Apache-2.0
// A file that appears whole or not at all: written under a temporary name in the same folder,
// renamed by commit(), removed otherwise.
#pragma once

#include "passes/codegen/artifact/Pack.h"

#include <memory>
#include <string_view>

namespace llmc::artifact {

// Fails, with both numbers, where the folder's disk or the process's file size limit has no room.
// `diskBytes` are those in all that the disk must hold, `fileBytes` those of the largest file.
Status checkRoom(const std::string &path, uint64_t diskBytes, uint64_t fileBytes);

struct OutputOptions {
  bool executable = false;
  bool removeOnSignal = false; // also when the process is interrupted; installs LLVM's handlers
};

class OutputFile : public ByteSink {
public:
  static Result<std::unique_ptr<OutputFile>> create(const std::string &path, OutputOptions options);
  ~OutputFile() override;

  // The next write goes there.
  Status seek(uint64_t offset);
  Status write(const void *data, size_t size) override;
  // As write, but pages of zeros become holes.
  Status writeSparse(std::string_view bytes);
  // Makes the file exactly `bytes` long and gives it its name.
  Status commit(uint64_t bytes);
  // Removes a file that was committed, where its companion could not be.
  void withdraw();

private:
  OutputFile(std::string path, std::string temporary, int descriptor, bool removeOnSignal);
  Status flush();
  Status writeNow(const char *data, size_t size);
  Error failed(const char *what, int code) const;
  bool close();

  std::string path;
  std::string temporary;
  int descriptor;
  bool removeOnSignal;
  bool committed = false;
  uint64_t position = 0; // of the buffer's first byte
  std::string buffer;
};

} // namespace llmc::artifact
