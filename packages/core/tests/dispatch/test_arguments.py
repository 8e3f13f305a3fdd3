"""Arguments of a call by its parameters: names, spreads, defaults, overloads, and what each refuses."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda import Tensor

x = taeda.arange(6.0).reshape(2, 3)

SAME = {
    "input for self": (lambda: taeda.sum(input=x), lambda: taeda.sum(x)),
    "a for self": (lambda: taeda.sum(a=x), lambda: taeda.sum(x)),
    "x for self": (lambda: taeda.sum(x=x), lambda: taeda.sum(x)),
    "x1 and x2": (lambda: taeda.add(x1=x, x2=x), lambda: x + x),
    "a for input": (lambda: taeda.bernoulli(a=x * 0), lambda: x * 0),
    "a for the input of conv2d": (
        lambda: taeda.conv2d(a=x[None, None], weight=x[None, None]),
        lambda: taeda.conv2d(x[None, None], x[None, None]),
    ),
    "x for the input of conv2d": (
        lambda: taeda.conv2d(x=x[None, None], weight=x[None, None]),
        lambda: taeda.conv2d(x[None, None], x[None, None]),
    ),
    "axis for dim": (lambda: taeda.sum(x, axis=1), lambda: x.sum(1)),
    "keepdims": (lambda: taeda.sum(x, axis=1, keepdims=True), lambda: x.sum(1, keepdim=True)),
    "keywords alone": (lambda: taeda.add(other=x, self=x, alpha=2), lambda: 3 * x),
    "spread sizes": (lambda: x.reshape(3, 2), lambda: x.reshape((3, 2))),
    "a size that is a tensor": (lambda: x.reshape(taeda.tensor(3), 2), lambda: x.reshape([3, 2])),
    "a size of numpy's": (lambda: x.reshape(np.int64(6)), lambda: x.reshape((6,))),
    "no sizes": (lambda: taeda.zeros(()), lambda: taeda.tensor(0.0)),
    "self later": (lambda: x.mul(2), lambda: taeda.mul(other=2, input=x)),
    "one dim for a list": (lambda: x.sum(0), lambda: x.sum([0])),
    "a tuple of dims": (lambda: x.sum((0, 1)), lambda: x.sum()),
}


@pytest.mark.parametrize(("call", "plain"), SAME.values(), ids=SAME)
def test_forms_that_mean_the_same(call, plain):
    assert call().tolist() == plain().tolist()


REFUSED = {
    "an unknown word": (lambda: taeda.relu(x, inplace=True), "unexpected keyword argument 'inplace'"),
    "a word like input": (lambda: taeda.relu(inputs=x), "missing|unexpected"),
    "a word like axis": (lambda: taeda.cumsum(x, axes=0), "missing|unexpected"),
    "axis without dim": (lambda: taeda.relu(x, axis=0), "unexpected keyword argument 'axis'"),
    "input without self": (lambda: taeda.stack([x], input=x), "unexpected keyword argument 'input'"),
    "a without self": (lambda: taeda.stack([x], a=x), "unexpected keyword argument 'a'"),
    "keepdims without": (lambda: taeda.relu(x, keepdims=True), "unexpected keyword argument 'keepdims'"),
    "a word with k": (lambda: taeda.relu(x, keep=True), "unexpected keyword argument 'keep'"),
    "x2 without other": (lambda: taeda.relu(x, x2=x), "unexpected keyword argument 'x2'"),
    "x without self": (lambda: taeda.stack([x], x=x), "unexpected keyword argument 'x'"),
    "a word with x": (lambda: taeda.relu(x, xs=x), "unexpected keyword argument 'xs'"),
    "given twice": (lambda: taeda.relu(x, input=x), "unexpected keyword argument 'input'"),
    "too "
    "many": (lambda: taeda.relu(x, x), r"relu\(\) takes at most 1 positional arguments, but 2 were given"),
    "too many for a method": (lambda: x.relu(x), r"takes at most 0 positional arguments, but 1 were given"),
    "too few": (lambda: taeda.relu(), 'missing 1 required positional arguments: "input"'),
    "too few of two": (lambda: x.outer(), "missing 1 required positional arguments"),
    "a word of the wrong type": (lambda: taeda.cumsum(x, dim="0"), "argument 'dim' .* must be int, not str"),
    "no tensor": (lambda: taeda.relu("x"), r"argument 'input' \(position 1\) must be Tensor, not str"),
    "another object's method": (lambda: Tensor.relu(3), "descriptor|must be Tensor|requires"),
    "out of an operation without": (lambda: taeda.relu_(x, out=x), "unexpected keyword argument 'out'"),
    "out of a method in place": (lambda: x.clone().add_(x, out=x), "got \\(|unexpected"),
    "requires_grad of no "
    "factory": (lambda: taeda.relu(x, requires_grad=True), "unexpected keyword argument 'requires_grad'"),
    "requires_grad that is no "
    "truth": (lambda: taeda.zeros(2, requires_grad=1), "unexpected keyword argument 'requires_grad'"),
    "a size that is a text": (lambda: x.reshape("2", 3), "must be tuple of ints, not str"),
    "a float among sizes": (lambda: x.reshape(2, 3.0), "what stands at position 2 is float"),
    "out that is no tensor": (lambda: taeda.add(x, x, out=1), "out"),
    "a surplus after a "
    "list": (lambda: taeda.stack([x], 0, 0), "takes at most 2 positional arguments, but 3 were given"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "text"), REFUSED.values(), ids=REFUSED)
def test_what_no_parameter_takes(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_out_may_be_none():
    assert taeda.add(x, x, out=None).tolist() == (x + x).tolist()


def test_a_factory_takes_requires_grad():
    assert taeda.zeros(2, requires_grad=True).requires_grad
    assert not taeda.zeros(2, requires_grad=False).requires_grad


def test_the_default_device_is_where_factories_make():
    with taeda.device("meta"):
        assert taeda.zeros(2).device.type == "meta"
        assert taeda.zeros(2, device="cpu").device.type == "cpu"
        assert taeda.arange(3).device.type == "meta"
        assert taeda.zeros_like(x).device.type == "cpu"  # follows its tensor
        assert taeda.relu(x).device.type == "cpu"
        assert x.new_zeros(2).device.type == "cpu"
    assert taeda.zeros(2).device.type == "cpu"


HUGE = {
    "one form": (lambda: taeda.cumsum(x, 2**70), "does not fit 64 bits"),
    "the last of several": (lambda: x.sum(2**70), "does not fit 64 bits|invalid combination"),
    "the last of two": (lambda: x.prod(2**70), "does not fit 64 bits"),
    "spread": (lambda: x.reshape(2**70, 1), "does not fit 64 bits"),
    "in a list": (lambda: taeda.zeros([2**70]), "does not fit 64 bits"),
    "a number": (lambda: taeda.add(x, 2**70), "does not fit 64 bits"),
}


@pytest.mark.parametrize(("call", "text"), HUGE.values(), ids=HUGE)
def test_an_integer_that_fits_nowhere(call, text):
    with pytest.raises((RuntimeError, TypeError), match=text):
        call()


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt, MemoryError, ZeroDivisionError, taeda.OutOfMemoryError]
)
@pytest.mark.parametrize("name", ["sum", "std", "transpose", "reshape"])
def test_what_an_argument_raises_is_not_taken_for_a_form_that_does_not_fit(name, error):
    class Raises:
        def __index__(self):
            raise error("mine")

    arguments = (0, Raises()) if name == "transpose" else (Raises(),)
    with pytest.raises(error, match="mine"):
        getattr(x, name)(*arguments)


def test_a_keyword_that_is_no_text_of_utf8():
    with pytest.raises((UnicodeEncodeError, TypeError)):
        taeda.relu(x, **{"\ud800": 1})
