"""NVTX, by a stand-in of its library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import standin

LIBRARY = r"""
#include <stdint.h>
#include <stdio.h>
static int depth;
int nvtxRangePushA(const char *name) { return printf("push %s\n", name), depth++; }
int nvtxRangePop(void) { return puts("pop"), --depth; }
uint64_t nvtxRangeStartA(const char *name) { return printf("start %s\n", name), 0x100000002; }
void nvtxRangeEnd(uint64_t number) { printf("end %llx\n", (unsigned long long)number); fflush(stdout); }
void nvtxMarkA(const char *name) { printf("mark %s\n", name); }
"""


def test_names_reach_the_library(tmp_path):
    (tmp_path / "nvtx.c").write_text(LIBRARY)
    made = tmp_path / "libnvtx.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", made, tmp_path / "nvtx.c"], check=True)
    out = standin.memory(
        """
nvtx = cuda.nvtx
assert nvtx.range_push("a") == 0 and nvtx.range_push("b") == 1
assert nvtx.range_pop() == 1 and nvtx.range_pop() == 0
with nvtx.range("step {} of {n}", 3, n=9):
    nvtx.mark("here")
@nvtx.range("decorated")
def f(): return 4
assert f() == 4
try:
    with nvtx.range("fails"):
        raise KeyError
except KeyError:
    pass
nvtx.range_end(nvtx.range_start("long"))
""",
        TAEDA_LIBNVTX=str(made),
    )
    assert out.split("\n")[:-1] == [
        "push a", "push b", "pop", "pop", "push step 3 of 9", "mark here", "pop", "push decorated", "pop",
        "push fails", "pop", "start long", "end 100000002",
    ]  # fmt: skip


def test_without_the_library_every_call_says_so():
    standin.memory(
        """
for call in (lambda: cuda.nvtx.range_push("a"), cuda.nvtx.range_pop, lambda: cuda.nvtx.mark("a"),
        lambda: cuda.nvtx.range_start("a"),
             lambda: cuda.nvtx.range("a").__enter__()):
    refuses(RuntimeError, ["NVTX functions not installed", "/nowhere.so", "nvidia-nvtx-cu12"], call)
""",
        TAEDA_LIBNVTX="/nowhere.so",
    )
