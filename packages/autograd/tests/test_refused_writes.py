"""A write that is refused has written nothing, and other memory has no derivative."""

from __future__ import annotations

import pytest

import taeda

ROWS, ONE = taeda.zeros(1, 3, dtype=taeda.int64), taeda.tensor([0])
#: writes of something that requires grad into a view that was made under no_grad
WRITES = {
    "copy_": lambda view, x: view.copy_(x),
    "add_": lambda view, x: view.add_(x),
    "lerp_": lambda view, x: view.lerp_(x, 0.5),
    "fill_": lambda view, x: view.fill_(x.sum()),
    "masked_fill_": lambda view, x: view.masked_fill_(view > -9, x.sum()),
    "masked_scatter_": lambda view, x: view.masked_scatter_(view > -9, x),
    "index_put_": lambda view, x: view.index_put_((ONE,), x[0]),
    "index_add_": lambda view, x: view.index_add_(0, ONE, x[:1]),
    "index_copy_": lambda view, x: view.index_copy_(0, ONE, x[:1]),
    "scatter_": lambda view, x: view.scatter_(0, ROWS, x),
    "scatter_reduce_": lambda view, x: view.scatter_reduce_(0, ROWS, x, "sum"),
    "addmm_": lambda view, x: view.addmm_(x, taeda.ones(3, 3)),
    "addcmul_": lambda view, x: view.addcmul_(x, x),
    "one row": lambda view, x: view.__setitem__(0, x[0]),
    "a column": lambda view, x: view.__setitem__((..., 0), x[..., -1]),
    "by a list": lambda view, x: view.__setitem__([0, 1], x[:2]),
    "by a mask": lambda view, x: view.__setitem__(view > -9, x.sum()),
    "of a list": lambda view, x: taeda._foreach_add_([view], [x]),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("mode", [taeda.no_grad, taeda.inference_mode])
def test_a_refused_write_into_a_view_writes_nothing(name, mode):
    base, x = taeda.zeros(3, 4), taeda.ones(3, 3, requires_grad=True) * 5
    with mode():
        view = base[:, 1:]
    with pytest.raises(RuntimeError, match=r"in no_grad mode or in inference|InferenceMode"):
        WRITES[name](view, x)
    assert not base.any()
    with taeda.no_grad():  # and both under no_grad is right
        if mode is taeda.no_grad:
            WRITES[name](view, x)
            assert base.any()
    assert not base.requires_grad


def test_a_custom_operator_is_refused_before_its_kernel_runs():
    runs = []
    library = taeda.library.Library("refusedwrites", "DEF")
    library.define("put(Tensor(a!) x, Tensor y) -> ()")
    library.impl("put", lambda x, y: runs.append(x.copy_(y)), "CPU")
    base = taeda.zeros(3)
    with taeda.no_grad():
        view = base[:2]
    with pytest.raises(RuntimeError, match="no_grad"):
        taeda.ops.refusedwrites.put(view, taeda.ones(2, requires_grad=True))
    assert not runs
    assert not base.any()


def _graph():
    x = taeda.ones(3, requires_grad=True)
    return x, x * 1


def test_other_memory_has_no_derivative():
    x, y = _graph()
    other = taeda.full((3,), 5.0)
    for target, source in ((y, other), (y[:2], other), (taeda.ones(3), y), (taeda.ones(3), x)):
        before = target.clone()
        with pytest.raises(RuntimeError, match="no derivative"):
            target.set_(source)
        assert taeda.equal(target, before)
    with pytest.raises(RuntimeError, match="leaf"):
        x.set_(other)
    with taeda.no_grad():
        x.set_(other)
    assert x.tolist() == [5, 5, 5]
    assert taeda.ones(3).set_(y.detach()).tolist() == [1, 1, 1]
