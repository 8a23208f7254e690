// SPDX-License-Identifier: Apache-2.0
// Links twice: once with hashes of zero to learn the layout, then, when the weights have been
// streamed to their place and their hashes are known, once more for the bytes around them.
#include "passes/codegen/artifact/Artifact.h"
#include "passes/codegen/artifact/FilePlan.h"
#include "passes/codegen/artifact/Link.h"
#include "passes/codegen/artifact/OutputFile.h"
#include "passes/codegen/artifact/Seal.h"

#include <algorithm>
#include <chrono>

namespace llmc::artifact {
namespace {

constexpr size_t kMaxNameBytes = 64;
constexpr uint64_t kRoomForLink = 16u << 20; // scratch files of the link

bool endsWith(const std::string &text, std::string_view end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string fileName(const std::string &path) { return path.substr(path.rfind('/') + 1); }

bool isIdentifier(const std::string &name) {
  auto isLetter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return name.size() <= kMaxNameBytes && isLetter(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); });
}

class Writer {
public:
  explicit Writer(const ArtifactRequest &request) : request(request), tables(request.tables) {
    if (request.weightsSeparate && tables.weightsBytes)
      weightsPath = request.path + ".weights";
  }

  Result<ArtifactSummary> write();

private:
  Status check() const;
  Result<FilePlan> plan(const PackReport &report);
  Result<PackReport> streamWeights(OutputFile &file, uint64_t offset);
  Status writeModel(OutputFile &file, const FilePlan &plan);
  Result<ArtifactSummary> writeInside(const FilePlan &layout);
  Result<ArtifactSummary> writeSeparate(const FilePlan &layout);
  OutputOptions outputOptions(bool executable) const {
    return {executable, request.removeOnSignal};
  }
  ArtifactSummary summary(const FilePlan &plan, const PackReport &report) const;
  WeightsPlace weightsPlace() const {
    if (!tables.weightsBytes || !weightsPath.empty())
      return WeightsPlace::None;
    return request.kind == ArtifactKind::SharedObject ? WeightsPlace::LastSegment
                                                      : WeightsPlace::LargeSection;
  }
  bool isShared() const { return request.kind == ArtifactKind::SharedObject; }

  const ArtifactRequest &request;
  const Tables &tables;
  std::string weightsPath; // of a separate file, else empty
  uint64_t codeBytes = 0;
  double packSeconds = 0;
};

Status Writer::check() const {
  if (!request.name.empty() && !isIdentifier(request.name))
    return errorAt("--name", "",
                   "found '" + escaped(request.name) + "', expected a C identifier of at most " +
                       std::to_string(kMaxNameBytes) + " letters, digits and underscores");
  if (request.levels.empty() || tables.graphs.empty())
    return errorAt(request.path, "",
                   "found " + std::to_string(request.levels.size()) +
                       " instruction set levels and " + std::to_string(tables.graphs.size()) +
                       " graphs, expected at least one of each");
  const uint64_t modelBytes =
      weightsPath.empty() ? tables.weightsBytes + kRoomForLink : kRoomForLink;
  const uint64_t largest =
      weightsPath.empty() ? modelBytes
                          : std::max(modelBytes, tables.weightsBytes + LLMC_WEIGHTS_FILE_HEADER);
  if (Status status = checkRoom(request.path, tables.weightsBytes + kRoomForLink, largest); !status)
    return status;
  return checkSources(tables, request.weights);
}

Result<FilePlan> Writer::plan(const PackReport &report) {
  const std::string weightsFile = weightsPath.empty() ? "" : fileName(weightsPath);
  Result<std::string> manifest =
      buildManifest(tables, request.levels, request.name, weightsFile, request.manifest, report);
  if (!manifest)
    return manifest.takeError();
  const ObjectRequest object = {tables,    report.hashes, request.levels, request.name,
                                *manifest, weightsFile,   request.tokenizer, weightsPlace(), isShared()};
  Result<std::string> tablesObject = writeTablesObject(object);
  if (!tablesObject)
    return tablesObject.takeError();
  LinkRequest link = {{{"tables.o", *tablesObject}},
                      querySymbol(request.name),
                      request.path,
                      request.allowUndefined};
  for (size_t i = 0; i < request.levels.size(); ++i)
    for (size_t part = 0; part < request.levels[i].objects.size(); ++part)
      link.objects.push_back({"kernels-" + std::to_string(i) + "-" + std::to_string(part) + ".o", request.levels[i].objects[part]});
  link.objects.push_back({"executor.o", request.executor});
  Result<std::string> linked = isShared() ? linkSharedObject(link) : linkRelocatable(link);
  if (!linked)
    return linked.takeError();
  codeBytes = executableBytes(*linked);
  const uint64_t inside = weightsPlace() == WeightsPlace::None ? 0 : tables.weightsBytes;
  if (isShared()) {
    Result<FilePlan> planned = planSharedObject(std::move(*linked), inside);
    if (planned)
      if (Status status = seal(*planned); !status)
        return status.takeError();
    return planned;
  }
  Result<FilePlan> planned = planObject(std::move(*linked), inside);
  if (!planned || request.kind == ArtifactKind::Object)
    return planned;
  return planArchive(std::move(*planned), link.exported);
}

Result<PackReport> Writer::streamWeights(OutputFile &file, uint64_t offset) {
  if (Status status = file.seek(offset); !status)
    return status.takeError();
  const auto start = std::chrono::steady_clock::now();
  Result<PackReport> report = packWeights(tables, request.weights, file, request.progress);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  packSeconds = taken.count();
  return report;
}

Status Writer::writeModel(OutputFile &file, const FilePlan &plan) {
  if (Status status = file.seek(0); !status)
    return status;
  if (Status status = file.writeSparse(plan.prefix); !status)
    return status;
  if (Status status = file.seek(plan.prefix.size() + plan.weightsBytes); !status)
    return status;
  if (Status status = file.write(plan.suffix.data(), plan.suffix.size()); !status)
    return status;
  return file.commit(plan.fileBytes());
}

ArtifactSummary Writer::summary(const FilePlan &plan, const PackReport &report) const {
  return {plan.fileBytes(), codeBytes,   tables.weightsBytes, report.hashes.all,
          weightsPath,      packSeconds, report.losses};
}

Status sameLayout(const FilePlan &before, const FilePlan &after) {
  if (before.prefix.size() == after.prefix.size() && before.fileBytes() == after.fileBytes())
    return {};
  return errorAt("link", "",
                 "found a layout of " + std::to_string(after.fileBytes()) + " bytes, expected " +
                     std::to_string(before.fileBytes()) + " as before; this is a fault of llmc");
}

Result<ArtifactSummary> Writer::writeInside(const FilePlan &layout) {
  Result<std::unique_ptr<OutputFile>> file =
      OutputFile::create(request.path, outputOptions(isShared()));
  if (!file)
    return file.takeError();
  Result<PackReport> report = streamWeights(**file, layout.prefix.size());
  if (!report)
    return report.takeError();
  Result<FilePlan> final = plan(*report);
  if (!final)
    return final.takeError();
  if (Status status = sameLayout(layout, *final); !status)
    return status.takeError();
  if (Status status = writeModel(**file, *final); !status)
    return status.takeError();
  return summary(*final, *report);
}

Result<ArtifactSummary> Writer::writeSeparate(const FilePlan &layout) {
  Result<std::unique_ptr<OutputFile>> file =
      OutputFile::create(request.path, outputOptions(isShared()));
  if (!file)
    return file.takeError();
  Result<std::unique_ptr<OutputFile>> weights =
      OutputFile::create(weightsPath, outputOptions(false));
  if (!weights)
    return weights.takeError();
  Result<PackReport> report = streamWeights(**weights, LLMC_WEIGHTS_FILE_HEADER);
  if (!report)
    return report.takeError();
  const uint64_t header[] = {report->hashes.all, tables.weightsBytes};
  if (Status status = (*weights)->seek(0); !status)
    return status.takeError();
  if (Status status = (*weights)->write(header, sizeof header); !status)
    return status.takeError();
  Result<FilePlan> final = plan(*report);
  if (!final)
    return final.takeError();
  if (Status status = sameLayout(layout, *final); !status)
    return status.takeError();
  // The weights come first: a model without them would be half an artefact, they alone are none.
  if (Status status = (*weights)->commit(LLMC_WEIGHTS_FILE_HEADER + tables.weightsBytes); !status)
    return status.takeError();
  if (Status status = writeModel(**file, *final); !status) {
    (*weights)->withdraw();
    return status.takeError();
  }
  return summary(*final, *report);
}

Result<ArtifactSummary> Writer::write() {
  if (Status status = check(); !status)
    return status.takeError();
  Result<FilePlan> layout = plan(emptyReport(tables, request.weights));
  if (!layout)
    return layout.takeError();
  return weightsPath.empty() ? writeInside(*layout) : writeSeparate(*layout);
}

} // namespace

Result<ArtifactKind> kindOf(const std::string &path) {
  if (endsWith(path, ".so"))
    return ArtifactKind::SharedObject;
  if (endsWith(path, ".o"))
    return ArtifactKind::Object;
  if (endsWith(path, ".a"))
    return ArtifactKind::Archive;
  return errorAt(path, "", "found another ending, expected .so (to open), .o or .a (to link)");
}

Result<ArtifactSummary> writeArtifact(const ArtifactRequest &request) {
  return Writer(request).write();
}

} // namespace llmc::artifact
