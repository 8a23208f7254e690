// SPDX-License-Identifier: Apache-2.0
//
// Where remarks go. One YAML document a remark, in the form that LLVM's opt-viewer family reads.
#include "tools/llmc/compiler/Remarks.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Remarks.h"
#include "tools/llmc/compiler/StageOutput.h"

using namespace mlir;

namespace {

/// "llmc-fuse-gate-up:layers.0.gate_up" -> "layers.0.gate_up"
std::string remarkSubject(StringRef category) { return category.split(':').second.str(); }

class Streamer : public remark::detail::MLIRRemarkStreamerBase {
public:
  Streamer(std::string file, bool verbose) : file(std::move(file)), verbose(verbose) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string message;
    for (const auto &argument : remark.getArgs())
      message += (message.empty() ? "" : ", ") + argument.val;
    StringRef graph = remark.getFunction(); // "<unknown function>" outside graphs
    std::string place = (graph.starts_with("<") ? "" : graph.str() + ": ") + remarkSubject(remark.getCombinedCategoryName());
    llvm::raw_string_ostream stream(text);
    stream << "--- !" << remark.getRemarkTypeString() << "\nPass: " << remark.getRemarkName()
           << "\nName: '" << remarkSubject(remark.getCombinedCategoryName()) << "'\nFunction: '" << (graph.starts_with("<") ? "" : graph)
           << "'\nMessage: '";
    for (char c : message)
      stream << (c == '\'' ? "''" : std::string(1, c));
    stream << "'\n...\n";
    if (verbose)
      llvm::errs() << "remark: " << place << ": " << message << " [" << remark.getRemarkName() << "]\n";
  }

  void finalize() override {
    if (file.empty())
      return;
    if (llmc::Status written = llmc::writeText(file, text); !written.ok())
      llvm::errs() << written.error().str() << "\n";
    file.clear();
  }

private:
  std::string file, text;
  bool verbose;
};

} // namespace

llmc::Status llmc::installRemarks(MLIRContext &context, const std::string &file, bool verbose) {
  if (file.empty() && !verbose)
    return {};
  remark::RemarkCategories all;
  all.passed = all.missed = all.analysis = all.failed = ".*"; // each by itself: MLIR makes filters only for what is set
  if (failed(remark::enableOptimizationRemarks(context, std::make_unique<Streamer>(file, verbose),
                                               std::make_unique<remark::RemarkEmittingPolicyAll>(), all)))
    return errorAt("--remarks", "", "the remark engine could not be installed");
  return {};
}
