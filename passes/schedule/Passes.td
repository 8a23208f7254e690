// SPDX-License-Identifier: Apache-2.0
//
// Passes of the `schedule` stage.
#ifndef LLMC_PASSES_SCHEDULE
#define LLMC_PASSES_SCHEDULE

include "mlir/Pass/PassBase.td"

def SetSchedulePass : Pass<"llmc-set-schedule", "::mlir::ModuleOp"> {
  let summary = "writes a schedule on every fused region";
  let description = [{
    Asks the target for each region that has none; a schedule that is there (set by hand) is kept. `force` overrides single fields:
    `[graph:][kind or region name:]field=value`, several separated by commas. Refuses: a field that does not exist, a value
    out of range, a selector that matches nothing, and fields that fix a reduction tree forced for some graphs only.

    ```mlir
    llm.fused "layers.0.o" { ... }
    // becomes
    llm.fused "layers.0.o" schedule <row_tile = 2, k_tile = 8> { ... }
    ```
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu:native\"", "target to schedule for">,
                 Option<"force", "force", "std::string", "\"\"", "fields forced by the user">];
  let dependentDialects = ["::llmc::llm::LLMDialect"];
}

#endif
