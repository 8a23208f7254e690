# SPDX-License-Identifier: Apache-2.0
"""Tests of the plug-in: lit -D plugin=FILE -D scratch=FOLDER -D path=FOLDERS. `path` finds llmc-opt and FileCheck."""

import os

import lit.formats

config.name = "write-a-pass"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["scratch"]
config.environment["PATH"] = lit_config.params["path"]
config.substitutions.append(("%plugin", lit_config.params["plugin"]))
