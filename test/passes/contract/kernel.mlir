// RUN: llmc-opt %s --llmc-verify-contract="stage=kernel" --split-input-file --verify-diagnostics

// expected-error @+1 {{contract of stage kernel: every kernel is a function of the target}}
tile.kernel @fill(%step: !tile.step, %y: !tile.view<?x64xf32>) { tile.return }
