"""Copies of views: the elements of the view, in memory of their own."""

from __future__ import annotations

import pytest

import taeda

X = taeda.arange(24.0).view(2, 3, 4)
COPIES = {
    "alias_copy": ((), lambda x: x),
    "as_strided_copy": (((2, 2), (1, 3), 4), lambda x: x.as_strided((2, 2), (1, 3), 4)),
    "detach_copy": ((), lambda x: x),
    "diagonal_copy": ((1, 0, 2), lambda x: x.diagonal(1, 0, 2)),
    "expand_copy": (((5, 2, 3, 4),), lambda x: x.expand(5, 2, 3, 4)),
    "narrow_copy": ((2, 1, 2), lambda x: x[:, :, 1:3]),
    "permute_copy": (((2, 0, 1),), lambda x: x.permute(2, 0, 1)),
    "select_copy": ((1, -1), lambda x: x[:, -1]),
    "slice_copy": ((2, 1, None, 2), lambda x: x[:, :, 1::2]),
    "squeeze_copy": ((), lambda x: x.squeeze()),
    "transpose_copy": ((0, 2), lambda x: x.transpose(0, 2)),
    "unfold_copy": ((2, 3, 1), lambda x: x.unfold(2, 3, 1)),
    "unsqueeze_copy": ((1,), lambda x: x.unsqueeze(1)),
    "view_copy": (((4, 6),), lambda x: x.view(4, 6)),
}


@pytest.mark.parametrize("name", COPIES)
def test_copies(name):
    args, view = COPIES[name]
    got = getattr(taeda, name)(X, *args)
    assert taeda.equal(got, view(X))
    assert got.is_contiguous()
    assert got.untyped_storage().data_ptr() != X.untyped_storage().data_ptr()
    out = taeda.empty(0)
    assert getattr(taeda, name)(X, *args, out=out) is out
    assert taeda.equal(out, view(X))


@pytest.mark.parametrize(
    ("name", "args"),
    [("split_copy", (2, 2)), ("split_with_sizes_copy", ((1, 3), 2)), ("unbind_copy", (1,))],
)
def test_lists_of_copies(name, args):
    views = getattr(X, name.removesuffix("_copy"))(*args)
    for got, view in zip(getattr(taeda, name)(X, *args), views, strict=True):
        assert taeda.equal(got, view)
        assert got.untyped_storage().data_ptr() != X.untyped_storage().data_ptr()


def test_complex_pairs_and_bytes():
    z = taeda.complex(X, X + 1)
    assert taeda.equal(taeda.view_as_complex_copy(taeda.view_as_real_copy(z)), z)
    assert taeda.view_copy(X, taeda.int32).dtype is taeda.int32
    assert taeda.t_copy(X[0]).shape == (4, 3)


@pytest.mark.parametrize("name", ["chunk", "split", "split_with_sizes"])
def test_unsafe_parts_may_be_written_under_autograd(name):
    args = ((1, 1),) if name == "split_with_sizes" else (2,) if name == "chunk" else (1,)
    x = taeda.ones(2, 3, requires_grad=True)
    parts = getattr(taeda, f"unsafe_{name}")(x * 1, *args)
    parts[0].mul_(3)
    (parts[0].sum() + parts[1].sum()).backward()
    assert x.grad.tolist() == [[3, 3, 3], [1, 1, 1]]


def test_refusals_are_the_views_own():
    with pytest.raises(IndexError, match="Dimension out of range"):
        taeda.transpose_copy(X, 0, 3)
    with pytest.raises(RuntimeError, match="shape"):
        taeda.view_copy(X, (5, 5))


def test_parts_are_copied_into_given_tensors():
    out = [taeda.empty(0), taeda.empty(3, 4)]
    assert taeda.unbind_copy(X, out=out) is None
    assert taeda.equal(taeda.stack(out), X)
    taeda.split_with_sizes_copy(X, (1, 3), 2, out=out)
    assert [tuple(t.shape) for t in out] == [(2, 3, 1), (2, 3, 3)]
    assert taeda.equal(taeda.cat(out, 2), X)


def test_given_tensors_must_fit():
    with pytest.raises(RuntimeError, match="expected out= of 2 tensors, got 1"):
        taeda.unbind_copy(X, out=[taeda.empty(0)])
    with pytest.raises(RuntimeError, match=r"dtype taeda\.float32, got taeda\.int64"):
        taeda.unbind_copy(X, out=[taeda.empty(0, dtype=taeda.int64)] * 2)
