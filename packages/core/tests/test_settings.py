"""Switches of the process: what they change, what they only keep, what they refuse."""

from __future__ import annotations

import os
import threading

import pytest

import taeda
from taeda import _settings
from taeda.utils import deterministic


@pytest.fixture(autouse=True)
def as_before():
    yield
    taeda.use_deterministic_algorithms(False)
    taeda.set_flush_denormal(False)
    taeda.set_float32_matmul_precision("highest")
    taeda.set_warn_always(False)
    deterministic.fill_uninitialized_memory = True
    _settings._Chosen.interop = None


FORMS = {
    "empty": lambda x: taeda.empty(2, dtype=x.dtype),
    "a format": lambda x: taeda.empty(1, 1, 1, 2, dtype=x.dtype, memory_format=taeda.channels_last),
    "empty_like": taeda.empty_like,
    "empty_strided": lambda x: taeda.empty_strided((2,), (1,), dtype=x.dtype),
    "empty_permuted": lambda x: taeda.empty_permuted((2,), (0,), dtype=x.dtype),
    "new_empty": lambda x: x.new_empty(2),
    "new_empty_strided": lambda x: x.new_empty_strided((2,), (1,)),
}
LARGEST = {
    "uint8": 2**8 - 1, "int8": 2**7 - 1, "uint16": 2**16 - 1, "int32": 2**31 - 1,
    "int64": 2**63 - 1, "uint64": 2**64 - 1,
    "bool": True,
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_fresh_memory_shows(form):
    taeda.use_deterministic_algorithms(True)
    for name, wanted in LARGEST.items():
        x = taeda.zeros(2, dtype=getattr(taeda, name))
        assert form(x).flatten().tolist() == [wanted] * 2
    for dtype in (taeda.float16, taeda.bfloat16, taeda.float32, taeda.float64, taeda.complex64):
        assert form(taeda.zeros(2, dtype=dtype)).isnan().all()
    assert taeda.empty(2, device="meta").shape == (2,)
    assert taeda.zeros(2).tolist() == [0, 0]


def test_filling_can_be_left_out():
    assert deterministic.fill_uninitialized_memory is True
    taeda.use_deterministic_algorithms(True)
    deterministic.fill_uninitialized_memory = False
    kept = taeda.zeros(1000)
    del kept
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # under which no block comes back
        assert not taeda.empty(1000).isnan().all()
    with pytest.raises(TypeError, match="must be a bool, not int"):
        deterministic.fill_uninitialized_memory = 1


def test_modes():
    states = []
    for mode in ("default", "warn", "error", 0, 1, 2):
        taeda.set_deterministic_debug_mode(mode)
        states.append((
            taeda.get_deterministic_debug_mode(), taeda.are_deterministic_algorithms_enabled(),
            taeda.is_deterministic_algorithms_warn_only_enabled(),
        ))  # fmt: skip
    assert states == 2 * [(0, False, False), (1, True, True), (2, True, False)]


def test_tiny_numbers_may_become_zero():
    tiny, seen, go = taeda.full((100_000,), 1e-40), [], threading.Event()

    def elsewhere():
        go.wait()
        seen.append((tiny[:1] * 1.0).item())

    other = threading.Thread(target=elsewhere)
    other.start()  # a thread begins as the one that starts it, so before the switch
    can = taeda.set_flush_denormal(True)
    flushed = (tiny * 1.0).any().item()  # in every thread of the pool
    go.set()
    other.join()
    assert seen[0] > 0
    assert taeda.set_flush_denormal(False) is can
    assert flushed is not can and (tiny * 1.0).all()


def test_what_is_only_kept():
    assert taeda.get_float32_matmul_precision() == "highest"
    taeda.set_float32_matmul_precision("medium")
    with pytest.warns(UserWarning, match="'low' is not one of"):
        taeda.set_float32_matmul_precision("low")
    assert taeda.get_float32_matmul_precision() == "medium"
    taeda.set_warn_always(True)
    assert taeda.is_warn_always_enabled()
    assert taeda.get_num_interop_threads() == 1
    taeda.set_num_interop_threads(3)
    assert taeda.get_num_interop_threads() == 3
    with pytest.raises(RuntimeError, match="was called"):
        taeda.set_num_interop_threads(3)


REFUSED = {
    "mode": (lambda: taeda.use_deterministic_algorithms(1), TypeError, "'mode' must be bool, not int"),
    "warn only": (
        lambda: taeda.use_deterministic_algorithms(True, warn_only=None), TypeError,
        "'warn_only' must be bool"
    ),
    "number": (lambda: taeda.set_deterministic_debug_mode(3), RuntimeError, "0, 1, or 2, but got 3"),
    "word": (lambda: taeda.set_deterministic_debug_mode("x"), RuntimeError, "but got x"),
    "type": (lambda: taeda.set_deterministic_debug_mode(1.5), TypeError, "str or int, but got"),
    "flush": (lambda: taeda.set_flush_denormal(1), TypeError, "must be bool, not int"),
    "warnings": (lambda: taeda.set_warn_always(1), TypeError, "must be bool, not int"),
    "no threads": (lambda: taeda.set_num_interop_threads(0), RuntimeError, "positive integer, got 0"),
    "kind of threads": (lambda: taeda.set_num_interop_threads("2"), TypeError, "int, but got str"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call()


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64, taeda.bfloat16])
def test_rows_have_the_same_bits_in_any_product(dtype, turned):
    weight = taeda.randn(700, 40, dtype=dtype, generator=taeda.Generator().manual_seed(1))
    weight = weight.t().contiguous().t() if turned else weight
    x = taeda.randn(130, 700, dtype=dtype, generator=taeda.Generator().manual_seed(2))
    taeda.use_deterministic_algorithms(True)
    whole = x @ weight
    for rows in (1, 2, 7, 12, 13, 48, 49, 100):
        assert taeda.equal(x[:rows] @ weight, whole[:rows]), rows
