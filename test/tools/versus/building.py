# SPDX-License-Identifier: Apache-2.0
"""Fetching, unpacking and building the peers, with pip and cmake replaced. Run by versus.test with the
folder of tools/versus."""

import io
import os
import sys
import tarfile
import tempfile
import unittest
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path

SOURCE = sys.argv.pop(1)
sys.path.insert(0, SOURCE)
import peers  # noqa: E402
from errors import VersusError  # noqa: E402
from machine import describe, features_in  # noqa: E402
from patches import WholeFile  # noqa: E402

CMAKE = """#!/bin/sh
echo "cmake $*"
[ "$1" = -S ] && { mkdir -p "$4/bin"; exit 0; }
cd "$2/bin" && for program in llama-bench llama-batched-bench llama-quantize; do echo > $program; done
exit STATUS
"""


class Building(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.cache = Path(scratch.name) / "cache"
        self.tools = Path(scratch.name) / "tools"
        self.tools.mkdir()
        path = os.environ["PATH"]
        self.addCleanup(lambda: os.environ.update(PATH=path))
        os.environ["PATH"] = f"{self.tools}:{path}"
        self.tool("ninja", "#!/bin/sh\n")
        self.tool("c++", "#!/bin/sh\n")
        self.tool("cmake", CMAKE.replace("STATUS", "0"))

    def tool(self, name, text):
        (self.tools / name).write_text(text)
        (self.tools / name).chmod(0o755)

    def peer(self, members=("CMakeLists.txt", "common/build-info.cpp.in", ".git")):
        """A source package in the cache, as if it had been downloaded."""
        path = self.cache / "sdist" / peers.IK_LLAMA_CPP.archive
        path.parent.mkdir(parents=True)
        base = path.name[:-len(".tar.gz")] + "/vendor/ik_llama.cpp/"
        with tarfile.open(path, "w:gz") as tar:
            for name in members:
                tar.addfile(tarfile.TarInfo(base + name), io.BytesIO())
        return replace(peers.IK_LLAMA_CPP, sha256=peers.sha256_of(path))

    def build(self, peer, level="avx2"):
        with redirect_stderr(io.StringIO()):
            return peers.build(peer, level, self.cache, 1)

    def log(self, peer, level="avx2"):
        return self.cache / f"ik_llama.cpp-{peer.version}" / level / "build.log"

    def test_builds_once(self):
        peer = self.peer()
        programs = self.build(peer)
        self.assertTrue((programs / "llama-bench").exists())
        text = self.log(peer).read_text()
        self.assertIn("-DGGML_NATIVE=OFF", text)
        self.assertIn("-DGGML_AVX512=OFF", text)
        self.assertIn("-DGGML_AVX2=ON", text)
        self.log(peer).write_text("")
        self.assertEqual(self.build(peer), programs)
        self.assertEqual(self.log(peer).read_text(), "")

    def test_other_options_build_again(self):
        peer = self.peer()
        self.build(peer)
        self.log(peer).write_text("")
        self.build(replace(peer, options=("-DOTHER=ON",)))
        self.assertIn("-DOTHER=ON", self.log(peer).read_text())

    def test_other_patches_begin_with_the_package_again(self):
        peer = self.peer()
        self.build(peer)
        self.build(replace(peer, patches=(WholeFile("new", "text"),)))
        source = self.cache / f"ik_llama.cpp-{peer.version}" / "source"
        self.assertEqual((source / "new").read_text(), "text")
        self.assertFalse((source / peers.BUILD_INFO.path).exists())

    def test_the_missing_script_is_there(self):
        peer = self.peer()
        self.build(peer)
        source = self.cache / f"ik_llama.cpp-{peer.version}" / "source"
        self.assertIn("LLAMA_COMMIT", (source / peers.BUILD_INFO.path).read_text())
        self.assertFalse((source / ".git").exists())

    def test_a_patch_without_its_place_is_refused(self):
        peer = replace(self.peer(), patches=(peers.AMX_READS,))
        with self.assertRaisesRegex(VersusError, "mmq.cpp: found 0 places .*, expected one"):
            self.build(peer)

    def test_a_failed_build_names_its_log_and_is_tried_again(self):
        peer = self.peer()
        self.tool("cmake", CMAKE.replace("STATUS", "3"))
        for _ in range(2):
            with self.assertRaisesRegex(VersusError, "avx2/build.log: building ik_llama.cpp failed"):
                self.build(peer)
        self.tool("cmake", CMAKE.replace("STATUS", "0"))
        self.build(peer)

    def test_without_a_network_the_package_is_named(self):
        self.addCleanup(setattr, sys, "executable", sys.executable)
        self.tool("python", "#!/bin/sh\necho 'no route to host' >&2\nexit 1\n")
        sys.executable = str(self.tools / "python")
        with self.assertRaisesRegex(VersusError, r"could not download ik-llama-cpp-python==.*no "
                                                 r"route to host.*or put ik_llama.*into .*sdist"):
            self.build(replace(peers.IK_LLAMA_CPP, sha256="0"))

    def test_another_package_of_that_name_is_refused(self):
        self.addCleanup(setattr, sys, "executable", sys.executable)
        archive = peers.IK_LLAMA_CPP.archive
        # The folder is the argument before the last.
        self.tool("python", f'#!/bin/bash\necho other > "${{@: -2:1}}/{archive}"\n')
        sys.executable = str(self.tools / "python")
        with self.assertRaisesRegex(VersusError, "found SHA-256 .*, expected 0"):
            self.build(replace(peers.IK_LLAMA_CPP, sha256="0"))
        self.assertFalse((self.cache / "sdist" / archive).exists())

    def test_a_package_without_the_sources_is_refused(self):
        with self.assertRaisesRegex(VersusError, "found no .*CMakeLists.txt, expected the sources"):
            self.build(self.peer(("README.md",)))


class Machine(unittest.TestCase):
    def test_features(self):
        self.assertEqual(features_in("CPU : SSE3 = 1 | AVX2 = 1 | AMX_INT8 = 0 | REPACK = 1 | "),
                         ["SSE3", "AVX2", "REPACK"])
        self.assertEqual(features_in("AVX = 1 | NEON = 0 | "), ["AVX"])

    def test_amx_is_told_where_the_processor_has_it(self):
        machine = {"processor": "P", "processors": 2, "amx": True,
                   "peers": {"a": ["AMX_INT8"], "b": ["AVX2"]}}
        self.assertEqual(describe(machine).splitlines(), [
            "P, 2 processors", "a: AMX_INT8, with AMX",
            "b: AVX2, without the AMX that the processor has"])
        self.assertNotIn("AMX the", describe({**machine, "amx": False}))


if __name__ == "__main__":
    unittest.main()
