"""numpy's arrays and scalars as pickles have them: plain dtypes, and as many bytes as shape and
dtype ask for.
"""

from __future__ import annotations

import numpy as np
import pytest

from taeda._io.budget import Budget
from taeda._io.place import Place
from taeda._io.pt import arrays
from taeda._io.pt.context import Context, Known
from taeda._io.pt.errors import RefusedPickle

CONTEXT = Context(Budget(1 << 20), Place(None))
BEGIN = (Known("numpy ndarray", print), (0,), b"b")


def kind(code, order="="):
    made = arrays.dtype((code, False, True), CONTEXT)
    made.set_state((3, order, None, None, None, -1, -1, 0))
    return made


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("code", ["b1", "i2", "u8", "f2", "f8", "c16", "?", "d", b"f4"])
def test_every_plain_dtype(code, order):
    name = code.decode() if isinstance(code, bytes) else code
    wanted = np.arange(3).astype(np.dtype(name).newbyteorder(order))
    made = kind(code, order)
    assert made.numpy() == wanted.dtype
    one = arrays.scalar((made, wanted[1:2].tobytes()), CONTEXT)
    assert one == wanted[1]
    target = arrays.array(BEGIN, CONTEXT)
    arrays.fill(target, (1, (3,), made, False, wanted.tobytes()), CONTEXT)
    assert np.array_equal(target, wanted)
    again = arrays.array_of_bytes((bytearray(wanted.tobytes()), made, (3,), "C"), CONTEXT)
    assert np.array_equal(again, wanted)


@pytest.mark.parametrize("fortran", [True, False])
def test_orders_of_axes(fortran):
    wanted = np.arange(6, dtype="i4").reshape(2, 3)
    data = wanted.tobytes("F" if fortran else "C")
    target = arrays.array(BEGIN, CONTEXT)
    arrays.fill(target, (1, (2, 3), kind("i4"), fortran, data), CONTEXT)
    other = arrays.array_of_bytes((data, kind("i4"), (2, 3), "F" if fortran else "C"), CONTEXT)
    assert target.tolist() == other.tolist() == wanted.tolist()


TARGET = np.empty(0, np.int8)
REFUSED = {
    "objects": (lambda: arrays.dtype(("O8", False, True), CONTEXT), "'O8' is no number"),
    "text": (lambda: arrays.dtype(("U3",), CONTEXT), "is no number"),
    "two values": (lambda: arrays.dtype(("i4", False), CONTEXT), "its code and two flags"),
    "a number": (lambda: arrays.dtype((3,), CONTEXT), "its code and two flags"),
    "fields": (lambda: kind("i4").set_state((3, "<", None, ("a",), None, -1, -1, 0)), "fields or flags"),
    "an order": (lambda: kind("i4", "^"), "fields or flags"),
    "a short scalar": (lambda: arrays.scalar((kind("i4"), b"abc"), CONTEXT), "has 3 bytes"),
    "a scalar of text": (lambda: arrays.scalar(("i4", b"abcd"), CONTEXT), "cannot be made of"),
    "a beginning": (lambda: arrays.array((BEGIN[0], (1,), b"b"), CONTEXT), "begins otherwise"),
    "a class": (lambda: arrays.array((int, (0,), b"b"), CONTEXT), "a class of its own"),
    "a state": (lambda: arrays.fill(TARGET, (1, (1,), kind("i1"), 0, b"a"), CONTEXT), "something else than"),
    "bytes": (lambda: arrays.fill(TARGET, (1, (2,), kind("i4"), False, b"a"), CONTEXT), "has 1 bytes"),
    "no bytes": (lambda: arrays.fill(TARGET, (1, (2,), kind("i4"), False, "a"), CONTEXT), "made of shape"),
    "many axes": (lambda: arrays.array_of_bytes((b"a", kind("i1"), (1,) * 65, "C"), CONTEXT), "has 1 bytes"),
    "a third "
    "order": (lambda: arrays.array_of_bytes((b"a", kind("i1"), (1,), "K"), CONTEXT), "in the order 'K'"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    call, words = REFUSED[name]
    with pytest.raises(RefusedPickle, match=words):
        call()
