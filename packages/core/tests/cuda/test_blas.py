"""Handles of cuBLAS on the stand-in, and the real libraries where they are installed: every entry
point is there, and descriptions of products are taken as `csrc/cuda/product_plan.c` makes them.
"""

import ctypes
import re
import sys
from pathlib import Path

import pytest

from taeda.cuda._libraries import opened

sys.path.insert(0, str(Path(__file__).parent))
import standin

HEADER = Path(__file__).parents[2] / "csrc" / "cuda" / "cublaslt.h"

HANDLES = (
    """
import ctypes, os, threading, taeda
cuda = taeda.cuda
lt = ctypes.CDLL(os.environ["TAEDA_LIBCUBLAS"])
lt.td_null_handle_stream.restype = ctypes.c_void_p
def stream(handle):
    return lt.td_null_handle_stream(ctypes.c_void_p(handle)) or 0
"""
    + standin.REFUSES
)


def test_a_handle_is_of_its_thread_and_device_and_works_on_the_current_stream():
    standin.run(
        HANDLES
        + """
first = cuda.current_blas_handle()
assert isinstance(first, int) and first and cuda.current_blas_handle() == first
assert stream(first) == cuda.current_stream().cuda_stream
side = cuda.Stream()
with cuda.stream(side):
    assert cuda.current_blas_handle() == first and stream(first) == side.cuda_stream != 0
with cuda.device(1):
    second = cuda.current_blas_handle()
assert second != first
others = []
thread = threading.Thread(target=lambda: others.append(cuda.current_blas_handle()))
thread.start(); thread.join()
assert others[0] not in (first, second)
"""
    )


def test_without_cublas_the_extra_is_named():
    standin.run(
        HANDLES
        + """
os.environ["TAEDA_LIBCUBLAS"] = "/nowhere.so"
words = "/nowhere.so was not found; install it with `pip install taeda-core[cuda12]`"
refuses(RuntimeError, words, cuda.current_blas_handle)
"""
    )


def test_a_handle_that_cannot_be_made_is_refused():
    standin.run(
        HANDLES
        + """
words = "cuBLAS failed with status 3 while making a handle"
refuses(RuntimeError, words, cuda.current_blas_handle)
""",
        TAEDA_NULL_FAIL="cublasCreate_v2:1:3",
    )


# ---- the real libraries ----


@pytest.fixture(scope="module")
def library():
    found = opened("cublasLt", "TAEDA_LIBCUBLASLT")
    if found is None:
        pytest.skip("cuBLASLt is not installed: `nox -s device-text -- --nvrtc` brings it")
    found.cublasLtGetStatusName.restype = ctypes.c_char_p
    return found


def test_every_entry_point_is_in_the_real_library(library):
    names = set(re.findall(r"\bcublasLt[A-Z]\w+", HEADER.read_text()))
    assert len(names) == 14
    assert [name for name in sorted(names) if not hasattr(library, name)] == []


def test_handles_of_the_real_library_have_the_names_that_are_called():
    cublas = opened("cublas", "TAEDA_LIBCUBLAS")
    if cublas is None:
        pytest.skip("cuBLAS is not installed: `nox -s device-text -- --nvrtc` brings it")
    assert cublas.cublasCreate_v2 and cublas.cublasSetStream_v2


def test_words_of_the_real_library(library):
    numbers = dict(
        re.findall(r"TD_LT_(INVALID|ARCHITECTURE|UNSUPPORTED) = (\d+)", HEADER.read_text())
    )
    wanted = {
        "INVALID": "INVALID_VALUE",
        "ARCHITECTURE": "ARCH_MISMATCH",
        "UNSUPPORTED": "NOT_SUPPORTED",
    }
    said = {name: library.cublasLtGetStatusName(int(number)) for name, number in numbers.items()}
    assert said == {name: f"CUBLAS_STATUS_{word}".encode() for name, word in wanted.items()}


def numbers(*names):
    text = HEADER.read_text()
    return [int(re.search(rf"\bTD_LT_{name} = (\d+)", text)[1]) for name in names]


def test_the_real_library_takes_descriptions(library):
    """No device is needed for that. A size that is not the attribute's is refused, so sizes are right."""
    made, wish = ctypes.c_void_p(), ctypes.c_void_p()
    create, attribute = library.cublasLtMatmulDescCreate, library.cublasLtMatmulDescSetAttribute
    for compute in numbers("COMPUTE_32", "COMPUTE_TF32"):
        assert create(ctypes.byref(made), compute, 0) == 0
    for what, value in zip(
        numbers("TURN_A", "TURN_B", "EPILOGUE", "BIAS_POINTER"),
        (ctypes.c_int32(1), ctypes.c_int32(1), ctypes.c_int32(4), ctypes.c_void_p(4096)),
        strict=True,
    ):
        assert (
            attribute(made, what, ctypes.byref(value), ctypes.c_size_t(ctypes.sizeof(value))) == 0
        )
        assert attribute(made, what, ctypes.byref(value), ctypes.c_size_t(3)) != 0
    sizes = ctypes.c_uint64(5), ctypes.c_uint64(6), ctypes.c_int64(8)
    for kind in numbers("R32", "R64", "R16", "C32", "C64", "BF16"):
        assert library.cublasLtMatrixLayoutCreate(ctypes.byref(made), kind, *sizes) == 0
    for what, value in zip(
        numbers("BATCH_COUNT", "BATCH_STRIDE"), (ctypes.c_int32(3), ctypes.c_int64(48)), strict=True
    ):
        size = ctypes.c_size_t(ctypes.sizeof(value))
        assert library.cublasLtMatrixLayoutSetAttribute(made, what, ctypes.byref(value), size) == 0
    assert library.cublasLtMatmulPreferenceCreate(ctypes.byref(wish)) == 0
    workspace, joins, aligned = numbers("WISH_WORKSPACE", "WISH_REDUCTIONS", "WISH_ALIGNMENT")
    settings = [(workspace, ctypes.c_uint64(1 << 25)), (joins, ctypes.c_uint32(2))]
    settings += [(aligned + k, ctypes.c_uint32(16)) for k in range(4)]
    for what, value in settings:
        size = ctypes.c_size_t(ctypes.sizeof(value))
        assert (
            library.cublasLtMatmulPreferenceSetAttribute(wish, what, ctypes.byref(value), size) == 0
        )
