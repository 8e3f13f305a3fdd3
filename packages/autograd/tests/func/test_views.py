from __future__ import annotations

import pytest

import taeda
from taeda._core_api import programs as _core
from taeda.func._views import View, copied, put

VIEWS = [
    ("select.int", (1, 2)), ("slice.Tensor", (1, 1, 4, 2)), ("diagonal", (0, 0, 1)), ("permute", ((1, 0),)),
    ("transpose.int", (0, 1)), ("numpy_T", ()), ("view", ((-1,),)), ("flatten.using_ints", (0, -1)),
    ("unsqueeze", (1,)), ("narrow", (0, 1, 2)), ("unfold", (1, 2, 2)), ("as_strided", ((2, 2), (4, 2), 1)),
    ("movedim.int", (0, 1)), ("alias", ()), ("view.dtype", (taeda.int32,)),
]  # fmt: skip


@pytest.mark.parametrize(("op", "rest"), VIEWS, ids=lambda v: v if isinstance(v, str) else "")
def test_put_and_copies(op, rest):
    x = taeda.arange(12, dtype=taeda.float32).view(3, 4)
    view = _core.call_backend(op, (x, *rest))
    new = view + 3
    wanted = x.clone()
    _core.call_backend(op, (wanted, *rest)).copy_(new)
    how = View(op, (x, *rest), x, tuple(view.shape))
    assert put(x, how, new, _core.call_backend).equal(wanted)
    name, args = copied(op, (x, *rest), view)
    packet, _, overload = name.partition(".")
    made = getattr(getattr(taeda.ops.aten, packet), overload or "default")(*args)
    assert made.equal(view) and made.data_ptr() != view.data_ptr()


def test_one_of_several():
    x = taeda.arange(6).view(3, 2)
    parts = x.split(1)
    how = View("split.Tensor", (x, 1, 0), x, (1, 2), 2)
    assert how.of(x, _core.call_backend).equal(parts[2])
    made = put(x, how, taeda.tensor([[8, 9]]), _core.call_backend)
    assert made.tolist() == [[0, 1], [2, 3], [8, 9]]
