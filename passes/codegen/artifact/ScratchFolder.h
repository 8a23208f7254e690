// SPDX-License-Identifier: Apache-2.0
// A folder for a link's files, removed with everything in it when it goes out of scope.
#pragma once

#include "dialects/model/Error.h"

#include <string>
#include <string_view>
#include <vector>

namespace llmc::artifact {

// The folder part of a path: "." where it names none.
std::string folderOf(const std::string &path);

class ScratchFolder {
public:
  // A fresh folder inside `parent`.
  static Result<ScratchFolder> make(const std::string &parent);
  ScratchFolder(ScratchFolder &&other) noexcept;
  ScratchFolder(const ScratchFolder &) = delete;
  ~ScratchFolder();

  const std::string &path() const { return folder; }
  std::string path(const std::string &name) const { return folder + "/" + name; }
  // Writes a file and gives its path.
  Result<std::string> write(const std::string &name, std::string_view bytes);
  Result<std::string> read(const std::string &name) const;

private:
  explicit ScratchFolder(std::string folder) : folder(std::move(folder)) {}
  std::string folder;
};

} // namespace llmc::artifact
