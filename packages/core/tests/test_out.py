"""Tensors given as out=: their dtype, their shape, and memory they share with inputs or each other."""

from __future__ import annotations

import warnings

import pytest

import taeda

WITHIN = "more than one element of the written-to tensor refers to a single memory location"
SHARED = "some elements of the input tensor and the written-to tensor"


def vector():
    return taeda.arange(6.0)


# ---- memory shared with an input ----

PARTLY = {
    "pointwise": lambda x: taeda.exp(x[1:], out=x[:-1]),
    "scan": lambda x: taeda.cumsum(x[1:], 0, out=x[:-1]),
    "sort": lambda x: taeda.sort(x[1:], out=(x[:-1], taeda.empty(5, dtype=taeda.int64))),
    "product": lambda x: taeda.mm(x[:4].view(2, 2), taeda.ones(2, 2), out=x[1:5].view(2, 2)),
    "transposed": lambda x: taeda.tril(x[:4].view(2, 2), out=x[:4].view(2, 2).t()),
    "composite": lambda x: taeda.diff(x[1:], out=x[:4]),
}


@pytest.mark.parametrize("call", PARTLY.values(), ids=PARTLY)
def test_a_part_of_an_input_is_refused(call):
    x = vector()
    with pytest.raises(RuntimeError, match=SHARED):
        call(x)
    assert x.tolist() == [0, 1, 2, 3, 4, 5]


APART = {
    "gather": lambda x, i: taeda.gather(x, 0, i, out=x),
    "gather's index": lambda x, i: taeda.gather(i, 0, i, out=i),
    "index_select": lambda x, i: taeda.index_select(x, 0, i, out=x),
    "take": lambda x, i: taeda.take(x, i, out=x),
    "masked_select": lambda x, i: taeda.masked_select(x, x > -1, out=x),
    "cat": lambda x, i: taeda.cat([x], out=x),
    "stack": lambda x, i: taeda.stack([x], out=x.view(1, 6)),
    "kthvalue": lambda x, i: taeda.kthvalue(x, 2, out=(x, taeda.empty((), dtype=taeda.int64))),
    "mode": lambda x, i: taeda.mode(x, out=(x, taeda.empty((), dtype=taeda.int64))),
}


@pytest.mark.parametrize("call", APART.values(), ids=APART)
def test_what_moves_elements_refuses_the_input_itself(call):
    with pytest.raises(RuntimeError, match=r"unsupported operation: .*single memory location"):
        call(vector(), taeda.tensor([5, 4, 3, 2, 1, 0]))


WHOLE = {
    "add": lambda x: taeda.add(x, 1, out=x),
    "cumsum": lambda x: taeda.cumsum(x, 0, out=x),
    "flip by sorting": lambda x: taeda.sort(
        x, descending=True, out=(x, taeda.empty(6, dtype=taeda.int64))
    )[0],
    "triu": lambda x: taeda.triu(x.view(2, 3), out=x.view(2, 3)),
    "logcumsumexp": lambda x: taeda.logcumsumexp(x, 0, out=x),
}


@pytest.mark.parametrize("call", WHOLE.values(), ids=WHOLE)
def test_a_whole_input_may_be_the_output(call):
    x, apart = vector(), vector()
    call(x)
    fresh = call(apart)
    assert x.tolist() == fresh.reshape(-1).tolist()


def test_interleaved_memory_is_not_shared():
    x = vector()
    taeda.cumsum(x[1::2], 0, out=x[::2])
    assert x.tolist() == [1, 1, 4, 3, 9, 5]


# ---- memory shared within ----


@pytest.mark.parametrize("name", ["exp", "cumsum", "index_select", "max"])
def test_an_expanded_output_is_refused(name):
    x, out = taeda.ones(2, 3), taeda.ones(1).expand(2, 3)
    calls = {
        "exp": lambda: taeda.exp(x, out=out),
        "cumsum": lambda: taeda.cumsum(x, 0, out=out),
        "index_select": lambda: taeda.index_select(x, 0, taeda.tensor([1]), out=out),
        "max": lambda: taeda.amax(x, 0, keepdim=True, out=taeda.ones(1).expand(1, 3)),
    }
    with pytest.raises(RuntimeError, match=WITHIN):
        calls[name]()


def test_two_outputs_may_not_be_one():
    x, out = taeda.ones(2, 3), taeda.empty(3)
    with pytest.raises(RuntimeError, match=SHARED):
        taeda.aminmax(x, dim=0, out=(out, out))


# ---- dtype and shape ----


@pytest.mark.parametrize(
    "call",
    [
        lambda out: taeda.mm(taeda.ones(2, 2), taeda.ones(2, 2), out=out),
        lambda out: taeda.gather(taeda.ones(2), 0, taeda.tensor([0]), out=out),
        lambda out: taeda.softmax(taeda.ones(2), 0, out=out),
        lambda out: taeda.multinomial(taeda.ones(2), 1, out=out),
        lambda out: taeda.amax(taeda.ones(2), out=out),
    ],
    ids=["mm", "gather", "softmax", "multinomial", "amax"],
)
def test_kernels_want_their_dtype(call):
    with pytest.raises(
        RuntimeError, match=r"Expected out tensor to have dtype .*, but got float64"
    ):
        call(taeda.empty(0, dtype=taeda.float64))


def test_elementwise_operations_and_sums_convert():
    x, wide = taeda.tensor([1.0, 2.0]), taeda.empty(2, dtype=taeda.float64)
    assert taeda.exp(x, out=wide).dtype is taeda.float64
    total = taeda.empty((), dtype=taeda.float64)
    assert taeda.sum(x, out=total).item() == 3
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
        taeda.exp(x, out=taeda.empty(2, dtype=taeda.int64))


def test_another_shape_resizes_and_says_so():
    x = taeda.ones(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert taeda.sum(x, 0, out=taeda.empty(0)).tolist() == [2, 2, 2]
    with pytest.warns(UserWarning, match=r"had shape \[4\].* output shape \[3\]"):
        assert taeda.sum(x, 0, out=taeda.empty(4)).tolist() == [2, 2, 2]


def test_out_takes_no_part_in_gradients():
    x = taeda.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        taeda.cumsum(x, 0, out=taeda.empty(2))
    with taeda.no_grad():
        assert taeda.cumsum(x, 0, out=taeda.empty(2)).tolist() == [1, 2]


def test_out_of_a_wrong_kind():
    with pytest.raises(TypeError, match="argument 'out' must be Tensor"):
        taeda.exp(taeda.ones(2), out=3)
    with pytest.raises(TypeError, match="a tuple with one Tensor per result"):
        taeda.sort(taeda.ones(2), out=taeda.empty(2))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, out: taeda.abs(x, out=out),
        lambda x, out: taeda.threshold(x, 1.0, 2.0, out=out),
        lambda x, out: taeda.add(x, 1, out=out),
        lambda x, out: taeda.cumsum(x, 0, out=out),
    ],
)
def test_an_output_on_another_device_than_the_operands_is_refused(call):
    here, nowhere = taeda.ones(8), taeda.empty(8, device="meta")
    for x, out in ((here, nowhere), (nowhere, here)):
        with pytest.raises(RuntimeError, match=r"same device.*cpu and meta"):
            call(x, out)


def test_numbers_may_go_to_an_output_of_another_device():
    out = taeda.empty(8, device="meta")
    taeda.add(taeda.tensor(1.0), taeda.ones(8, device="meta"), out=out)
    assert out.device.type == "meta"


FACTORIES = {
    "zeros": lambda out: taeda.zeros(3, out=out),
    "ones": lambda out: taeda.ones(3, out=out),
    "full": lambda out: taeda.full((3,), 2.5, out=out),
    "linspace": lambda out: taeda.linspace(0, 4, 3, out=out),
    "logspace": lambda out: taeda.logspace(0, 2, 3, out=out),
    "arange": lambda out: taeda.arange(3.0, out=out),
    "range": lambda out: taeda.range(0, 2, out=out),
    "bernoulli": lambda out: taeda.bernoulli(taeda.tensor([0.0, 1.0, 1.0]), out=out),
    "cumsum": lambda out: taeda.cumsum(taeda.tensor([1.0, 1.5, 2.0]), 0, out=out),
    "cumprod": lambda out: taeda.cumprod(taeda.tensor([1.0, 1.5, 2.0]), 0, out=out),
    "sum": lambda out: taeda.sum(taeda.tensor([[1.0, 1.5, 2.0]] * 2), 0, out=out),
    "nansum": lambda out: taeda.nansum(taeda.tensor([[1.0, 1.5, 2.0]] * 2), 0, out=out),
    "prod": lambda out: taeda.prod(taeda.tensor([[1.0, 1.5, 2.0]] * 2), 0, out=out),
}
WANTED = {
    "zeros": [0, 0, 0], "ones": [1, 1, 1], "full": [2, 2, 2], "linspace": [0, 2, 4],
    "logspace": [1, 10, 100], "arange": [0, 1, 2], "range": [0, 1, 2], "bernoulli": [0, 1, 1],
    "cumsum": [1, 2, 4], "cumprod": [1, 1, 2], "sum": [2, 2, 4], "nansum": [2, 2, 4],
    "prod": [1, 1, 4],
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["int64", "uint8", "int32"])
@pytest.mark.parametrize("name", FACTORIES)
def test_factories_and_sums_compute_in_the_dtype_of_out(name, dtype):
    out = taeda.empty(3, dtype=getattr(taeda, dtype))
    assert FACTORIES[name](out) is out
    assert out.tolist() == WANTED[name]


def test_eye_too():
    out = taeda.empty(2, 2, dtype=taeda.int64)
    assert taeda.eye(2, out=out).tolist() == [[1, 0], [0, 1]]


def test_a_dtype_that_is_not_that_of_out_is_refused():
    with pytest.raises(RuntimeError, match="can't be cast"):
        taeda.ones(3, dtype=taeda.float32, out=taeda.empty(3, dtype=taeda.int64))
