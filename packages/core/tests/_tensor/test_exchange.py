"""numpy's and DLPack's words on a tensor: when memory is shared, and when it is refused."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import taeda
from taeda._layers import no_grad


def test_numpy_sees_the_same_memory():
    x = taeda.zeros(2, 3)[:, ::2]
    array = x.numpy()
    array[1, 1] = 5
    assert x[1, 1] == 5 and array.strides == (12, 8)


REFUSED = {
    "a history": (
        lambda: taeda.ones(2, requires_grad=True),
        RuntimeError,
        r"requires grad\. Use tensor\.detach",
    ),
    "a conjugate": (lambda: taeda.tensor([1 + 2j]).conj(), RuntimeError, "resolve_conj"),
    "a negative": (lambda: taeda.tensor([1 + 2j]).conj().imag, RuntimeError, "resolve_neg"),
    "no memory": (
        lambda: taeda.ones(2, device="meta"),
        TypeError,
        "can't convert meta device type tensor",
    ),
    "no such dtype": (
        lambda: taeda.ones(2, dtype=taeda.complex32),
        TypeError,
        "ScalarType complex32",
    ),
}


@pytest.mark.parametrize(("make", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_what_numpy_cannot_see(make, error, text):
    with pytest.raises(error, match=text):
        make().numpy()


@pytest.mark.parametrize("name", ["a history", "a conjugate", "a negative"])
def test_force_copies_what_numpy_cannot_see(name):
    x = REFUSED[name][0]()
    assert x.numpy(force=True).tolist() == x.detach().tolist()


@pytest.mark.parametrize(
    "name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]
)
def test_small_floats_have_the_dtypes_of_ml_dtypes(name):
    x = taeda.tensor([1.0, 2.0]).to(getattr(taeda, name))
    array = x.numpy()
    assert array.dtype == getattr(ml_dtypes, name) and array.tolist() == [1, 2]
    array[0] = 2
    assert x.float().tolist() == [2, 2]


def test_array_shares_unless_another_dtype_is_asked_for():
    x = taeda.arange(3.0)
    assert np.shares_memory(np.asarray(x), x.numpy())
    assert not np.shares_memory(x.__array__(copy=True), x.numpy())
    assert x.__array__(np.int64).dtype == np.int64
    with pytest.raises(
        ValueError, match=r"dtype <class 'numpy\.int64'> of a taeda\.float32 tensor needs a copy"
    ):
        x.__array__(np.int64, copy=False)
    assert np.shares_memory(x.__array__(np.float32, copy=False), x.numpy())


def test_what_a_ufunc_makes_comes_back_as_a_tensor():
    made = np.sin(taeda.zeros(2))
    assert isinstance(made, taeda.Tensor) and made.tolist() == [0, 0]
    frozen = np.broadcast_to(np.ones(1), (3,))
    assert taeda.ones(1).__array_wrap__(frozen).tolist() == [1, 1, 1]


def test_dlpack_shares_memory():
    x = taeda.arange(3)
    array = np.from_dlpack(x)
    assert x.__dlpack_device__() == (1, 0) and np.shares_memory(array, x.numpy())
    with pytest.raises(ValueError, match="meta"):
        taeda.ones(1, device="meta").__dlpack_device__()


def test_the_array_api_is_the_namespace():
    x = taeda.ones(2)
    assert x.__array_namespace__().__name__ == "taeda.array_api"
    assert x.__array_namespace__(api_version="2023.12") is x.__array_namespace__()
    with pytest.raises(ValueError, match=r"version 2025\.12 is there, got '2000\.01'"):
        x.__array_namespace__(api_version="2000.01")
    assert x.to_device("cpu") is x
    with pytest.raises(ValueError, match="leave stream out"):
        x.to_device("cpu", stream=1)


def test_a_dispatching_subclass_has_no_array():
    class Wrapper(taeda.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise NotImplementedError

    with pytest.raises(RuntimeError, match=r"not supported for tensor subclasses.*got Wrapper"):
        taeda.Tensor._make_wrapper_subclass(Wrapper, (2,)).numpy()


def test_what_requires_grad_is_an_array_where_nothing_is_recorded():
    x = taeda.ones(3).requires_grad_()
    with no_grad():
        array = x.numpy()
        array[0] = 5.0
    assert x.tolist() == [5.0, 1.0, 1.0]
