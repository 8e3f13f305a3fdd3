"""`MaskedTensor`: what the page of the reference names, gradients, copies, files, refusals."""

from __future__ import annotations

import copy
import pickle

import pytest
from masks import MASK, X

import taeda
from taeda.masked import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor

UNARY = """
    abs absolute acos arccos acosh arccosh angle asin arcsin asinh arcsinh atan arctan atanh arctanh ceil
    conj_physical cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 fix floor frac lgamma log log10
    log1p log2 logit i0 isnan nan_to_num neg negative positive rad2deg reciprocal round rsqrt sigmoid sign
    sgn signbit sin sinc sinh sqrt square tan tanh trunc
""".split()
NOT_IN_PLACE = {"angle", "positive", "signbit", "isnan"}
BINARY = """
    add atan2 arctan2 div divide floor_divide fmod logaddexp logaddexp2 mul multiply nextafter remainder sub
    subtract true_divide eq ne le ge greater greater_equal gt less_equal lt less maximum minimum fmax fmin
    not_equal
""".split()
INTEGER = "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift".split()
REDUCTIONS = "sum mean amin amax argmin argmax prod norm var std".split()


def _same(made: MaskedTensor, data: taeda.Tensor, mask: taeda.Tensor) -> None:
    assert type(made) is MaskedTensor
    assert taeda.equal(made.get_mask(), mask)
    assert taeda.allclose(made.get_data()[mask], data[mask], equal_nan=True)
    assert made.dtype is data.dtype


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    x = X.abs() / 7
    made = getattr(taeda, name)(masked_tensor(x, MASK))
    _same(made, getattr(taeda, name)(x), MASK)
    if name not in NOT_IN_PLACE:
        written = masked_tensor(x, MASK)
        assert getattr(written, f"{name}_")() is written
        _same(written, getattr(taeda, name)(x), MASK)


def test_unary_with_more():
    _same(masked_tensor(X, MASK).clamp(0, 2), X.clamp(0, 2), MASK)
    _same(taeda.clip(masked_tensor(X, MASK), max=1), X.clip(max=1), MASK)
    _same(masked_tensor(X, MASK) ** 2, X**2, MASK)
    _same(~masked_tensor(X > 0, MASK), ~(X > 0), MASK)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    function, y = getattr(taeda, name), X.flip(1) + 0.5
    for other in (masked_tensor(y, MASK.clone()), y):
        _same(function(masked_tensor(X, MASK), other), function(X, y), MASK)


@pytest.mark.parametrize("name", INTEGER)
def test_binary_of_integers(name):
    x = X.abs().to(taeda.int64)
    made = getattr(taeda, name)(masked_tensor(x, MASK), masked_tensor(x.flip(1), MASK))
    _same(made, getattr(taeda, name)(x, x.flip(1)), MASK)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    made = getattr(taeda, name)(masked_tensor(X, MASK), dim=1)
    expected = getattr(taeda.masked, name)(X, dim=1, mask=MASK)
    _same(made, expected, MASK.any(1))
    whole = getattr(masked_tensor(X, MASK), name)()
    _same(whole, getattr(taeda.masked, name)(X, mask=MASK), taeda.tensor(True))


def test_all_and_any():
    x = masked_tensor(X > 0, MASK)
    assert x.all(1).get_data().tolist() == [True, False, True]
    assert x.any(1).get_data().tolist() == [True, True, False]
    assert x.all(1).get_mask().tolist() == [True, True, False]
    assert not x.all() and x.any()


VIEWS = {
    "atleast_1d": taeda.atleast_1d,
    "broadcast_tensors": lambda x: taeda.broadcast_tensors(x, x)[1],
    "broadcast_to": lambda x: taeda.broadcast_to(x, (2, 3, 4)),
    "cat": lambda x: taeda.cat([x, x], 1),
    "chunk": lambda x: x.chunk(2, 1)[1],
    "column_stack": lambda x: taeda.column_stack([x, x]),
    "dsplit": lambda x: taeda.dsplit(x.reshape(1, 3, 4), 2)[1],
    "flatten": taeda.flatten,
    "hsplit": lambda x: taeda.hsplit(x, 2)[1],
    "hstack": lambda x: taeda.hstack([x, x]),
    "meshgrid": lambda x: taeda.meshgrid(x[0], x[1], indexing="ij")[1],
    "narrow": lambda x: x.narrow(1, 1, 2),
    "ravel": taeda.ravel,
    "select": lambda x: x.select(0, 1),
    "split": lambda x: x.split(2, 1)[1],
    "stack": lambda x: taeda.stack([x, x], 1),
    "t": taeda.t,
    "transpose": lambda x: x.transpose(0, 1),
    "vsplit": lambda x: taeda.vsplit(x, 3)[1],
    "vstack": lambda x: taeda.vstack([x, x]),
    "expand": lambda x: x.expand(2, 3, 4),
    "expand_as": lambda x: x.expand_as(taeda.ones(2, 3, 4)),
    "reshape": lambda x: x.reshape(4, 3),
    "reshape_as": lambda x: x.reshape_as(taeda.ones(4, 3)),
    "unfold": lambda x: x.unfold(1, 2, 1),
    "view": lambda x: x.view(-1),
    "permute": lambda x: x.permute(1, 0),
    "unbind": lambda x: x.unbind(1)[2],
    "getitem": lambda x: x[1:, [0, 2]],
    "clone": taeda.clone,
    "to": lambda x: x.to(taeda.float32),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views(name):
    function = VIEWS[name]
    _same(function(masked_tensor(X, MASK)), function(X), function(MASK) != 0)


def test_kron_and_unfold():
    y = taeda.ones(2, 2, dtype=X.dtype)
    mask = taeda.kron(MASK.int(), taeda.ones(2, 2, dtype=taeda.int32)) > 0
    _same(taeda.kron(masked_tensor(X, MASK), y), taeda.kron(X, y), mask)
    unfold = taeda.nn.functional.unfold
    made = unfold(masked_tensor(X, MASK).reshape(1, 1, 3, 4), 2, padding=1)
    data, mask = (unfold(x.reshape(1, 1, 3, 4).double(), 2, padding=1) for x in (X, MASK))
    _same(made, data, mask != 0)


#: functions that have no gradient, and one whose gradient of a masked result is of no use here
FLAT = {"isnan", "signbit", "eq", "ne", "le", "ge", "gt", "lt"}


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize("name", [*UNARY, *REDUCTIONS, "softmax", "log_softmax", "logsumexp"])
def test_gradients_under_anomaly_mode(name):
    """Those of what counts alone, whatever stands elsewhere: 0, infinity, NaN."""
    function = getattr(taeda, name)
    x = X.abs() / 7 + (1 if "acosh" in name or name == "arccosh" else 0.01)
    more = {"dim": 1} if name in {*REDUCTIONS, "softmax", "log_softmax", "logsumexp"} else {}
    for elsewhere in (0.0, float("inf"), float("nan")):
        bad = x.masked_fill(~MASK, elsewhere).requires_grad_()
        with taeda.autograd.detect_anomaly():
            made = function(as_masked_tensor(bad, MASK), **more)
            if not made.requires_grad:
                assert name in FLAT | {"argmax", "argmin", "floor", "ceil", "trunc"}
                return
            made.sum().backward()
        assert not bad.grad[~MASK].any()
        good = x.clone().requires_grad_()
        if more:
            rows = [function(good[i][MASK[i]], dim=0).sum() for i in range(2)]
            taeda.stack(rows).sum().backward()
        else:
            function(good)[MASK].sum().backward()
        assert taeda.allclose(bad.grad, good.grad.masked_fill(~MASK, 0))


def test_leaves_have_masked_gradients():
    x = masked_tensor(X, MASK, requires_grad=True)
    (x * x).sum().backward()
    _same(x.grad, 2 * X, MASK)
    (x * 3).sum().backward()
    _same(x.grad, 2 * X + 3, MASK)
    assert x.is_leaf and not as_masked_tensor(X.clone().requires_grad_(), MASK).is_leaf
    x.to_tensor(0).sum().backward()
    assert x.get_data().requires_grad
    _same(taeda.func.grad(lambda x: (x * x).sum())(x), 2 * X, MASK)


def test_constructors_copy_and_keep():
    data = X.clone()
    copied, kept = masked_tensor(data, MASK), as_masked_tensor(data, MASK)
    data[0, 0] = 7
    assert copied.get_data()[0, 0] == X[0, 0] and kept.get_data()[0, 0] == 7
    assert is_masked_tensor(copied) and not is_masked_tensor(data)
    assert copied.layout is taeda.strided and copied.shape == X.shape


def test_copies_and_files(tmp_path):
    x = masked_tensor(X, MASK, requires_grad=True)
    taeda.save({"x": x, "again": x}, tmp_path / "f.pt")
    taeda.save({"x": x}, tmp_path / "g", format="safetensors")
    read = taeda.load(tmp_path / "f.pt")
    assert read["x"] is read["again"]
    for made in (
        copy.deepcopy(x), pickle.loads(pickle.dumps(x)), read["x"], taeda.load(tmp_path / "g")["x"],
    ):  # fmt: skip
        _same(made, X, MASK)
        assert made.requires_grad and made.is_leaf


def test_text():
    x = masked_tensor(taeda.arange(4.0).reshape(2, 2), taeda.eye(2) > 0)
    assert repr(x) == (
        "MaskedTensor(\n  [\n    [  0.0000,       --],\n    [      --,   3.0000]\n  ]\n)"
    )
    assert repr(x.sum()) == "MaskedTensor(  3.0000, True)"
    assert repr(x[0, 1]) == "MaskedTensor(--, False)"
    assert repr(masked_tensor(taeda.zeros(0), taeda.zeros(0) > 0)) == "MaskedTensor(\n  []\n)"


@pytest.mark.parametrize(
    ("call", "error", "fact"),
    [
        (lambda x: masked_tensor(X, MASK[:2]), ValueError, r"got \(3, 4\) and \(2, 4\)"),
        (lambda x: masked_tensor(X, MASK.float()), TypeError, "dtype bool, but it has"),
        (lambda x: masked_tensor([1.0], MASK), TypeError, "data must be a Tensor"),
        (lambda x: masked_tensor(x, MASK), TypeError, "plain Tensor"),
        (lambda x: masked_tensor(X.to_sparse(), MASK), TypeError, "sparse_coo"),
        (lambda x: x + masked_tensor(X, ~MASK), ValueError, "masks must match"),
        (lambda x: x @ X.T, NotImplementedError, "matmul: .* MaskedTensor"),
        (lambda x: x.sort(), NotImplementedError, "sort: .* get_data"),
        (lambda x: taeda.add(x, 1, out=x), NotImplementedError, "out="),
        (lambda x: x.requires_grad_().add_(1), RuntimeError, "while gradients are"),
        (lambda x: x[2, 0].item(), ValueError, "does not count"),
        (lambda x: x.numpy(), RuntimeError, "numpy"),
        (lambda x: x.untyped_storage(), RuntimeError, "MaskedTensor"),
        (lambda x: x.to_sparse(), NotImplementedError, "MaskedTensor"),
    ],
)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call(masked_tensor(X, MASK))
