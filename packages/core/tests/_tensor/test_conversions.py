"""Other dtypes and devices: every form of `to`, and when nothing is copied."""

from __future__ import annotations

import pytest

import taeda

CASTS = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16",
    "long": "int64", "int": "int32",
    "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool", "cfloat": "complex64",
    "cdouble": "complex128",
    "chalf": "complex32",
}  # fmt: skip


@pytest.mark.parametrize(("name", "dtype"), CASTS.items())
def test_casts_by_name(name, dtype):
    x = taeda.tensor([0, 1, 2], dtype=taeda.int16)
    y = getattr(x, name)()
    assert y.dtype is getattr(taeda, dtype)
    assert y.double().tolist() == ([0, 1, 1] if name == "bool" else [0, 1, 2])
    assert getattr(y, name)() is y


FORMS = {
    "dtype": (lambda x: x.to(taeda.float64), "float64", "cpu"),
    "dtype=": (lambda x: x.to(dtype=taeda.float64), "float64", "cpu"),
    "Python's float": (lambda x: x.to(float), "float64", "cpu"),
    "Python's int": (lambda x: x.to(int), "int64", "cpu"),
    "Python's bool": (lambda x: x.to(bool), "bool", "cpu"),
    "Python's complex": (lambda x: x.to(complex), "complex128", "cpu"),
    "device": (lambda x: x.to("meta"), "float32", "meta"),
    "device=": (lambda x: x.to(device="meta"), "float32", "meta"),
    "a device": (lambda x: x.to(taeda.device("meta")), "float32", "meta"),
    "device, dtype": (lambda x: x.to("meta", taeda.int32), "int32", "meta"),
    "device, None": (lambda x: x.to("meta", None), "float32", "meta"),
    "None, dtype": (lambda x: x.to(None, taeda.int32), "int32", "cpu"),
    "another": (lambda x: x.to(taeda.ones(1, dtype=taeda.int8, device="meta")), "int8", "meta"),
    "other=": (lambda x: x.to(other=taeda.ones(1, dtype=taeda.int8)), "int8", "cpu"),
    "type_as": (lambda x: x.type_as(taeda.ones(1, dtype=taeda.int8)), "int8", "cpu"),
}


@pytest.mark.parametrize(("call", "dtype", "device"), FORMS.values(), ids=FORMS)
def test_forms_of_to(call, dtype, device):
    y = call(taeda.ones(2, 3))
    assert (y.dtype, y.device.type, y.shape) == (getattr(taeda, dtype), device, (2, 3))


def test_nothing_to_change_gives_the_tensor_itself():
    x = taeda.ones(2, 3)
    for y in (
        x.to(), x.to(taeda.float32), x.to("cpu"), x.to("cpu", taeda.float32), x.to(x), x.cpu(), x.float(),
        x.to(memory_format=taeda.preserve_format), x.to(memory_format=taeda.contiguous_format),
    ):  # fmt: skip
        assert y is x


def test_a_copy_is_made_on_request():
    x = taeda.ones(2)
    for y in (
        x.to(taeda.float32, copy=True),
        x.to(taeda.float32, False, True),
        x.to("cpu", copy=True),
    ):
        assert y is not x and y.data_ptr() != x.data_ptr() and y.tolist() == [1, 1]


def test_another_memory_format_is_a_copy():
    x = taeda.arange(24.0).reshape(1, 2, 3, 4)
    y = x.to(memory_format=taeda.channels_last)
    assert y.stride() == (24, 1, 8, 2)
    assert y.tolist() == x.tolist()
    assert y.to(memory_format=taeda.channels_last) is y
    assert y.double().stride() == y.stride()
    assert y.double(memory_format=taeda.contiguous_format).stride() == x.stride()


REFUSED = {
    "a list": (lambda x: x.to([1]), TypeError, "wanted a dtype, a device or a tensor, got list"),
    "a truth": (lambda x: x.to(True), TypeError, "got bool"),
    "an unknown device": (lambda x: x.to("abacus"), RuntimeError, "abacus"),
    "a float for a device": (lambda x: x.to(1.5), TypeError, "got float"),
}


@pytest.mark.parametrize(("call", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_refusals_of_to(call, error, text):
    with pytest.raises(error, match=text):
        call(taeda.ones(2))


@pytest.mark.parametrize("name", ["xpu"])
def test_a_device_of_another_maker_is_not_there(name):
    with pytest.raises(RuntimeError, match=name):
        getattr(taeda.ones(2), name)()


def test_casts_are_differentiable_between_floats():
    x = taeda.ones(2, requires_grad=True)
    x.double().mul(3).sum().backward()
    assert x.grad.tolist() == [3, 3]
    assert x.grad.dtype is taeda.float32


def test_new_takes_sizes_values_and_a_device():
    x = taeda.ones(2, dtype=taeda.int16)
    assert x.new(2, 3).shape == (2, 3)
    assert x.new([4, 5]).tolist() == [4, 5]
    assert x.new([4, 5]).dtype is taeda.int16
    assert x.new(2, device="cpu").device.type == "cpu"


def test_xpu_wants_an_intel_gpu():
    x = taeda.ones(2)
    with pytest.raises(RuntimeError, match="wanted an Intel GPU"):
        x.xpu("cpu")
    for device in (None, 0, "xpu:1"):
        with pytest.raises(RuntimeError, match="xpu"):
            x.xpu(device, non_blocking=True)
