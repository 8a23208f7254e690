# SPDX-License-Identifier: Apache-2.0
"""What the figures depend on: the processor, and the instructions each peer says that it uses."""

import os
import subprocess
import sys
from pathlib import Path

from peers import cpu_flags

ASK = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.llama_print_system_info.restype = ctypes.c_char_p
print(library.llama_print_system_info().decode())
"""


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown processor"


def features_in(text):
    """Names of what a peer's line of system information has as 1: "AVX2 = 1 | AMX_INT8 = 0 |"."""
    found = []
    for part in text.replace(":", "|").split("|"):
        name, _, value = part.partition("=")
        if value.strip() == "1":
            found.append(name.strip())
    return found


def system_info(programs):
    """The features that the peer's library was built with; none where it cannot be asked."""
    for library in sorted(programs.parent.rglob("libllama.so")):
        result = subprocess.run([sys.executable, "-c", ASK, str(library)], capture_output=True,
                                text=True, errors="replace")
        if result.returncode == 0:
            return features_in(result.stdout + result.stderr)
    return []


def machine_json(programs):
    return {"processor": processor(), "processors": os.cpu_count(),
            "amx": "amx_int8" in cpu_flags(),
            "peers": {name: system_info(folder) for name, folder in programs.items()}}


def describe(machine):
    lines = [f"{machine['processor']}, {machine['processors']} processors"]
    for name, features in machine["peers"].items():
        amx = ""
        if machine["amx"]:
            uses = any(feature.startswith("AMX_INT8") for feature in features)
            amx = ", with AMX" if uses else ", without the AMX that the processor has"
        lines.append(f"{name}: {' '.join(features) or 'does not say what it uses'}{amx}")
    return "\n".join(lines)
