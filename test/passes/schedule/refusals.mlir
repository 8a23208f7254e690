// What `force` refuses, each with what was found and what is expected.
//
// RUN: not llmc-opt %s --llmc-set-schedule="force=speed=9" 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not llmc-opt %s --llmc-set-schedule="force=chunk=fast" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not llmc-opt %s --llmc-set-schedule="force=chunk" 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not llmc-opt %s --llmc-set-schedule="force=draft:linear:chunk=2" 2>&1 | FileCheck %s --check-prefix=GRAPH
// RUN: not llmc-opt %s --llmc-set-schedule="force=attention:chunk=2" 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not llmc-opt %s --llmc-set-schedule="force=verify:chunk=2" 2>&1 | FileCheck %s --check-prefix=NOVERIFY
// RUN: not llmc-opt %s --llmc-set-schedule="force=decode:k_split=2" 2>&1 | FileCheck %s --check-prefix=TREE
// RUN: not llmc-opt %s --llmc-set-schedule="force=row_tile=17" 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not llmc-opt %s --llmc-set-schedule="force=k_split=0" 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: not llmc-opt %s --llmc-set-schedule="target=abacus" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: echo "module {}" | llmc-opt --llmc-set-schedule | FileCheck %s --check-prefix=EMPTY
// RUN: echo "module {}" | not llmc-opt --llmc-set-schedule="force=chunk=2" 2>&1 | FileCheck %s --check-prefix=EMPTYFORCED

// FIELD: error: schedule 'speed=9': expected [graph:][kind or region:]field=number, with field one of lanes, k_split, kv_chunk, row_tile, panels, across, k_tile, chunk
// NUMBER: error: schedule 'chunk=fast': expected [graph:][kind or region:]field=number
// VALUE: error: schedule 'chunk': expected [graph:][kind or region:]field=number
// GRAPH: error: schedule 'draft:linear:chunk=2': 'draft' is no graph, expected prefill, decode or verify
// NOTHING: error: schedule 'attention:chunk=2' matches no region; kinds are row_wise, linear, rope_append, attention, verify
// NOVERIFY: error: schedule 'verify:chunk=2' matches no region
// TREE: error: schedule 'decode:k_split=2': k_split fixes a reduction tree, which is the same in every graph; leave the graph out
// RANGE: error: schedule field row_tile is 17, expected 1 to 16
// LEAST: error: schedule field k_split is 0, expected 1 to 64
// TARGET: error: {{.*}}abacus
// EMPTY: module
// EMPTYFORCED: error: schedule 'chunk=2' matches no region

llm.weight @w : !llm.weight<96x64xf32> from ["w"]

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x96xf32> attributes {llm.graph = "decode"} {
  %y = llm.fused "w" {
    %0 = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x96xf32>
    llm.yield %0 : tensor<?x96xf32>
  } : tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}
