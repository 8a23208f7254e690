// SPDX-License-Identifier: Apache-2.0
//
// llmc explain of a model that is not compiled: its regions' costs after the schedule stage, its
// memory after the memory stage.
#include "mlir/IR/MLIRContext.h"
#include "passes/codegen/artifact/ReadTables.h"
#include "passes/cost/CostTable.h"
#include "tools/llmc-opt/Registration.h"
#include "tools/llmc/CommandLineExplain.h"
#include "tools/llmc/compiler/Commands.h"
#include "tools/llmc/compiler/Compilation.h"
#include "tools/llmc/compiler/Diagnostics.h"
#include <cstdio>

namespace {

using namespace llmc;

struct Request {
  tool::ExplainOptions options;
  CompileRequest compile;
};

Result<artifact::Tables> tablesOf(mlir::MLIRContext &context, const CompileRequest &request) {
  Result<mlir::OwningOpRef<mlir::ModuleOp>> module = buildUpTo(context, request, "memory");
  if (!module)
    return module.takeError();
  DiagnosticCollector diagnostics(context);
  mlir::FailureOr<artifact::Tables> tables = artifact::readTables(**module);
  if (mlir::failed(tables))
    return diagnostics.error("the module has no command tables");
  return std::move(*tables);
}

Result<tool::ExplainedModel> explainedModel(const CompileRequest &request) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  tool::ExplainedModel model;
  model.path = request.input;
  {
    Result<mlir::OwningOpRef<mlir::ModuleOp>> module = buildUpTo(context, request, "schedule");
    if (!module)
      return module.takeError();
    model.regions = regionTerms(**module);
  }
  Result<artifact::Tables> tables = tablesOf(context, request);
  if (!tables)
    return tables.takeError();
  model.memory = {tables->weightsBytes, tables->rowsArenaBytes, tables->outputsArenaBytes,
                  tables->chunkBytes};
  model.maxPositions = uint32_t(tables->limits.maxPositions);
  return model;
}

Status run(const Request &request) {
  Result<tool::ExplainedModel> model = explainedModel(request.compile);
  if (!model)
    return model.takeError();
  return tool::explain(*model, request.options);
}

/// The options of llmc compile that change what a step costs.
void declareCompileOptions(CLI::App &command, CompileRequest &request) {
  command.add_option("--quant", request.pipeline.quant, "as for llmc compile, not for a model.so")
      ->capture_default_str();
  command.add_option("--kv", request.pipeline.kv, "the same");
  command.add_option("--target", request.pipeline.target, "the same")->capture_default_str();
  command.add_option("--max-seq", request.maxSequence, "longest sequence, in tokens, the same")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 24).description(""));
}

} // namespace

void llmc::addExplainCommand(CLI::App &app, int &status) {
  auto request = std::make_shared<Request>();
  CLI::App *command = app.add_subcommand("explain", "Say what each step of a model costs");
  tool::declareExplainOptions(*command, request->options);
  declareCompileOptions(*command, request->compile);
  command->final_callback([request, &status] {
    request->compile.input = request->options.path;
    Status ran = run(*request);
    if (!ran)
      std::fprintf(stderr, "%s\n", ran.error().str().c_str());
    status = ran ? 0 : 1;
  });
}
