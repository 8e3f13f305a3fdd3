"""Every operator that PyTorch's page of masked tensors names takes a masked tensor, and keeps what counts."""

from __future__ import annotations

import pytest
from masks import MASK

import taeda
from taeda.masked import is_masked_tensor, masked_tensor

UNARY = """
    abs absolute acos arccos acosh arccosh angle asin arcsin asinh arcsinh atan arctan atanh arctanh
    bitwise_not ceil clamp clip conj_physical cos cosh deg2rad digamma erf erfc erfinv exp exp2
    expm1 fix floor frac lgamma log log10 log1p log2 logit i0 isnan nan_to_num neg negative positive
    pow rad2deg reciprocal round rsqrt sigmoid sign sgn signbit sin sinc sinh sqrt square tan tanh
    trunc
""".split()
BINARY = """
    add atan2 arctan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift div
    divide floor_divide fmod logaddexp logaddexp2 mul multiply nextafter remainder sub subtract
    true_divide eq ne le ge greater greater_equal gt less_equal lt less maximum minimum fmax fmin
    not_equal equal
""".split()
REDUCTIONS = "sum mean amin amax argmin argmax prod all norm var std".split()
VIEWS = {
    "atleast_1d": (), "broadcast_to": ((2, *MASK.shape),), "chunk": (1,), "column_stack": None,
    "dsplit": None, "flatten": (), "hsplit": (1,), "hstack": None, "kron": None, "narrow": (0, 0, 1),
    "ravel": (),
    "select": (0, 0), "split": (1,), "stack": None, "cat": None, "t": (), "transpose": (0, 1), "vsplit": (1,),
    "vstack": None, "expand": ((2, *MASK.shape),), "reshape": ((-1,),), "unfold": (0, 1, 1), "view": ((-1,),),
    "meshgrid": None, "broadcast_tensors": None,
}  # fmt: skip
INTEGERS = ("bitwise",)
MORE = {"clamp": {"min": 0.0}, "clip": {"min": 0.0}, "pow": {"exponent": 2}}


def data(name):
    x = taeda.arange(MASK.numel()).reshape(MASK.shape)
    return x + 1 if name.startswith(INTEGERS) else (x + 1) / (MASK.numel() + 2)


def same_where_kept(made, wanted):
    kept = made.get_mask()
    return taeda.allclose(made.get_data()[kept], wanted[kept], equal_nan=True)


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    x, function, more = data(name), getattr(taeda, name), MORE.get(name, {})
    made = function(masked_tensor(x, MASK), **more)
    assert taeda.equal(made.get_mask(), MASK)
    assert same_where_kept(made, function(x, **more))


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    x, function = data(name), getattr(taeda, name)
    a, b = masked_tensor(x, MASK), masked_tensor(x.flip(0), MASK)
    if name == "equal":
        assert function(a, a) is True
        assert function(a, b) is False
        assert function(a, masked_tensor(x.masked_fill(~MASK, 9), MASK)) is True
        assert function(a, a[:1]) is False
        return
    made = function(a, b)
    assert taeda.equal(made.get_mask(), MASK)
    assert same_where_kept(made, function(x, x.flip(0)))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    x = masked_tensor(data(name), MASK)
    made = getattr(x, name)(1) if name != "norm" else x.norm(2, 1)
    assert is_masked_tensor(made) or not made.is_floating_point()
    assert made.shape == (MASK.size(0),)


@pytest.mark.parametrize("name", VIEWS)
def test_views(name):
    x, rest = masked_tensor(data(name), MASK), VIEWS[name]

    def call(value):
        function = getattr(taeda, name, None)
        if name == "dsplit":
            return function(value.unsqueeze(2), 1)
        if name == "kron":
            return function(value, value)
        if name == "meshgrid":
            return function(value[0], value[0], indexing="ij")
        if name == "broadcast_tensors":
            return function(value, value[0])
        if rest is None:
            return function([value, value])
        return getattr(value, name)(*rest) if hasattr(value, name) else function(value, *rest)

    made, wanted, mask = call(x), call(data(name)), call(MASK)
    parts = made if isinstance(made, (tuple, list)) else [made]
    wanted = wanted if isinstance(wanted, (tuple, list)) else [wanted]
    masks = mask if isinstance(mask, (tuple, list)) else [mask]
    for part, expected, kept in zip(parts, wanted, masks, strict=True):
        assert taeda.equal(part.get_mask(), kept)
        assert same_where_kept(part, expected)


def test_windows_of_pictures():
    x = data("unfold").reshape(1, 1, *MASK.shape)
    made = taeda.nn.functional.unfold(masked_tensor(x, MASK.reshape(x.shape)), 1)
    assert taeda.equal(made.get_mask().flatten(), MASK.flatten())
