"""Where PyTorch's pages contradict each other: which side holds here, one row for each."""

from __future__ import annotations

import numpy as np
import pytest

import taeda


def _gradient_of_a_magnitude():
    z = taeda.tensor([3 + 4j], requires_grad=True)
    (z * z.conj()).real.sum().backward()
    return z.grad.tolist() == [2 * (3 + 4j)]  # d/dx + i d/dy: twice the conjugate derivative


def _steps():
    return taeda.arange(0, 1, 0.3).numel() == 4 and taeda.arange(5).numel() == 5  # ceil


def _numbers_broadcast():
    return (taeda.tensor(2.0) + taeda.ones(2, 3)).shape == (2, 3)  # without a dimension, too


def _dtypes():
    names = (
        "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex32 "
        "complex64 complex128 float8_e4m3fn float8_e5m2 quint8 qint8 qint32 quint4x2"
    )
    return all(isinstance(getattr(taeda, name), taeda.dtype) for name in names.split())


def _checkpoint_warns():
    from taeda.utils.checkpoint import checkpoint

    x = taeda.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="use_reentrant"):
        return checkpoint(lambda v: v * 2, x).sum().item() == 4.0


def _a_slice_of_a_product():
    """The page's example of numerics compares a row of a batch with the product of that row."""
    taeda.manual_seed(0)
    a, b = taeda.randn(2, 3, 4), taeda.randn(2, 4, 5)
    return taeda.allclose(taeda.bmm(a, b)[0], taeda.mm(a[0], b[0]), atol=1e-6)


def _old_batch_norm():
    weight = taeda.nn.BatchNorm1d(3).weight.detach()
    return weight.tolist() == [1.0] * 3  # not uniform numbers


def _old_stft():
    window, x = taeda.ones(4), taeda.arange(16.0)
    return taeda.stft(x, 4, window=window, return_complex=True).is_complex()


def _old_division():
    return (taeda.tensor(3) / taeda.tensor(2)).item() == 1.5


def _old_order_of_schedulers():
    optimizer = taeda.optim.SGD([taeda.nn.Parameter(taeda.ones(1))], lr=1.0)
    schedule = taeda.optim.lr_scheduler.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match=r"before `optimizer.step"):
        schedule.step()
    return True


def _old_masks():
    """Comparisons give bools; bytes are still taken as a mask."""
    x = taeda.arange(3)
    with pytest.warns(UserWarning, match="uint8 is deprecated"):
        made = x[taeda.tensor([1, 0, 1], dtype=taeda.uint8)]
    return (x > 1).dtype is taeda.bool and made.tolist() == [0, 2]


def _old_zero_grad():
    layer = taeda.nn.Linear(2, 2)
    layer(taeda.ones(1, 2)).sum().backward()
    layer.zero_grad()
    return layer.weight.grad is None


def _old_one_hot():
    return taeda.nn.functional.one_hot(taeda.tensor([0, 2])).shape == (2, 3)


def _padding_of_max_pool():
    x = -taeda.ones(1, 1, 2)
    return (taeda.nn.functional.max_pool1d(x, 2, 1, 1) == -1).all().item()  # -inf, not 0


def _mean_of_kl_div():
    x, y = taeda.zeros(2, 4), taeda.full((2, 4), 0.25)
    with pytest.warns(UserWarning, match="batchmean"):
        mean = taeda.nn.functional.kl_div(x, y, reduction="mean")
    return np.isclose(mean.item(), (0.25 * np.log(0.25)))


def _types_that_differ():
    with pytest.raises(TypeError):
        taeda.testing.assert_close(taeda.ones(1), "a")
    with pytest.raises(AssertionError):
        taeda.testing.assert_close(taeda.ones(1), taeda.zeros(1))
    return True


def _arguments_of_custom_fwd():
    class Double(taeda.autograd.Function):
        @staticmethod
        @taeda.amp.custom_fwd(device_type="cpu", cast_inputs=taeda.float32)
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @taeda.amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            return grad * 2

    x = taeda.ones(2, requires_grad=True)
    Double.apply(x).sum().backward()
    return x.grad.tolist() == [2.0, 2.0]


PROMISES = {
    name.strip("_"): call
    for name, call in list(globals().items())
    if name.startswith("_") and getattr(call, "__module__", "") == __name__
}


@pytest.mark.parametrize("name", PROMISES)
def test_which_side_holds(name):
    assert PROMISES[name]()


#: needed, and on no list of the pages
NEEDED = """
    Tensor.data Tensor.grad_fn Tensor._version Tensor._base Tensor.split_with_sizes Tensor.is_inference
    Tensor.__getitem__ Tensor.__matmul__ Tensor.__rsub__ Tensor.__torch_function__ amp.GradScaler
    set_grad_enabled inference_mode empty_permuted masked.masked_tensor masked.as_masked_tensor
    overrides.TorchFunctionMode
    utils._python_dispatch.TorchDispatchMode ops UntypedStorage TypedStorage inf nan pi e newaxis _foreach_add
    _foreach_add_ _foreach_mul _foreach_addcmul_ _foreach_addcdiv_ _foreach_lerp _foreach_norm _foreach_copy_
    _foreach_sub _foreach_div _foreach_sqrt _foreach_maximum
""".split()


@pytest.mark.parametrize("name", NEEDED)
def test_names_that_no_list_has(name):
    found = taeda
    for part in name.split("."):
        found = getattr(found, part)
    assert found is not None or name == "newaxis"
