# SPDX-License-Identifier: Apache-2.0
"""The engines llmc is measured against: where their sources are, and how they are built.

Sources are the PyPI source packages of their Python bindings, checked by SHA-256. Everything lies
in a cache folder outside the repository: CACHE/NAME-VERSION/source and CACHE/NAME-VERSION/LEVEL.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from errors import VersusError
from patches import AMX_READS, BUILD_INFO, OTHER_HEADS


@dataclass(frozen=True)
class Peer:
    name: str
    package: str
    version: str
    sha256: str
    options: tuple = ()  # of CMake, besides those of all
    patches: tuple = ()

    @property
    def requirement(self):
        return f"{self.package}=={self.version}"

    @property
    def archive(self):
        return f"{self.package.replace('-', '_')}-{self.version}.tar.gz"


LLAMA_CPP = Peer(
    "llama.cpp", "llama-cpp-python", "0.3.36",
    "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e",
    patches=(AMX_READS,),
)
IK_LLAMA_CPP = Peer(
    "ik_llama.cpp", "ik-llama-cpp-python", "0.1.5",
    "33c67eb99e4dcab5e611050433243815709b8b3067753f9ce18375013cf002ad",
    # Leaves out key/value types that nothing here uses, and with them 20 minutes of building.
    ("-DGGML_IQK_FA_ALL_QUANTS=OFF",),
    (BUILD_INFO, *OTHER_HEADS),
)
PEERS = {peer.name: peer for peer in (LLAMA_CPP, IK_LLAMA_CPP)}

TARGETS = ("llama-bench", "llama-batched-bench", "llama-quantize")
OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release", "-DLLAMA_CURL=OFF", "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_SERVER=OFF",
)
AVX2 = ("SSE42", "AVX", "AVX2", "BMI2", "FMA", "F16C")
AVX512 = ("AVX512", "AVX512_VBMI", "AVX512_VNNI", "AVX512_BF16")
REST = ("AVX_VNNI", "AMX_TILE", "AMX_INT8", "AMX_BF16")


def switches(on, off):
    return ("-DGGML_NATIVE=OFF", *(f"-DGGML_{name}=ON" for name in on),
            *(f"-DGGML_{name}=OFF" for name in off))


# Of each level: CMake's options for the peers, and llmc's --target.
LEVELS = {
    "native": (("-DGGML_NATIVE=ON",), "cpu:native"),
    "avx512": (switches(AVX2 + AVX512, REST), "cpu:x86-64-v4+vnni+bf16"),
    "avx2": (switches(AVX2, AVX512 + REST), "cpu:x86-64-v3"),
}


def sha256_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch(peer, cache):
    """The archive, downloaded unless it is there."""
    path = cache / "sdist" / peer.archive
    if path.exists() and sha256_of(path) == peer.sha256:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    print(f"fetching {peer.requirement}", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check",
                   "--no-deps", "--no-binary", peer.package, "-d", scratch, peer.requirement]
        result = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        found = Path(scratch) / peer.archive
        if result.returncode or not found.exists():
            last = (result.stderr.strip().splitlines() or ["pip said nothing"])[-1]
            raise VersusError(f"could not download {peer.requirement} ({last}), expected a machine "
                              f"that reaches PyPI and has python3 -m pip; or put {peer.archive} "
                              f"into {path.parent}")
        if (digest := sha256_of(found)) != peer.sha256:
            raise VersusError(f"{peer.archive}: found SHA-256 {digest}, expected {peer.sha256}")
        found.replace(path)
    return path


def patches_json(peer):
    return json.dumps([vars(patch) for patch in peer.patches])


def unpack(peer, archive, folder):
    """vendor/NAME of the archive, patched, becomes `folder`, complete or not at all."""
    mark = folder / "llmc-patches.json"
    if mark.exists() and mark.read_text() == patches_json(peer):
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    prefix = f"{archive.name[:-len('.tar.gz')]}/vendor/{peer.name}/"
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        with tarfile.open(archive) as tar:
            members = [member for member in tar if member.name.startswith(prefix)
                       and member.name != prefix + ".git"]
            safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            tar.extractall(scratch, members, **safe)
        source = Path(scratch) / prefix
        if not (source / "CMakeLists.txt").exists():
            raise VersusError(f"{archive}: found no {prefix}CMakeLists.txt, expected the sources of "
                              f"{peer.name}")
        for patch in peer.patches:
            patch.apply(source)
        (source / mark.name).write_text(patches_json(peer))
        source.rename(folder)


def cpu_flags():
    """What -march=native may depend on."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return " ".join(sorted(line.split(":")[1].split()))
    return ""


def stamp_of(peer, level):
    """What a finished build was made from."""
    stamp = {"options": [*OPTIONS, *peer.options, *LEVELS[level][0]], "sha256": peer.sha256,
             "patches": patches_json(peer)}
    if level == "native":
        stamp["cpu"] = hashlib.sha256(cpu_flags().encode()).hexdigest()
    return json.dumps(stamp, indent=1) + "\n"


def run_logged(command, log):
    with open(log, "a") as file:
        return subprocess.run(command, stdout=file, stderr=subprocess.STDOUT).returncode == 0


def build(peer, level, cache, jobs):
    """The folder of the peer's programs, built unless a build of the same options is there."""
    home = cache / f"{peer.name}-{peer.version}"
    folder, stamp = home / level, stamp_of(peer, level)
    programs, mark, log = folder / "build" / "bin", folder / "stamp.json", folder / "build.log"
    if (mark.exists() and mark.read_text() == stamp
            and all((programs / target).exists() for target in TARGETS)):
        return programs
    for tool in ("cmake", "ninja", "c++"):
        if not shutil.which(tool):
            raise VersusError(f"found no {tool}, expected it for building {peer.name}; "
                              "tools/dev/setup installs it")
    unpack(peer, fetch(peer, cache), home / "source")
    mark.unlink(missing_ok=True)
    shutil.rmtree(folder / "build", ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    print(f"building {peer.name} for {level}, minutes; log: {log}", file=sys.stderr)
    options = json.loads(stamp)["options"]
    configure = ["cmake", "-S", str(home / "source"), "-B", str(folder / "build"), "-G", "Ninja"]
    compile_ = ["cmake", "--build", str(folder / "build"), "--parallel", str(jobs), "--target"]
    for command in (configure + options, [*compile_, *TARGETS]):
        if not run_logged(command, log):
            raise VersusError(f"{log}: building {peer.name} failed, expected its programs; "
                              "the log's end says why")
    mark.write_text(stamp)
    return programs
