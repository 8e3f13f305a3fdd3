"""Views against numpy: values and shared memory on several layouts; copies in another order; every
refusal.
"""

from __future__ import annotations

import numpy as np
import pytest

import taeda


def cube(dtype=taeda.float32):
    return taeda.arange(24, dtype=dtype).reshape(2, 3, 4)


LAYOUTS = {
    "row-major": lambda: cube(),
    "transposed": lambda: taeda.arange(24.0).reshape(4, 3, 2).transpose(0, 2),
    "offset": lambda: taeda.arange(48.0).reshape(4, 3, 4)[2:],
    "strided": lambda: taeda.arange(48.0).reshape(2, 3, 8)[..., ::2],
    "expanded": lambda: taeda.arange(12.0).reshape(1, 3, 4).expand(2, 3, 4),
}

VIEWS = {
    "permute": (lambda x: x.permute(2, 0, 1), lambda a: a.transpose(2, 0, 1)),
    "transpose": (lambda x: x.transpose(0, -1), lambda a: a.swapaxes(0, -1)),
    "swapaxes": (lambda x: x.swapaxes(0, 1), lambda a: a.swapaxes(0, 1)),
    "movedim": (lambda x: x.movedim((0, 1), (-1, 0)), lambda a: np.moveaxis(a, (0, 1), (-1, 0))),
    "moveaxis": (lambda x: taeda.moveaxis(x, 0, 2), lambda a: np.moveaxis(a, 0, 2)),
    "unsqueeze": (lambda x: x.unsqueeze(-2), lambda a: np.expand_dims(a, -2)),
    "squeeze": (lambda x: x[:, :1].squeeze(1), lambda a: a[:, 0]),
    "select": (lambda x: x.select(1, -1), lambda a: a[:, -1]),
    "narrow": (lambda x: x.narrow(2, 1, 2), lambda a: a[..., 1:3]),
    "narrow from the end": (lambda x: x.narrow(2, -3, 2), lambda a: a[..., 1:3]),
    "slice": (lambda x: x[:, 1:, ::3], lambda a: a[:, 1:, ::3]),
    "diagonal": (lambda x: x.diagonal(1, 1, 2), lambda a: a.diagonal(1, 1, 2)),
    "diagonal below": (lambda x: x.diagonal(-2, 1, 2), lambda a: a.diagonal(-2, 1, 2)),
    "unfold": (
        lambda x: x.unfold(2, 3, 1),
        lambda a: np.lib.stride_tricks.sliding_window_view(a, 3, axis=2),
    ),
    "expand": (
        lambda x: x.unsqueeze(0).expand(2, -1, 3, 4),
        lambda a: np.broadcast_to(a, (2, 2, 3, 4)),
    ),
    "T": (lambda x: x[0].T, lambda a: a[0].T),
    "mT": (lambda x: x.mT, lambda a: a.swapaxes(1, 2)),
    "unflatten": (lambda x: x.unflatten(2, (2, -1)), lambda a: a.reshape(2, 3, 2, 2)),
    "view of a part": (lambda x: x[:, 0].unflatten(-1, (2, 2)), lambda a: a[:, 0].reshape(2, 2, 2)),
    "detach": (lambda x: x.detach(), lambda a: a),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", VIEWS)
def test_view_has_numpys_values_and_shares_memory(name, layout):
    ours, theirs = VIEWS[name]
    x = LAYOUTS[layout]()
    y = ours(x)
    assert y.tolist() == theirs(np.array(x.tolist())).tolist()
    assert y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


def test_writes_are_seen_through_every_alias():
    x = taeda.zeros(4, 6, dtype=taeda.complex64)
    part = x.t().narrow(0, 2, 2)
    part.real.fill_(3)
    assert x[:, 2:4].real.tolist() == [[3.0, 3.0]] * 4
    x.fill_(1)
    assert part.imag.sum().item() == 0
    assert part.real.tolist() == [[1.0] * 4] * 2


# ---- shape ----


@pytest.mark.parametrize(
    "shape", [(24,), (4, 6), (-1,), (2, -1), (6, 1, 4), (2, 3, 2, 2), (1, 24, 1), (8, 3), (2, 12)]
)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_reshape_has_numpys_values(shape, layout):
    x = LAYOUTS[layout]()
    assert x.reshape(shape).tolist() == np.array(x.tolist()).reshape(shape).tolist()


@pytest.mark.parametrize(
    ("layout", "shape"),
    [("transposed", (24,)), ("strided", (6, 2, 2)), ("expanded", (24,)), ("transposed", (2, 12))],
)
def test_view_copies_never(layout, shape):
    x = LAYOUTS[layout]()
    if layout == "strided":  # the last dimension splits, the first two chain
        assert x.view(shape).tolist() == np.array(x.tolist()).reshape(shape).tolist()
        return
    with pytest.raises(RuntimeError, match="not compatible"):
        x.view(shape)
    assert x.reshape(shape).untyped_storage().data_ptr() != x.untyped_storage().data_ptr()


def test_view_of_nothing():
    x = taeda.zeros(0, 3)
    assert x.view(5, 0).shape == (5, 0)
    with pytest.raises(RuntimeError, match="ambiguous"):
        x.view(-1, 0)


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        (taeda.int32, (2, 3, 4)),
        (taeda.int16, (2, 3, 8)),
        (taeda.float64, (2, 3, 2)),
        (taeda.complex64, (2, 3, 2)),
    ],
)
def test_view_of_other_dtypes_keeps_the_bytes(dtype, shape):
    x = cube()
    y = x.view(dtype)
    assert y.shape == shape
    assert y.numpy().tobytes() == x.numpy().tobytes()
    assert y.view(taeda.float32).tolist() == x.tolist()


def test_flatten_and_ravel():
    x = cube()
    assert x.flatten(1).shape == (2, 12)
    assert x.flatten(0, 1).shape == (6, 4)
    assert taeda.tensor(3.0).flatten().shape == (1,)
    assert x.ravel().data_ptr() == x.data_ptr()
    assert (
        x.transpose(0, 1).ravel().tolist() == np.array(x.tolist()).swapaxes(0, 1).ravel().tolist()
    )


def test_rank_64_is_the_end():
    x = taeda.ones((1,) * 64)
    assert x.squeeze().shape == ()
    with pytest.raises(RuntimeError, match="64"):
        x.unsqueeze(0)


def test_as_strided():
    x = taeda.arange(10.0)
    assert x.as_strided((3, 2), (2, 1), 1).tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert x.as_strided((0, 5), (100, 100)).shape == (0, 5)


# ---- several views ----

SPLITS = {
    "split": (lambda x: x.split(2, 1), [2, 1]),
    "split sizes": (lambda x: x.split([1, 0, 2], 1), [1, 0, 2]),
    "split_with_sizes": (lambda x: x.split_with_sizes([3], 1), [3]),
    "chunk": (lambda x: x.chunk(2, 1), [2, 1]),
    "chunk more than there are": (lambda x: x.chunk(5, 1), [1, 1, 1]),
    "tensor_split": (lambda x: x.tensor_split(2, 1), [2, 1]),
    "tensor_split at": (lambda x: x.tensor_split((1, 1), 1), [1, 0, 2]),
    "tensor_split by tensor": (lambda x: x.tensor_split(taeda.tensor([1]), 1), [1, 2]),
    "hsplit": (lambda x: x.hsplit((1, 2)), [1, 1, 1]),
}


@pytest.mark.parametrize("name", SPLITS)
def test_pieces_lie_side_by_side(name):
    cut, sizes = SPLITS[name]
    x = cube()
    pieces = cut(x)
    assert [p.size(1) for p in pieces] == sizes
    assert taeda.cat(pieces, 1).tolist() == x.tolist()
    assert all(p.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() for p in pieces)


def test_unbind():
    assert [p.tolist() for p in cube().unbind(2)] == np.moveaxis(
        np.array(cube().tolist()), 2, 0
    ).tolist()
    assert len(taeda.zeros(0, 3).unbind()) == 0


def test_split_of_nothing_is_one_piece():
    assert [p.shape for p in taeda.zeros(0, 2).split(0)] == [(0, 2)]
    assert len(taeda.zeros(0, 2).chunk(3)) == 3


def test_many_pieces():
    assert len(taeda.arange(1000).unbind()) == 1000


# ---- complex ----


def test_conj_is_lazy_and_resolves():
    z = taeda.tensor([1 + 2j, 3 - 4j])
    w = z.conj()
    assert w.is_conj()
    assert w.data_ptr() == z.data_ptr()
    assert w.tolist() == [1 - 2j, 3 + 4j]
    assert not w.resolve_conj().is_conj()
    assert w.conj().tolist() == z.tolist()
    assert w.imag.tolist() == [-2.0, 4.0]
    w.imag.fill_(7.0)
    assert z.tolist() == [1 - 7j, 3 - 7j]


def test_real_tensors_are_their_own_conjugate():
    x = cube()
    assert x.conj() is x
    assert taeda.real(x) is x
    assert x.resolve_neg() is x


def test_halves_of_complex_numbers():
    z = taeda.tensor([[1 + 2j, 3 - 4j]])
    assert taeda.view_as_real(z).tolist() == [[[1.0, 2.0], [3.0, -4.0]]]
    assert taeda.view_as_complex(taeda.view_as_real(z)).tolist() == z.tolist()
    assert z.mH.tolist() == [[1 - 2j], [3 + 4j]]
    assert z.real.stride() == (4, 2)


# ---- the tensor itself, or a copy ----


def test_contiguous_is_the_tensor_itself_if_it_can_be():
    x = cube()
    assert x.contiguous() is x
    assert x.transpose(0, 1).contiguous().stride() == (8, 4, 1)
    image = taeda.arange(120.0).reshape(1, 2, 3, 20)
    last = image.contiguous(memory_format=taeda.channels_last)
    assert last.stride() == (120, 1, 40, 2)
    assert last.tolist() == image.tolist()
    assert last.contiguous(memory_format=taeda.channels_last) is last


def test_clone_keeps_the_order_of_dimensions():
    x = cube().transpose(0, 2)
    assert x.clone().stride() == x.stride()
    assert x[::2].clone().stride() == (1, 2, 6)
    assert x.clone(memory_format=taeda.contiguous_format).stride() == (6, 2, 1)


def test_in_place_changes_of_shape():
    x = cube()
    assert x.transpose_(0, 2) is x
    assert x.shape == (4, 3, 2)
    assert x.unsqueeze_(0).squeeze_(0).swapdims_(0, 2).tolist() == cube().tolist()
    m = taeda.arange(6.0).reshape(2, 3)
    assert m.t_().tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]


# ---- copies in another order ----

COPIES = {
    "flip": (lambda x: x.flip(0, 2), lambda a: np.flip(a, (0, 2))),
    "fliplr": (lambda x: x.fliplr(), np.fliplr),
    "flipud": (lambda x: x.flipud(), np.flipud),
    "roll": (lambda x: x.roll((1, -2), (0, 2)), lambda a: np.roll(a, (1, -2), (0, 2))),
    "roll all": (lambda x: x.roll(5), lambda a: np.roll(a, 5)),
    "roll far": (lambda x: x.roll(-(10**15), 1), lambda a: np.roll(a, -(10**15), 1)),
    "rot90": (lambda x: taeda.rot90(x, 3, (1, 2)), lambda a: np.rot90(a, 3, (1, 2))),
    "tile": (lambda x: x.tile((2, 1)), lambda a: np.tile(a, (2, 1))),
    "repeat": (lambda x: x.repeat(2, 1, 3, 1), lambda a: np.tile(a, (2, 1, 3, 1))),
    "repeat none": (lambda x: x.repeat(1, 0, 2), lambda a: np.tile(a, (1, 0, 2))),
    "repeat_interleave": (lambda x: x.repeat_interleave(2, 1), lambda a: np.repeat(a, 2, 1)),
    "repeat_interleave counts": (
        lambda x: x.repeat_interleave(taeda.tensor([1, 0, 2]), 1),
        lambda a: np.repeat(a, [1, 0, 2], 1),
    ),
    "repeat_interleave all": (lambda x: x.repeat_interleave(2), lambda a: np.repeat(a, 2)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", COPIES)
def test_copy_has_numpys_values(name, layout):
    ours, theirs = COPIES[name]
    x = LAYOUTS[layout]()
    assert ours(x).tolist() == theirs(np.array(x.tolist())).tolist()


# ---- refusals ----

REFUSALS = [
    (lambda x: x.view(5, 5), RuntimeError, r"\[5, 5\].*24"),
    (lambda x: x.view(-1, -1), RuntimeError, "only one"),
    (lambda x: x.view(-2, 12), RuntimeError, "-2"),
    (lambda x: x[..., :3].view(taeda.float64), RuntimeError, "divisible"),
    (lambda x: x.mT.view(taeda.float64), RuntimeError, "stride"),
    (lambda x: x.permute(0, 0, 1), RuntimeError, "multiple times"),
    (lambda x: x.permute(0, 1), RuntimeError, "3 dimensions"),
    (lambda x: x.transpose(0, 3), IndexError, r"\[-3, 2\]"),
    (lambda x: x.squeeze(3), IndexError, "3"),
    (lambda x: x.unsqueeze(5), IndexError, "5"),
    (lambda x: x.select(1, 3), IndexError, "3 out of range"),
    (lambda x: taeda.tensor(1.0).select(0, 0), IndexError, "0-dim"),
    (lambda x: x.narrow(0, 1, 5), RuntimeError, "exceeds"),
    (lambda x: x.narrow(0, 3, 0), IndexError, "start"),
    (lambda x: x.narrow(0, 0, -1), RuntimeError, "non-negative"),
    (lambda x: x.expand(3, 3, 4), RuntimeError, r"\(3\).*\(2\)"),
    (lambda x: x.expand(4), RuntimeError, "expand"),
    (lambda x: x.expand(-1, 2, 3, 4), RuntimeError, "-1"),
    (lambda x: x.as_strided((3,), (-1,)), RuntimeError, "negative"),
    (lambda x: x.as_strided((3,), (12,)), RuntimeError, "out of bounds"),
    (lambda x: x.as_strided((2**40,), (2**40,)), RuntimeError, "out of bounds"),
    (lambda x: x.as_strided((1,), (1,), -1), RuntimeError, "offset"),
    (lambda x: x.unfold(2, 5, 1), RuntimeError, "size is 5"),
    (lambda x: x.unfold(2, 2, 0), RuntimeError, "step is 0"),
    (lambda x: x.diagonal(0, 1, 1), RuntimeError, "identical"),
    (lambda x: x.split(-1), RuntimeError, "-1"),
    (lambda x: x.split(0), RuntimeError, "0"),
    (lambda x: x.split([1, 2], 0), RuntimeError, r"\[1, 2\]"),
    (lambda x: x.chunk(0), RuntimeError, "greater than 0"),
    (lambda x: x.tensor_split(0), RuntimeError, "larger than 0"),
    (lambda x: x.hsplit(2), RuntimeError, "not divisible"),
    (lambda x: x.vsplit(10**9), RuntimeError, "not divisible"),
    (lambda x: x.tensor_split(10**9), MemoryError, "1000000000"),
    (lambda x: x.unflatten(2, (3, 2)), RuntimeError, "multiply"),
    (lambda x: x.flatten(2, 1), RuntimeError, "start_dim"),
    (lambda x: x.t(), RuntimeError, "2 dimensions"),
    (lambda x: taeda.imag(x), RuntimeError, "float32"),
    (lambda x: taeda.view_as_real(x), RuntimeError, "complex"),
    (lambda x: taeda.view_as_complex(x), RuntimeError, "size 2"),
    (lambda x: x.contiguous(memory_format=taeda.channels_last), RuntimeError, "rank 4"),
    (lambda x: x.roll((1, 2), 0), RuntimeError, "align"),
    (lambda x: x.flip(0, 0), RuntimeError, "multiple"),
    (lambda x: x.repeat(2), RuntimeError, "number of dimensions"),
    (lambda x: x.repeat(-1, 1, 1), RuntimeError, "negative"),
    (lambda x: x.repeat(2**40, 2**40, 1), RuntimeError, "overflow|too large"),
    (lambda x: x.repeat_interleave(taeda.tensor([-1, 1]), 0), RuntimeError, "negative"),
    (lambda x: taeda.rot90(x, 1, (0, 0)), RuntimeError, "different"),
    (lambda x: x.expand(2**40, 2**40, 2, 3, 4), RuntimeError, "overflow"),
]


@pytest.mark.parametrize(("call", "kind", "words"), REFUSALS)
def test_refuses(call, kind, words):
    with pytest.raises(kind, match=words):
        call(cube())


# ---- meta ----


@pytest.mark.parametrize("name", [n for n in (*VIEWS, *COPIES) if n != "repeat_interleave counts"])
def test_meta_has_the_same_shape(name):
    ours = {**VIEWS, **COPIES}[name][0]
    x = cube()
    expected, meta = ours(x), ours(x.to("meta"))
    assert (meta.shape, meta.stride(), meta.dtype) == (
        expected.shape,
        expected.stride(),
        expected.dtype,
    )
    assert meta.device.type == "meta"


def test_a_view_as_another_dtype_has_no_part_in_the_graph():
    x = taeda.ones(3, requires_grad=True)
    bits = x.view(taeda.int32)
    assert bits.tolist() == [0x3F800000] * 3
    assert not bits.requires_grad
    assert not (x * 2).view(taeda.float16).requires_grad
    y = taeda.zeros(2)
    y.view(taeda.int32)[0] = 0x3F800000
    assert y.tolist() == [1, 0]


def test_flatten_of_one_dimension_is_the_tensor_itself():
    x, y = taeda.ones(3), taeda.ones(2, 3)
    assert x.flatten() is x
    assert y.flatten(-1, 1) is y
    assert y.flatten() is not y
    with pytest.raises(IndexError, match="out of range"):
        x.flatten(1, 1)


# ---- copies between types and bits ----

BITS = {
    "plain": lambda t: t,
    "conj": lambda t: t.conj(),
    "neg": lambda t: taeda._neg_view(t),
    "conj and neg": lambda t: taeda._neg_view(t.conj()),
}
TYPES = (
    taeda.int8, taeda.int64, taeda.float16, taeda.float32, taeda.float64, taeda.complex64, taeda.complex128,
)  # fmt: skip


def _shown(bits: str, dtype: taeda.dtype) -> bool:
    return bits == "plain" or dtype.is_complex or (bits == "neg" and dtype.is_floating_point)


@pytest.mark.parametrize("to", TYPES, ids=str)
@pytest.mark.parametrize("source", TYPES, ids=str)
def test_a_copy_keeps_numbers_whatever_types_and_bits_stand_on_both_sides(source, to):
    for read in (b for b in BITS if _shown(b, source)):
        for written in (b for b in BITS if _shown(b, to)):
            values = BITS[read](
                taeda.tensor([0, 1, 2, 3]).to(source) * (1j if source.is_complex else 1)
            )
            target = BITS[written](taeda.zeros(4, dtype=to))
            target.copy_(values)
            wanted = [v if to.is_complex else complex(v).real for v in values.tolist()]
            assert target.tolist() == wanted, (read, written)


@pytest.mark.parametrize("dtype", [taeda.float8_e4m3fn, taeda.float8_e5m2, taeda.int16, taeda.bool])
def test_lazy_negation_is_for_dtypes_whose_sign_can_change_in_place(dtype):
    with pytest.raises(RuntimeError, match="lazy negation"):
        taeda._neg_view(taeda.zeros(7, dtype=dtype))


def test_a_step_that_no_stride_holds_leaves_one_window():
    x = taeda.arange(30.0).reshape(5, 6)
    for step in (2**40, 2**60, 2**62, 2**63 - 1):
        windows = x.unfold(1, 3, step)
        assert windows.tolist() == x[:, None, :3].tolist()
        assert (windows + 1).clone().sum() == (x[:, :3] + 1).sum()
    assert taeda.ones(3).round(decimals=-(2**63)).shape == (3,)


def test_the_size_that_counts_sum_up_to_is_theirs():
    counts = taeda.tensor([2, 0, 3])
    with pytest.raises(NotImplementedError, match="its values'"):
        taeda.repeat_interleave(counts.to("meta"))
    assert taeda.repeat_interleave(counts.to("meta"), output_size=5).shape == (5,)
    one = taeda.tensor([3])
    assert taeda.ones(1, 2).repeat_interleave(one, 0).shape == (3, 2)
    assert taeda.ones(2, 2).repeat_interleave(one, 0).shape == (6, 2)
