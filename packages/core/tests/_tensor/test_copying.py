"""deepcopy: what is shared stays shared, and what a copy keeps."""

from __future__ import annotations

import copy
import pickle

import pytest

import taeda
from taeda import Tensor


def test_a_copy_has_memory_of_its_own_and_the_same_geometry():
    x = taeda.arange(24.0).reshape(4, 6)[1:, ::2].t()
    y = copy.deepcopy(x)
    assert (y.tolist(), y.stride(), y.storage_offset()) == (
        x.tolist(),
        x.stride(),
        x.storage_offset(),
    )
    y.fill_(0)
    assert x.sum() > 0


def test_tensors_that_share_memory_share_it_again():
    base = taeda.arange(6.0)
    first, second, again = copy.deepcopy([base[:3], base[1:], base])
    first[1] = 50.0
    assert second[0] == 50 and again[1] == 50 and base[1] == 1


def test_one_object_twice_is_one_object():
    x = taeda.ones(2)
    a, b = copy.deepcopy([x, x])
    assert a is b and a is not x


def test_gradient_and_attributes_go_along():
    x = taeda.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    x.note = ["kept"]
    y = copy.deepcopy(x)
    assert y.requires_grad and y.grad.tolist() == [3, 3] and y.note == ["kept"]
    assert y.grad is not x.grad and y.note is not x.note


@pytest.mark.parametrize(
    "make", [lambda: taeda.tensor([1 + 2j]).conj(), lambda: taeda.tensor([1 + 2j]).conj().imag]
)
def test_lazy_bits_mean_the_same(make):
    x = make()
    y = copy.deepcopy(x)
    assert y.tolist() == x.tolist()
    y.zero_()
    assert x.tolist() != y.tolist()


def test_meta_tensors_and_subclasses():
    class Mine(Tensor):
        pass

    y = copy.deepcopy(taeda.ones(2, 3, device="meta"))
    assert y.device.type == "meta" and y.shape == (2, 3)
    z = copy.deepcopy(taeda.ones(2).as_subclass(Mine))
    assert type(z) is Mine and z.tolist() == [1, 1]


def test_a_computed_tensor_is_refused():
    x = taeda.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match=r"explicitly by the user.*detach\(\)\.clone\(\)"):
        copy.deepcopy(x)


def test_a_clone_of_another_type_is_named():
    class Wrong(Tensor):
        __torch_function__ = taeda._C._disabled_torch_function_impl

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return taeda.ones(2)

    x = Tensor._make_wrapper_subclass(Wrong, (2,))
    with pytest.raises(
        RuntimeError,
        match=r"deepcopy of a Wrong: its clone\(\) must be of the same type, got Tensor",
    ):
        copy.deepcopy(x)


def test_pickles_carry_no_history():
    x = taeda.ones(2, requires_grad=True) * 2
    assert pickle.loads(pickle.dumps(x)).is_leaf
    with pytest.raises(RuntimeError, match="not by __setstate__"):
        x.__setstate__({})
