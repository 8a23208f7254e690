// SPDX-License-Identifier: Apache-2.0
// Scratch folder, lld's arguments and messages, and the localising of symbols.
#include "passes/codegen/artifact/Link.h"
#include "passes/codegen/artifact/ScratchFolder.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

namespace llmc::artifact {
namespace {

constexpr const char *kLinkedName = "linked";

Error linkError(const std::string &output, llvm::StringRef messages, const std::string &folder) {
  std::string text = messages.str();
  for (size_t at; (at = text.find(folder + "/")) != std::string::npos;)
    text.erase(at, folder.size() + 1);
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  llvm::StringRef first = lines.empty() ? llvm::StringRef("no message") : lines.front();
  first.consume_front("ld.lld: ");
  first.consume_front("error: ");
  Error error = errorAt(output, "link", escaped(std::string_view(first.data(), first.size())));
  for (llvm::StringRef line : llvm::ArrayRef(lines).drop_front(lines.empty() ? 0 : 1).take_front(8))
    error.notes.push_back("note: " + escaped(std::string_view(line.data(), line.size())));
  return error;
}

// lld's state is global: one link at a time, and none after a crash inside it.
Status runLinker(const std::string &output, const std::vector<std::string> &arguments,
                 const std::string &folder) {
  static std::mutex mutex;
  static bool canRun = true;
  std::lock_guard<std::mutex> lock(mutex);
  if (!canRun)
    return errorAt(
        output, "link",
        "found a linker that crashed in an earlier link of this process, expected to link again; "
        "start llmc anew");
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(pointers, llvm::nulls(), stream, {{lld::Gnu, &lld::elf::link}});
  canRun = result.canRunAgain;
  if (result.retCode)
    return linkError(output, messages, folder);
  return {};
}

Result<std::string> link(const LinkRequest &request, std::vector<std::string> arguments,
                         const std::string &versionScript) {
  Result<ScratchFolder> folder = ScratchFolder::make(folderOf(request.output));
  if (!folder)
    return folder.takeError();
  const std::string output = folder->path(kLinkedName);
  arguments.insert(arguments.begin(), {"ld.lld", "--threads=1", "--build-id=none",
                                       "--color-diagnostics=never", "-o", output});
  if (!versionScript.empty()) {
    Result<std::string> script = folder->write("exports", versionScript);
    if (!script)
      return script.takeError();
    arguments.push_back("--version-script=" + *script);
  }
  for (const LinkInput &object : request.objects) {
    Result<std::string> path = folder->write(object.name, object.bytes);
    if (!path)
      return path.takeError();
    arguments.push_back(*path);
  }
  if (Status status = runLinker(request.output, arguments, folder->path()); !status)
    return status.takeError();
  return folder->read(kLinkedName);
}

Error objectError(const std::string &output, llvm::Error error) {
  return errorAt(output, "link",
                 "found an object that cannot be read: " +
                     escaped(llvm::toString(std::move(error))));
}

// lld -r leaves undefined symbols alone; the user's link would be the first to miss them.
Status checkDefined(const LinkRequest &request, const llvm::object::ObjectFile &object) {
  for (const llvm::object::SymbolRef &symbol : object.symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name)
      return objectError(request.output, llvm::joinErrors(flags.takeError(), name.takeError()));
    if (*flags & llvm::object::SymbolRef::SF_Undefined && !name->empty())
      return errorAt(request.output, "link", "undefined symbol: " + escaped(name->str()));
  }
  return {};
}

Result<std::string> localise(const LinkRequest &request, llvm::object::Binary &object) {
  llvm::objcopy::ConfigManager config;
  auto pattern =
      llvm::objcopy::NameOrPattern::create(request.exported, llvm::objcopy::MatchStyle::Literal,
                                           [](llvm::Error error) { return error; });
  if (!pattern)
    return objectError(request.output, pattern.takeError());
  if (llvm::Error error = config.Common.SymbolsToKeepGlobal.addMatcher(std::move(pattern)))
    return objectError(request.output, std::move(error));
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  if (llvm::Error error = llvm::objcopy::executeObjcopyOnBinary(config, object, stream))
    return objectError(request.output, std::move(error));
  return std::string(bytes.data(), bytes.size());
}

} // namespace

Result<std::string> linkSharedObject(const LinkRequest &request) {
  std::vector<std::string> arguments = {"-shared",
                                        "--gc-sections",
                                        "--hash-style=gnu",
                                        "-z",
                                        "relro",
                                        "-z",
                                        "now",
                                        "-z",
                                        "lrodata-after-bss",
                                        "-z",
                                        request.allowUndefined ? "undefs" : "defs"};
  return link(request, std::move(arguments), "{ global: " + request.exported + "; local: *; };\n");
}

Result<std::string> linkRelocatable(const LinkRequest &request) {
  Result<std::string> bytes = link(request, {"-r"}, "");
  if (!bytes)
    return bytes;
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> object =
      llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(*bytes, "model.o"));
  if (!object)
    return objectError(request.output, object.takeError());
  if (!request.allowUndefined)
    if (Status status = checkDefined(request, **object); !status)
      return status.takeError();
  return localise(request, **object);
}

} // namespace llmc::artifact
