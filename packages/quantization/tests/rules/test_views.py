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
    "permute": lambda x: x.permute(2, 0, 1),
    "transpose": lambda x: x.transpose(0, 1),
    "clone": lambda x: x.clone(),
    "select_channel": lambda x: x[:, 1],
    "select": lambda x: x[1],
    "slice": lambda x: x[:, 1:],
    "slice_other": lambda x: x[1:],
    "narrow": lambda x: x.narrow(1, 0, 2),
    "index_select": lambda x: x.index_select(1, taeda.tensor([2, 0])),
    "cat": lambda x: taeda.cat([x, x], 1),
    "cat_other": lambda x: taeda.cat([x, x]),
    "contiguous": lambda x: x.transpose(0, 1).contiguous(),
    "last": lambda x: x[..., 1],
    "eq": lambda x: x == 0.0,
}


@pytest.mark.parametrize("name", CHANNELS)
def test_channels_go_along(name):
    x = channels(2, 3, 4, axis=1)
    made, wanted = CHANNELS[name](x), CHANNELS[name](x.dequantize())
    assert taeda.equal(made.dequantize() if made.is_quantized else made, wanted)


def test_what_needs_one_scale_refuses_channels():
    x = channels(2, 3, 4, axis=1)
    for call in (
        lambda: x.view(-1),
        lambda: x.relu(),
        lambda: x.max(),
        lambda: x.mean(),
        lambda: x.flip(1),
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
