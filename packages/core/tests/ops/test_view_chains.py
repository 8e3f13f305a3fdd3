"""Chains of views, drawn at random, against numpy: values, strides, writes, and copies back to contiguous."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taeda

STEADY = settings(derandomize=True, database=None, deadline=None, max_examples=250)
#: few of the shapes are empty: an empty tensor shows nothing
SIZES = st.sampled_from([2, 3, 4, 1, 5, 2, 3, 0])
SHAPES = st.integers(0, 4).flatmap(lambda rank: st.tuples(*[SIZES] * rank))


@st.composite
def steps(draw, shape):
    """One step that fits `shape`: its name and arguments."""
    rank = len(shape)
    kinds = ["diagonal", "transpose", "permute"] if rank > 1 else []
    kinds += ["slice", "narrow", "select", "squeeze"] if rank else []
    kinds += ["unsqueeze", "reshape", "expand", "flip"]
    kind = draw(st.sampled_from(kinds))
    dim = draw(st.integers(-rank, rank - 1)) if rank else 0
    size = shape[dim] if rank else 1
    if kind == "unsqueeze":
        return kind, (draw(st.integers(-rank - 1, rank)),)
    if kind == "expand":
        return kind, (draw(st.sampled_from([2, 1, 3, 0])),)
    if kind == "reshape":
        return kind, (draw(st.sampled_from(factored(int(np.prod(shape, dtype=int))))),)
    if kind == "flip":
        return kind, (draw(st.sets(st.integers(0, rank - 1)).map(sorted)) if rank else [],)
    if kind == "permute":
        return kind, (draw(st.permutations(range(rank))),)
    if kind == "slice":
        begins, ends = (
            st.sampled_from([None, 1, -2, 0, 2, -9, 6]),
            st.sampled_from([None, -1, 3, 9, 1, -4]),
        )
        return kind, (dim, draw(begins), draw(ends), draw(st.sampled_from([2, 1, 3])))
    if kind == "select":
        return (
            ("squeeze", (dim,)) if size == 0 else (kind, (dim, draw(st.integers(-size, size - 1))))
        )
    if kind == "narrow":
        start = draw(st.integers(0, max(size - 1, 0)))
        return kind, (dim, start, size - start - draw(st.integers(0, min(size - start, 2))))
    if kind == "squeeze":
        return kind, (dim,)
    first, second = draw(st.permutations(range(rank)))[:2]
    return kind, (draw(st.integers(-2, 2)), first, second) if kind == "diagonal" else (
        first,
        second,
    )


def factored(count):
    """Shapes of `count` elements."""
    if count == 0:
        return [(0,), (2, 0), (0, 3, 1)]
    pairs = [(a, count // a) for a in range(1, count + 1) if count % a == 0]
    return [(count,), (-1,), *pairs, *((a, 1, b) for a, b in pairs)]


def by_numpy(a, kind, arguments):
    if kind == "unsqueeze":
        return np.expand_dims(a, *arguments)
    if kind == "expand":
        return np.broadcast_to(a, (*arguments, *a.shape))
    if kind == "reshape":
        return a.reshape(*arguments)
    if kind == "flip":
        return np.flip(a, tuple(arguments[0])).copy()
    if kind == "permute":
        return a.transpose(*arguments)
    if kind == "select":
        return np.moveaxis(a, arguments[0], 0)[arguments[1]]
    if kind == "squeeze":
        return a.squeeze(arguments[0]) if a.shape[arguments[0]] == 1 else a
    if kind == "diagonal":
        return a.diagonal(*arguments)
    if kind == "transpose":
        return a.swapaxes(*arguments)
    dim, *rest = arguments
    cut = slice(rest[0], sum(rest)) if kind == "narrow" else slice(*rest)
    return a[(slice(None),) * (dim % a.ndim) + (cut,)]


def by_us(x, kind, arguments):
    if kind == "expand":
        return x.expand(*arguments, *x.shape)
    if kind == "slice":
        dim, *rest = arguments
        return x[(slice(None),) * (dim % x.dim()) + (slice(*rest),)]
    return getattr(x, kind)(*arguments)


@st.composite
def chains(draw, longest=6):
    """(tensor, numpy's, the steps): a chain whose every step fits."""
    shape = draw(SHAPES)
    a = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    x, told = taeda.from_numpy(a.copy()), []
    base = x
    for _ in range(draw(st.integers(2, longest))):
        if a.size > 300 or a.ndim > 6:
            break
        kind, arguments = draw(steps(a.shape))
        told.append((kind, arguments))
        x, a = by_us(x, kind, arguments), by_numpy(a, kind, arguments)
    return base, x, a, told


def dense_strides(shape):
    made, step = [], 1
    for size in reversed(shape):
        made.insert(0, step)
        step *= max(size, 1)
    return tuple(made)


@STEADY
@given(chains())
def test_a_chain_has_numpys_values(made):
    _, x, a, _ = made
    assert x.shape == a.shape
    assert x.tolist() == a.tolist()
    assert np.array_equal(x.numpy(), a)
    places = [0] if x.numel() else []  # an element per index, each inside the storage
    for size, step in zip(x.shape, x.stride(), strict=True):
        assert step >= 0
        places = [p + i * step for p in places for i in range(size)]
    flat = x.as_strided((x.untyped_storage().nbytes() // 4,), (1,), 0).tolist()
    assert [flat[x.storage_offset() + p] for p in places] == a.reshape(-1).tolist()


@STEADY
@given(chains())
def test_is_contiguous_as_its_strides_say(made):
    _, x, a, _ = made
    wanted = [s for s, n in zip(dense_strides(x.shape), x.shape, strict=True) if n != 1]
    found = [s for s, n in zip(x.stride(), x.shape, strict=True) if n != 1]
    assert x.is_contiguous() == (x.numel() == 0 or wanted == found)
    copied = x.contiguous()
    assert copied.is_contiguous() and copied.tolist() == a.tolist()
    assert (copied.data_ptr() == x.data_ptr()) or not x.is_contiguous()


@STEADY
@given(chains())
def test_a_write_reaches_what_the_view_shows_and_nothing_else(made):
    base, x, a, told = made
    if x.untyped_storage().data_ptr() != base.untyped_storage().data_ptr() or any(
        kind == "expand" for kind, _ in told
    ):
        return  # a copy was made on the way, or elements of the view are one place
    before = base.reshape(-1).tolist()
    x.fill_(-7)
    shown = set(a.reshape(-1).tolist())
    assert base.reshape(-1).tolist() == [-7 if value in shown else value for value in before]


@st.composite
def pairs(draw):
    """A view, and a part of it that broadcasts to it; now and then any other view."""
    _, x, a, _ = draw(chains(4))
    if draw(st.sampled_from([False, False, False, True])):
        return x, a, *draw(chains(4))[1:3]
    lead = draw(st.integers(0, x.dim()))
    part = tuple(slice(None, draw(st.sampled_from([None, 1]))) for _ in range(x.dim() - lead))
    if 0 in a.shape[:lead]:
        lead, part = 0, ()
    return x, a, x[(0,) * lead + part], a[(0,) * lead + part]


@STEADY
@given(pairs())
def test_two_views_combine_as_numpys_do(made):
    x, a, y, b = made
    try:
        wanted = a + b
    except ValueError:
        with pytest.raises(RuntimeError, match=r"must match|broadcast"):
            x + y
        return
    for made in (x + y, y + x):
        assert made.shape == wanted.shape and made.tolist() == wanted.tolist()
    assert taeda.sum(x, dtype=taeda.int64).item() == a.sum(dtype=np.int64)


@STEADY
@given(chains(3), st.data())
def test_view_shares_or_says_that_it_cannot(made, data):
    _, x, a, _ = made
    shape = data.draw(st.sampled_from(factored(a.size)))
    try:
        y = x.view(shape)
    except RuntimeError:
        assert a.size and not x.is_contiguous()  # a contiguous tensor has every view
        return
    assert y.tolist() == a.reshape(shape).tolist()
    assert y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
