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

CompileRequest compileRequestOf(const tool::ExplainOptions &options) {
  CompileRequest request;
  request.input = options.path;
  for (auto [given, option] : {std::pair(&options.quant, &request.pipeline.quant),
                               std::pair(&options.kv, &request.pipeline.kv),
                               std::pair(&options.target, &request.pipeline.target)})
    if (!given->empty())
      *option = *given;
  request.maxSequence = options.maxSequence;
  return request;
}

Status run(const tool::ExplainOptions &options) {
  Result<tool::ExplainedModel> model = explainedModel(compileRequestOf(options));
  if (!model)
    return model.takeError();
  return tool::explain(*model, options);
}

} // namespace

void llmc::addExplainCommand(CLI::App &app, int &status) {
  auto options = std::make_shared<tool::ExplainOptions>();
  CLI::App *command = app.add_subcommand("explain", "Say what each step of a model costs");
  tool::declareExplainOptions(*command, *options);
  command->final_callback([options, &status] {
    Status ran = run(*options);
    if (!ran)
      std::fprintf(stderr, "%s\n", ran.error().str().c_str());
    status = ran ? 0 : 1;
  });
}
