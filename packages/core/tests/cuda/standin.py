"""The stand-in driver, compiler and cuBLASLt, built once into the checkout's build folder, and programs that
run on them.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build" / "cuda-null"
LIBRARIES = ("libcuda_null", "libnvrtc_null", "libcublaslt_null")


def environment(card: bool = False, **settings: str) -> dict[str, str]:
    """What a process needs to find the stand-in, beside the environment of this one. With `card` it
    uses the device of this machine.
    """
    if card:
        return {**os.environ, **settings}
    libraries = {name: _library(name) for name in LIBRARIES}
    return {
        **os.environ,
        "TAEDA_LIBCUDA": str(libraries["libcuda_null"]),
        "TAEDA_LIBNVRTC": str(libraries["libnvrtc_null"]),
        "TAEDA_LIBCUBLASLT": str(libraries["libcublaslt_null"]),
        "TAEDA_LIBCUBLAS": str(libraries["libcublaslt_null"]),
        "TAEDA_NULL_FOLDER": str(BUILD),
        "TAEDA_NULL_COMPILE": f"{sys.executable} {HERE / 'compile_emulated.py'}",
        "TAEDA_CACHE_DIR": str(BUILD / f"cache-{_emulation()}"),
        **settings,
    }


def _emulation() -> str:
    """A digest of what kernels are emulated by: what is kept of another emulation is not used."""
    files = (HERE / name for name in ("emulate.h", "compile_emulated.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _library(name: str) -> Path:
    from taeda._build import cc

    BUILD.mkdir(parents=True, exist_ok=True)
    flags = ("-O1", "-fPIC", "-std=gnu11", "-fvisibility=hidden")
    return cc.build(
        [cc.Unit(HERE / f"{name}.c")],
        BUILD / f"{name}.so",
        BUILD,
        flags,
        ("-ldl", "-lpthread", "-lm"),
    )


def run(program: str, **settings: str) -> str:
    """What a program prints on the stand-in; a failure is told with its output."""
    command = [sys.executable, "-X", "faulthandler", "-c", program]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment(**settings),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


#: for programs: `call` raises an error of this kind with these words
REFUSES = """
def refuses(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)
"""


#: for programs: `counted(call)` tells what a call asked the driver and cuBLASLt for, and its result
COUNTS = """
import ctypes, os
_driver = ctypes.CDLL(os.environ["TAEDA_LIBCUDA"])
_blas = ctypes.CDLL(os.environ["TAEDA_LIBCUBLASLT"])
_driver.td_null_launches.restype = _driver.td_null_crossed.restype = ctypes.c_long
_driver.td_null_counted.restype = ctypes.c_char_p
_blas.td_null_lt.restype = ctypes.c_long
WAITS = ("cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize")
def _numbers():
    return {
        "launches": _driver.td_null_launches(),
        "products": _blas.td_null_lt(b"products"),
        "to_device": _driver.td_null_crossed(0),
        "to_host": _driver.td_null_crossed(1),
    }
def counted(call):
    import taeda
    taeda.cuda.synchronize()
    before = _numbers()
    _driver.td_null_count()
    result = call()
    calls, k, n = {}, 0, ctypes.c_long()
    while name := _driver.td_null_counted(k, ctypes.byref(n)):
        calls[name.decode()] = n.value
        k += 1
    found = {name: now - before[name] for name, now in _numbers().items()}
    return found | {"waits": sum(calls.get(name, 0) for name in WAITS)}, result
"""


MEMORY = """
import gc, pickle, taeda
cuda = taeda.cuda
MIB = 1 << 20
def refuses(kind, words, call):
    try:
        call()
    except kind as error:
        for word in words:
            assert word in str(error), (word, str(error))
    else:
        raise AssertionError(words)
def make(mib, device="cuda"):
    return taeda.empty(int(mib * MIB), dtype=taeda.uint8, device=device)
def now(key, device=0):
    return cuda.memory_stats(device)[key]
"""


def memory(program: str, **settings: str) -> str:
    """`run` for a program about memory, in the words of `MEMORY`."""
    return run(MEMORY + program, **settings)
