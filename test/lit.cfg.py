# SPDX-License-Identifier: Apache-2.0
"""lit's view of test/: every .mlir and .test file with a RUN line, with llmc's tools from the build tree and FileCheck, not and
split-file from LLVM's. GoogleTest programs are ctest's own. Run by ctest as `lit`, or by hand: lit BUILD/test/passes/graph."""

import os

import lit.formats

config.name = "llmc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)

# Inputs beside tests: files that a RUN line of another file names.
config.excludes = ["Inputs"]

config.environment["PATH"] = os.pathsep.join([config.llmc_tools, config.llvm_tools, config.environment["PATH"]])
config.environment["FILECHECK_OPTS"] = "--dump-input-filter=error --dump-input-context=3"

config.substitutions.append(("%python", f"{config.python} -B"))
config.substitutions.append(("%source", os.path.dirname(config.test_source_root)))

# Decisions on stderr: `opt %remarks` prints every remark of every pass as a diagnostic.
config.substitutions.append(("%remarks", "--remark-format=emitRemark --remarks-filter=llmc-.*"))
