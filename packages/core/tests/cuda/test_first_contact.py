"""What a machine with a card, other libraries and other versions brings, told by the stand-in driver."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from taeda.cuda import _cubins_wheel, _libraries, _nvrtc, _programs

sys.path.insert(0, str(Path(__file__).parent))
import standin

ASKS = """
#include <dlfcn.h>
static void *other;
#define NAME "libnvrtc-builtins.so.13.0"
__attribute__((constructor)) static void begin(void) { other = dlopen(NAME, RTLD_NOW); }
int answer(void) { return other != 0; }
"""


def shared_library(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    source = path.parent / "source.c"
    source.write_text(text)
    flags = ("-shared", "-fPIC", f"-Wl,-soname,{path.name}", "-o", str(path))
    subprocess.run(["cc", str(source), *flags, "-ldl"], check=True)


def test_what_a_library_opens_by_its_name_is_opened_first(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delenv("TAEDA_LIBNVRTC", raising=False)
    folder = tmp_path / "nvidia" / "cu13" / "lib"
    shared_library(folder / "libnvrtc-builtins.so.13.0", "int builtins(void) { return 1; }")
    shared_library(folder / "libnvrtc.so.13", ASKS)
    library = _libraries.opened("nvrtc", "TAEDA_LIBNVRTC", 13)
    assert library is not None
    assert library.answer() == 1


def test_a_compiler_newer_than_the_driver_is_not_taken(tmp_path):
    program = """
import taeda
from taeda.cuda import _libraries, _nvrtc
assert taeda.cuda.is_available()
assert _libraries.newest_served() == 12
refuses(RuntimeError, "NVRTC of CUDA 12, which is what the driver serves, was not found",
        lambda: (taeda.ones(3, device="cuda") + 1))
"""
    shared_library(tmp_path / "nvidia/cu13/lib/libnvrtc.so.13", "int nothing;")
    standin.run(
        standin.REFUSES + f"import sys; sys.path.insert(0, {str(tmp_path)!r})" + program,
        TAEDA_NULL_VERSION="12040",
        TAEDA_LIBNVRTC="",
        TAEDA_CACHE_DIR=str(tmp_path / "cache"),
    )


def test_a_context_that_somebody_else_made_current():
    standin.run(
        """
import ctypes, os, taeda
driver = ctypes.CDLL(os.environ["TAEDA_LIBCUDA"])
for k in (0, 1):
    taeda.zeros(3, device=f"cuda:{k}")
other = ctypes.c_void_p()
driver.cuDevicePrimaryCtxRetain(ctypes.byref(other), 1)

def free(k):
    return taeda.cuda.mem_get_info(k)[0]

for change in (other, None):
    before = free(0), free(1)
    driver.cuCtxSetCurrent(change)
    x = taeda.empty(64 << 20, dtype=taeda.uint8, device="cuda:0")
    assert before[0] - free(0) >= 64 << 20, "the memory lies on another device"
    assert before[1] == free(1)
    driver.cuCtxSetCurrent(change)
    assert (taeda.ones(5, device="cuda:0") + 1).sum().item() == 10
    driver.cuCtxSetCurrent(change)
    taeda.cuda.synchronize(0)
    del x
    taeda.cuda.empty_cache()
""",
        TAEDA_NULL_DEVICES="2",
    )


ROOM = """
import ctypes, os, taeda
driver = ctypes.CDLL(os.environ["TAEDA_LIBCUDA"])
kept = taeda.empty(64 << 20, dtype=taeda.uint8, device="cuda")
x = taeda.arange(4., device="cuda")
del kept
assert taeda.cuda.memory_reserved() >= 64 << 20
def fail(name, n):
    driver.td_null_fail(name.encode(), n, 2)
"""


@pytest.mark.parametrize(
    ("entry", "call"),
    [
        ("cuModuleLoadData", "x.exp()"),
        ("cuLaunchKernel", "x + x"),
        ("cuEventCreate", "taeda.cuda.Event(enable_timing=True).record()"),
        ("cuMemAlloc_v2", "taeda.empty(128 << 20, dtype=taeda.uint8, device='cuda')"),
    ],
)
def test_memory_that_runs_out_in_the_driver_is_looked_for_in_the_pool(entry, call):
    standin.run(
        f"""{ROOM}
fail("{entry}", 1)
{call}
assert taeda.cuda.memory_reserved() < 64 << 20 or "Alloc" in "{entry}", "unused memory was not given back"
"""
    )


ALWAYS = """
# every call fails: the stand-in refuses one at a time, so it is told to between two
from taeda.cuda import _memory
real = _memory.collect_unused
def again():
    real()
    fail(ENTRY, 1)
_memory.collect_unused = again
fail(ENTRY, 1)
refuses(taeda.OutOfMemoryError, "CUDA out of memory while", lambda: CALL)
fail("", 0)
_memory.collect_unused = real
assert (x + x).tolist() == [0, 2, 4, 6]
"""


@pytest.mark.parametrize(
    ("entry", "call"), [("cuModuleLoadData", "x.exp()"), ("cuLaunchKernel", "x + x")]
)
def test_memory_that_is_nowhere_is_an_out_of_memory_error(entry, call):
    program = ALWAYS.replace("ENTRY", repr(entry)).replace("CALL", call)
    standin.run(standin.REFUSES + ROOM + "x + x\n" + program)


def test_a_kept_image_that_the_driver_refuses_is_compiled_once_more(tmp_path):
    program = """
import taeda
x = taeda.arange(3., device="cuda")
assert (x * 2).tolist() == [0, 2, 4]
"""
    settings = {"TAEDA_CACHE_DIR": str(tmp_path), "TAEDA_CUDA_LOG": "compile"}
    standin.run(program, **settings)
    for code in (200, 209, 222):  # no image, one for another device, of a newer compiler
        standin.run(program, TAEDA_NULL_FAIL=f"cuModuleLoadData:1:{code}", **settings)
    standin.run(program, **settings)


def test_an_image_of_a_package_that_the_driver_refuses_is_compiled(tmp_path):
    """Machine code of a real device beside the stand-in, and of a newer compiler beside an old driver."""
    key = _programs._found("loop", "mul", "F32", "F32", "flat")
    images = {90: {_programs._digest(*key, 90): b"symbol\n\x7fELF of another device"}}
    zipfile.ZipFile(_cubins_wheel.write(tmp_path, "1.2", images)).extractall(tmp_path / "site")
    standin.run(
        f"""
import sys; sys.path.insert(0, {str(tmp_path / "site")!r})
import taeda
from taeda.cuda import _programs
assert _programs.is_kept("loop", "mul", "F32", "F32", "flat", 90)
assert (taeda.tensor([0.0, 1.0, 2.0]).cuda() * 2).tolist() == [0, 2, 4]
""",
        TAEDA_CACHE_DIR=str(tmp_path / "cache"),
    )


def test_a_fresh_image_that_the_driver_refuses_names_the_compiler(tmp_path):
    standin.run(
        standin.REFUSES
        + """
import ctypes, os, taeda
from taeda.cuda import _programs
driver = ctypes.CDLL(os.environ["TAEDA_LIBCUDA"])
x = taeda.tensor([0.0, 1.0, 2.0]).cuda()  # no kernel yet
real = _programs.program
def program(*arguments):
    made = real(*arguments)
    driver.td_null_fail(b"cuModuleLoadData", 1, 209)
    return made
_programs.program = program
refuses(RuntimeError, "is NVRTC newer than the driver?", lambda: x.sigmoid())
""",
        TAEDA_CACHE_DIR=str(tmp_path),
    )


def test_a_child_of_a_process_that_only_asked_for_devices_is_refused():
    standin.run(
        """
import os, taeda
assert taeda.cuda.is_available()
child = os.fork()
if not child:
    try:
        taeda.ones(3, device="cuda")
    except RuntimeError as error:
        os._exit(0 if "spawn" in str(error) else 3)
    os._exit(4)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert (taeda.ones(3, device="cuda") + 1).tolist() == [2, 2, 2]
"""
    )


def test_the_time_between_events_in_a_fresh_thread():
    standin.run(
        """
import threading, taeda
a, b = (taeda.cuda.Event(enable_timing=True) for _ in range(2))
a.record(); b.record(); b.synchronize()
got = []
worker = threading.Thread(target=lambda: got.append(a.elapsed_time(b)))
worker.start(); worker.join()
assert got and got[0] >= 0
"""
    )


def test_cupy_takes_its_memory_from_our_pool():
    path = str(Path(__file__).parent / "cupy_numpy")
    standin.run(
        f"""
import sys; sys.path.insert(0, {path!r})
import taeda
x = taeda.eye(3, device="cuda") * 2
before = taeda.cuda.memory_stats()["allocation.all.allocated"]
assert taeda.linalg.inv(x).diagonal().tolist() == [0.5] * 3
import cupy
from taeda import _cuda
allocator = _cuda._allocator(cupy)
with cupy.cuda.Device(0):
    held = taeda.cuda.memory_allocated()
    block = allocator(1000)
    assert taeda.cuda.memory_allocated() == held + 1024
    del block
    assert taeda.cuda.memory_allocated() == held
"""
    )


def test_the_version_of_nvrtc_follows_the_driver_only_where_there_is_one(monkeypatch):
    monkeypatch.setattr(_libraries._core, "cuda_count", lambda: 0)
    assert _libraries.newest_served() == _libraries.MAJORS[0]
    monkeypatch.setattr(_nvrtc, "opened", lambda *arguments: None)
    monkeypatch.setenv("TAEDA_LIBNVRTC", "/no/such.so")
    _nvrtc.library.cache_clear()
    with pytest.raises(RuntimeError, match=r"/no/such\.so was not found"):
        _nvrtc.library()
