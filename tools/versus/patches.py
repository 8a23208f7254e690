# SPDX-License-Identifier: Apache-2.0
"""What the peers' sources need to be built here, and nothing that makes them another engine."""

from dataclasses import dataclass

from errors import VersusError


@dataclass(frozen=True)
class WholeFile:
    path: str
    text: str

    def apply(self, source):
        path = source / self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text)


@dataclass(frozen=True)
class Insertion:
    path: str
    behind: str
    text: str

    def apply(self, source):
        path = source / self.path
        found = path.read_text() if path.exists() else ""
        if found.count(self.behind) != 1:
            raise VersusError(f"{path}: found {found.count(self.behind)} places to insert behind, "
                              "expected one, as in the version that peers.py names")
        path.write_text(found.replace(self.behind, self.behind + self.text))


# The source package of ik_llama.cpp lacks this script, which its build runs.
BUILD_INFO = WholeFile("common/cmake/build-info-gen-cpp.cmake", """\
file(WRITE "${CMAKE_CURRENT_LIST_DIR}/../build-info.cpp" "int LLAMA_BUILD_NUMBER = 0;
char const *LLAMA_COMMIT = \\"unknown\\";
char const *LLAMA_COMPILER = \\"unknown\\";
char const *LLAMA_BUILD_TARGET = \\"unknown\\";
")
""")


def without_head_size(name):
    """Flash attention of heads that no model which llmc compiles has: its caller takes the general road
    where a case says no. Each of them is minutes of building."""
    return WholeFile(f"ggml/src/iqk/fa/iqk_fa_{name}.cpp", f"""\
#include "iqk/iqk_config.h"
#if defined IQK_IMPLEMENT && defined GGML_IQK_FLASH_ATTENTION
#include "iqk/fa/iqk_fa_templates.h"
IQK_FA_CASE(iqk_fa_{name}) {{ return false; }}
#endif
""")


OTHER_HEADS = tuple(without_head_size(name) for name in
                    ("192_128", "192_192", "256_256", "320_256", "512_512", "576_512"))

# Debian 12's GCC does not know that these two read memory, and drops the stores before them: tiles
# without a configuration, which is SIGILL at the first prompt on a processor with AMX.
AMX_READS = Insertion("ggml/src/ggml-cpu/amx/mmq.cpp", "#include <type_traits>\n", """
#if defined(__GNUC__) && !defined(__clang__) && defined(__AMX_INT8__)
#define FENCE(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")
#undef _tile_loadd
#define _tile_loadd(dst, base, stride) do { FENCE(base); _tile_loadd_internal(dst, base, stride); } while (0)
#define _tile_loadconfig(config) do { FENCE(config); (_tile_loadconfig)(config); } while (0)
#endif
""")
