"""What a rule computes is what the numbers say, or it refuses."""

from __future__ import annotations

import pytest
from quantized_tensors import channels, numbers

import taeda

F = taeda.nn.functional
#: exact: the numbers that come out are those of the operation on the numbers that went in
EXACT = {
    "view": lambda x: x.view(6, 4),
    "reshape": lambda x: x.reshape(-1),
    "t": lambda x: x[0, 0].t(),
    "permute": lambda x: x.permute(3, 1, 0, 2),
    "transpose": lambda x: x.transpose(0, 3),
    "select": lambda x: x[0],
    "slice": lambda x: x[:, :, 1:, ::2],
    "index": lambda x: x[..., taeda.tensor([1, 0])],
    "mask": lambda x: x[taeda.tensor([[[[True, False]]]]).expand(2, 3, 2, 2)],
    "flip": lambda x: x.flip(0, 3),
    "repeat": lambda x: x.repeat(2, 1, 1, 1),
    "expand": lambda x: x[:, :1].expand(2, 4, 2, 2),
    "squeeze": lambda x: x[:1].squeeze(0),
    "unsqueeze": lambda x: x.unsqueeze(2),
    "flatten": lambda x: x.flatten(1),
    "unfold": lambda x: x.unfold(3, 2, 1),
    "as_strided": lambda x: x.as_strided((2, 2), (1, 2)),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x.repeat(1, 4, 1, 1), 2),
    "cat": lambda x: taeda.cat([x, x], 1),
    "stack": lambda x: taeda.stack([x, x]),
    "clone": lambda x: x.clone(),
    "detach": lambda x: x.detach(),
    "contiguous": lambda x: x.permute(3, 2, 1, 0).contiguous(),
    "max": lambda x: x.max(),
    "min": lambda x: x.min(),
    "max_dim": lambda x: x.max(1)[0],
    "sort": lambda x: x.sort(-1)[0],
    "topk": lambda x: x.topk(1)[0],
    "argmax": lambda x: x.argmax(),
    "argsort": lambda x: x.argsort(-1),
    "amax": lambda x: x.amax((1, 2)),
    "max_pool1d": lambda x: F.max_pool1d(x[0], 2),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "relu": lambda x: x.relu(),
    "nearest": lambda x: F.interpolate(x, scale_factor=2.0),
    "eq": lambda x: x == 0.0,
    "gt": lambda x: x > x[:1],
    "pad": lambda x: F.pad(x, (1, 1)),
    "unbind": lambda x: x.unbind()[1],
    "split": lambda x: x.split(1)[1],
    "chunk": lambda x: x.chunk(2, 1)[0],
    "gather": lambda x: x.gather(0, taeda.zeros(1, 3, 2, 2, dtype=taeda.int64)),
    "roll": lambda x: x.roll(1, 0),
}
#: rounded to the scale of the input
ROUNDED = {
    "mean": lambda x: x.mean(),
    "mean_dim": lambda x: x.mean((2, 3)),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "avg_pool1d": lambda x: F.avg_pool1d(x[0], 2),
    "adaptive": lambda x: F.adaptive_avg_pool2d(x, 1),
    "bilinear": lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"),
    "std": lambda x: x.std(1),
    "leaky_relu": lambda x: F.leaky_relu(x, 0.2),
    "gelu": F.gelu,
    "clamp": lambda x: x.clamp(-0.3, 0.4),
    "relu6": F.relu6,
    "hardtanh": F.hardtanh,
    "threshold": lambda x: F.threshold(x, 0.3, 0.1),
    "sigmoid": lambda x: x.sigmoid(),
    "tanh": lambda x: x.tanh(),
    "hardsigmoid": F.hardsigmoid,
    "masked_fill": lambda x: x.masked_fill(taeda.tensor([True, False]), 0.5),
    "index_put": lambda x: x.index_put((taeda.tensor([0]),), taeda.tensor(0.5)),
    "ones_like": taeda.ones_like,
}
DTYPES = (taeda.quint8, taeda.qint8, taeda.qint32)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", EXACT)
def test_exact(name, dtype):
    x = numbers(2, 3, 2, 2, dtype=dtype)
    made, wanted = EXACT[name](x), EXACT[name](x.dequantize())
    assert taeda.equal(made.dequantize() if made.is_quantized else made, wanted)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ROUNDED)
def test_rounded(name, dtype):
    x = numbers(2, 3, 2, 2, dtype=dtype)
    if dtype is taeda.qint32 and name in ("sigmoid", "hardsigmoid"):
        with pytest.raises(NotImplementedError, match="no kernel for a quantized tensor"):
            ROUNDED[name](x)
        return
    made, wanted = ROUNDED[name](x), ROUNDED[name](x.dequantize())
    assert float((made.dequantize() - wanted).abs().max()) <= 0.5001 * made.q_scale() + 1e-6


CHANNELS = {
    "narrow": lambda x: x.narrow(1, 0, 2),
    "index_select": lambda x: x.index_select(1, taeda.tensor([2, 0])),
    "cat_other": lambda x: taeda.cat([x, x]),
    "last": lambda x: x[..., 1],
    "one": lambda x: x[1, 2, 0, 1],
    "none": lambda x: x[None],
    "empty": lambda x: x[:0],
    "slice_one": lambda x: x[:, 1:2],
    "iterated": lambda x: list(x)[1],
    "view_as": lambda x: x.view_as(x),
    "ravel": lambda x: x.ravel(),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "movedim": lambda x: x.movedim(0, -1),
    "tensor_split": lambda x: x.tensor_split(2, 1)[1],
    "masked_select": lambda x: x.masked_select(x.dequantize() > 0),
    "diagonal": lambda x: x.diagonal(0, 2, 3),
    "tile": lambda x: x.tile(1, 2, 1, 1),
    "repeat_interleave": lambda x: x.repeat_interleave(2, 1),
    "unflatten": lambda x: x.unflatten(0, (1, 2)),
}
#: one number for all is asked, or memory
ONE_SCALE = (
    "as_strided stack max min max_dim sort topk amax max_pool1d max_pool2d relu nearest pad gt"
).split()
MOVES = {name: call for name, call in EXACT.items() if name not in ONE_SCALE} | CHANNELS


#: channels along two dimensions, or numbers of different channels compared
APART = {
    *((name, axis) for name in ("argmax", "argsort", "view") for axis in range(4)),
    ("pixel_shuffle", 1),
}


@pytest.mark.parametrize("axis", range(4))
@pytest.mark.parametrize("name", MOVES)
def test_channels_go_along(name, axis):
    """What comes has the numbers of the same call on floats, or channels would lie along two dimensions."""
    x = channels(2, 3, 2, 2, axis=axis)
    wanted = MOVES[name](x.dequantize())
    if (name, axis) in APART:
        with pytest.raises(RuntimeError, match=r"a scale for each channel|more than one"):
            MOVES[name](x)
        return
    made = MOVES[name](x)
    if not made.is_quantized:
        assert taeda.equal(made, wanted)
        return
    assert made.shape == wanted.shape
    assert taeda.equal(made.dequantize(), wanted)
    if made.qscheme() is taeda.per_channel_affine:
        assert len(made.q_per_channel_scales()) == made.shape[made.q_per_channel_axis()]


@pytest.mark.parametrize(
    ("call", "axis"),
    [
        (lambda x: x.unsqueeze(0), 2), (lambda x: x.unsqueeze(-1), 1), (lambda x: x.flatten(2), 1),
        (lambda x: x.permute(3, 1, 0, 2), 1), (lambda x: x.transpose(1, 2), 2), (lambda x: x[0], 0),
        (lambda x: x[..., 1], 1), (lambda x: x[:, 1:2], 1), (lambda x: x[:0], 1), (lambda x: x[:, :0], 1),
        (lambda x: x.chunk(2, 1)[1], 1), (lambda x: x.unbind(0)[1], 0), (lambda x: x[:, 1], None),
        (lambda x: x.unbind(1)[1], None), (lambda x: x[None].expand(4, 2, 3, 2, 2), 2),
    ],
)  # fmt: skip
def test_where_channels_lie_then(call, axis):
    made = call(channels(2, 3, 2, 2, axis=1))
    if axis is None:
        assert made.qscheme() is taeda.per_tensor_affine
    else:
        assert made.q_per_channel_axis() == axis


def test_channels_lie_along_one_dimension():
    x = channels(2, 3, 4, axis=1)
    for call in (
        lambda: x.view(3, 8), lambda: x.transpose(1, 2).reshape(-1, 2), lambda: x.flip(1).reshape(4, 6),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="along more than one dimension"):
            call()
    assert x.flatten().q_per_channel_axis() == 0  # a scale for each number


def test_what_needs_one_scale_refuses_channels():
    x = channels(2, 3, 4, axis=1)
    for call in (
        lambda: x.relu(),
        lambda: x.max(),
        lambda: x.mean(),
        lambda: x.as_strided((2,), (1,)),
    ):
        with pytest.raises(RuntimeError, match="has a scale for each channel"):
            call()


def test_views_share_memory():
    x = numbers(2, 3)
    x[0].fill_(1.0)
    assert x.dequantize()[0].tolist() == [1.0, 1.0, 1.0]
    x.t()[0] = taeda.tensor([0.5, 0.5])
    assert x.dequantize()[:, 0].tolist() == [0.5, 0.5]
    x.relu_()
    assert float(x.dequantize().min()) >= 0.0


def test_dimensions_of_the_tensor_itself():
    for x in (numbers(2, 1, 3), channels(2, 1, 3)):
        floats = x.dequantize()
        for name, args in {
            "transpose_": (0, 2), "swapaxes_": (0, 1), "unsqueeze_": (1,), "squeeze_": (), "t_": (),
        }.items():  # fmt: skip
            same = x
            assert getattr(x, name)(*args) is same
            getattr(floats, name)(*args)
            assert taeda.equal(x.dequantize(), floats), name


@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack", "column_stack"])
def test_joins_by_their_own_names(name):
    a, b = numbers(2, 3), numbers(2, 3, scale=0.1, zero=10)
    made = getattr(taeda, name)([a, b])
    assert taeda.equal(made.dequantize(), getattr(taeda, name)([a.dequantize(), b.dequantize()]))
    with pytest.raises(NotImplementedError):
        getattr(taeda, name)([channels(2, 3), channels(2, 3)])


def test_what_changes_no_number_gives_the_tensor():
    x = numbers(2, 3, 4, 4)
    for made in (
        x.conj(), x.resolve_conj(), x.resolve_neg(), x.real, F.dropout(x, 0.5, False),
        taeda.nn.Dropout(0.5).eval()(x), taeda.nn.Dropout2d(0.5).eval()(x),
    ):  # fmt: skip
        assert taeda.equal(made, x)
    with pytest.raises(NotImplementedError, match="dropout: there is no kernel"):
        F.dropout(x, 0.5, True)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 3, 1, 2), (3, 2, 1, 0), (0, 2, 1, 3)])
def test_numbers_lie_as_integers_do(order):
    floats = taeda.randn(2, 3, 4, 5).permute(order)
    x = taeda.quantize_per_tensor(floats, 0.1, 3, taeda.quint8)
    assert x.stride() == x.dequantize().stride() == floats.stride()
    assert taeda.equal(x.contiguous().dequantize(), x.dequantize())
    apart = floats[..., ::2]
    made = taeda.quantize_per_tensor(apart, 0.1, 3, taeda.quint8)
    assert taeda.equal(made.dequantize(), x.dequantize()[..., ::2])
    negative = taeda.quantize_per_tensor(taeda._neg_view(floats), 0.1, 3, taeda.quint8)
    assert taeda.equal(negative, taeda.quantize_per_tensor(-floats, 0.1, 3, taeda.quint8))


def test_memory_formats_and_sharing():
    x = numbers(2, 3, 4, 5)
    assert x.to(memory_format=taeda.channels_last).is_contiguous(memory_format=taeda.channels_last)
    assert taeda.equal(taeda.full_like(x, 0.5), taeda.ones_like(x).fill_(0.5))
    assert not x.is_shared()
    for shared in (x, channels(2, 3)):
        assert shared.share_memory_() is shared
        assert shared.is_shared()


def test_assignment_by_index():
    x = numbers(4, 3)
    floats = x.dequantize()
    x[taeda.tensor([0, 2])] = 0.5
    floats[taeda.tensor([0, 2])] = 0.5
    x[floats < 0] = taeda.tensor(1.0, dtype=taeda.float64)
    floats[floats < 0] = 1.0
    assert taeda.allclose(x.dequantize(), floats)


def test_joins_take_the_scale_of_the_first():
    joined = taeda.cat([numbers(2), numbers(2, scale=0.5, zero=3)])
    assert (joined.q_scale(), joined.q_zero_point()) == (0.1, 10)
    with pytest.raises(NotImplementedError, match="quantized tensors and plain ones"):
        taeda.cat([numbers(2), taeda.ones(2)])
    with pytest.raises(RuntimeError, match="wanted one dtype"):
        taeda.cat([numbers(2), numbers(2, dtype=taeda.qint8)])


def test_copies_between_kinds():
    x = numbers(3)
    with pytest.raises(RuntimeError, match="is not copied into a plain one"):
        taeda.zeros(3).copy_(x)
    with pytest.raises(RuntimeError, match="takes none of"):
        x.copy_(numbers(3, dtype=taeda.qint8))
    with pytest.raises(RuntimeError, match="floats are quantized"):
        x.copy_(taeda.ones(3, dtype=taeda.int64))
    assert not taeda.equal(x, numbers(3, scale=0.2))
    assert not taeda.equal(x, x.dequantize())
