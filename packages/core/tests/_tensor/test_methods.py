"""Methods with a form of their own, and those whose function lives elsewhere."""

from __future__ import annotations

import pytest

import taeda
from taeda import Tensor


def test_where_keeps_the_tensor_where_the_condition_holds():
    x = taeda.tensor([1.0, 2.0])
    assert x.where(taeda.tensor([True, False]), taeda.tensor([7.0, 8.0])).tolist() == [1, 8]
    assert x.where(taeda.tensor([False, True]), 0.0).tolist() == [0, 2]


def test_lu_is_that_of_the_function():
    x = taeda.tensor([[1.0, 2.0], [3.0, 4.0]])
    factors, pivots = x.lu()
    assert factors.tolist() == taeda.lu(x)[0].tolist() and pivots.tolist() == [2, 2]
    assert len(x.lu(get_infos=True)) == 3


def test_new_tensor_is_a_leaf_of_this_dtype():
    x = taeda.ones(1, dtype=taeda.int16)
    source = taeda.tensor([1.5, 2.5], requires_grad=True)
    made = x.new_tensor(source)
    assert made.dtype is taeda.int16 and made.tolist() == [1, 2]
    made = x.new_tensor(source, dtype=taeda.float32, requires_grad=True)
    assert made.is_leaf and made.requires_grad and made.data_ptr() != source.data_ptr()
    assert x.new_tensor([1], device="meta").device.type == "meta"


def test_elements_one_by_one():
    x = taeda.arange(6.0).reshape(2, 3).t()
    assert x.clone().apply_(lambda v: v * 2).tolist() == (x * 2).tolist()
    other = taeda.tensor([10.0, 20.0])
    assert x.clone().map_(other, lambda a, b: a + b).tolist() == (x + other).tolist()
    made = x.clone().map2_(other, x, lambda a, b, c: a + b * c)
    assert made.tolist() == (x + other * x).tolist()


def test_apply_writes_through_a_view():
    x = taeda.arange(4.0)
    x[1:3].apply_(lambda v: -v)
    assert x.tolist() == [0, -1, -2, 3]


def test_module_load_copies_or_assigns():
    x, other = taeda.zeros(2), taeda.ones(2)
    assert x.module_load(other).data_ptr() == x.data_ptr() and x.tolist() == [1, 1]
    assert x.module_load(other, assign=True).data_ptr() == other.data_ptr()


def test_detach_leaves_the_graph_in_place_and_keeps_attributes():
    x = taeda.ones(2, requires_grad=True) * 2
    x.note = "kept"
    assert x.detach_() is x and x.is_leaf and not x.requires_grad and x.note == "kept"
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        taeda.ones(2)[:1].detach_()


def test_small_questions():
    assert taeda.tensor([3.0]).is_nonzero() and not taeda.tensor(0).is_nonzero()
    with pytest.raises(RuntimeError):
        taeda.ones(2).is_nonzero()
    assert taeda.ones(2, 3).is_same_size(taeda.zeros(2, 3))
    assert not taeda.ones(2, 3).is_same_size(taeda.zeros(3, 2))
    assert taeda.ones(1).is_distributed() is False


class Mine(Tensor):
    pass


def test_as_subclass_keeps_memory_and_history():
    x = taeda.ones(2, requires_grad=True)
    y = (x * 3).as_subclass(Mine)
    assert type(y) is Mine and y.requires_grad and not y.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]
    z = taeda.ones(2)
    assert z.as_subclass(Mine).data_ptr() == z.data_ptr()


def test_as_subclass_keeps_the_tangent():
    from taeda.autograd import forward_ad

    with forward_ad.dual_level():
        x = forward_ad.make_dual(taeda.ones(2), taeda.tensor([3.0, 4.0]))
        y = x.as_subclass(Mine)
        assert forward_ad.unpack_dual(y).tangent.tolist() == [3, 4]


def test_unique_is_that_of_the_function():
    x = taeda.tensor([2, 1, 2, 2])
    assert x.unique().tolist() == [1, 2]
    values, counts = x.unique_consecutive(return_counts=True)
    assert (values.tolist(), counts.tolist()) == ([2, 1, 2], [1, 1, 2])
    assert "taeda.unique" in Tensor.unique.__doc__


def test_new_tensor_has_the_layout_it_is_asked_for():
    x = taeda.ones(2)
    made = x.new_tensor([[0.0, 2.0]], layout=taeda.sparse_csr, requires_grad=True)
    assert made.layout is taeda.sparse_csr and made.requires_grad and made.is_leaf
    assert made.to_dense().tolist() == [[0.0, 2.0]]
    assert x.new_tensor([1], layout=taeda.strided).layout is taeda.strided
    with pytest.raises(TypeError, match="layout"):
        x.new_tensor([1], layout="strided")


@pytest.mark.parametrize("format", [None, 1, "channels_last"])
def test_is_contiguous_wants_a_memory_format(format):
    with pytest.raises(TypeError, match=r"must be .*memory_format, not"):
        taeda.ones(2).is_contiguous(memory_format=format)
