"""Eager mode beside PyTorch's: observers' scales and zero points, and results of layers, to the last bit."""

from __future__ import annotations

import copy
import io
import warnings

import numpy as np
import pytest
import torch
import torch.ao.nn.quantized as tnnq
import torch.ao.nn.quantized.dynamic as tnnqd
import torch.ao.quantization as theirs

import taeda
import taeda.ao.nn.quantized as nnq
import taeda.ao.nn.quantized.dynamic as nnqd
import taeda.ao.quantization as ours


@pytest.fixture(autouse=True)
def _fbgemm():
    """The engine whose numbers are right on every processor. Where VNNI is, "x86" takes oneDNN for
    convolutions, and its transposed ones of one dimension differ by 24 steps from what float32 gives
    (torch 2.13.0).
    """
    engine = torch.backends.quantized.engine
    torch.backends.quantized.engine = "fbgemm"
    yield
    torch.backends.quantized.engine = engine


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def mine(x):
    if isinstance(x, torch.Tensor) and x.is_quantized:
        file = io.BytesIO()
        torch.save(x, file)
        file.seek(0)
        return taeda.load(file)
    return taeda.from_numpy(x.detach().numpy().copy())


def drawn(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def exact(made, wanted):
    if wanted.is_quantized:
        assert made.is_quantized
        assert np.array_equal(made.int_repr().numpy(), wanted.int_repr().numpy())
        assert (made.q_scale(), made.q_zero_point()) == (wanted.q_scale(), wanted.q_zero_point())
    else:
        assert np.array_equal(made.detach().numpy(), wanted.detach().numpy())


def taken(model, other):
    """Our model with the numbers of theirs."""
    model.load_state_dict({key: mine(value) for key, value in other.state_dict().items()})
    return model


# ---- observers ----

OBSERVERS = {
    "minmax": ("MinMaxObserver", {}),
    "reduced": ("MinMaxObserver", {"reduce_range": True}),
    "symmetric": ("MinMaxObserver", {"dtype": "qint8", "qscheme": "per_tensor_symmetric"}),
    "symmetric_quint8": ("MinMaxObserver", {"qscheme": "per_tensor_symmetric"}),
    "narrow": ("MinMaxObserver", {"quant_min": 0, "quant_max": 127}),
    "moving": ("MovingAverageMinMaxObserver", {}),
    "channels": ("PerChannelMinMaxObserver", {"ch_axis": 1}),
    "channels_symmetric": (
        "PerChannelMinMaxObserver",
        {"dtype": "qint8", "qscheme": "per_channel_symmetric"},
    ),
    "channels_float": (
        "PerChannelMinMaxObserver",
        {"qscheme": "per_channel_affine_float_qparams"},
    ),
    "channels_moving": ("MovingAveragePerChannelMinMaxObserver", {"averaging_constant": 0.1}),
    "histogram": ("HistogramObserver", {}),
    "histogram_reduced": ("HistogramObserver", {"reduce_range": True}),
    "histogram_symmetric": (
        "HistogramObserver",
        {"dtype": "qint8", "qscheme": "per_tensor_symmetric"},
    ),
    "histogram_bins": ("HistogramObserver", {"bins": 100}),
}


def made_of(package, lib, name, facts):
    words = {key: getattr(lib, v) if isinstance(v, str) else v for key, v in facts.items()}
    return getattr(package, name)(**words)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", OBSERVERS)
def test_observers(kind, seed):
    a = made_of(ours, taeda, *OBSERVERS[kind])
    b = made_of(theirs, torch, *OBSERVERS[kind])
    for step in range(4):
        x = drawn(10 * seed + step, 6, 50) * (step + 1) + seed
        a(mine(x))
        b(x)
    for made, wanted in zip(a.calculate_qparams(), b.calculate_qparams(), strict=True):
        exact(made, wanted)
    assert list(a.state_dict()) == list(b.state_dict())


@pytest.mark.parametrize(
    "name", ["default_fake_quant", "default_per_channel_weight_fake_quant", "default_fused_act_fake_quant",
        "default_fused_per_channel_wt_fake_quant", "default_fused_wt_fake_quant",
        "default_fixed_qparams_range_0to1_fake_quant"],
)  # fmt: skip
def test_fake_quantizers(name):
    a, b = getattr(ours, name)(), getattr(theirs, name)()
    for step in range(3):
        x = drawn(step, 4, 30)
        exact(a(mine(x)), b(x))
    exact(a.scale, b.scale)
    assert a.zero_point.tolist() == b.zero_point.tolist()
    assert list(a.state_dict()) == list(b.state_dict())


# ---- models ----


def models(lib, q):
    nn = lib.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.quant = q.QuantStub()
            self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
            self.bn1 = nn.BatchNorm2d(8)
            self.relu1 = nn.ReLU()
            self.conv2 = nn.Conv2d(8, 8, 3, stride=2, groups=2, padding=1)
            self.add = lib.ao.nn.quantized.FloatFunctional()
            self.pool = nn.AdaptiveAvgPool2d(2)
            self.fc1 = nn.Linear(32, 16)
            self.relu2 = nn.ReLU()
            self.act = nn.Hardswish()
            self.fc2 = nn.Linear(16, 5)
            self.dequant = q.DeQuantStub()

        def forward(self, x):
            x = self.relu1(self.bn1(self.conv1(self.quant(x))))
            x = self.conv2(x)
            x = self.pool(self.add.add(x, x)).flatten(1)
            x = self.act(self.relu2(self.fc1(x)))
            return self.dequant(self.fc2(x))

    return Net()


def both():
    torch.manual_seed(0)
    b = models(torch, theirs)
    with torch.no_grad():
        b.bn1.running_var.uniform_(0.5, 2.0)
        b.bn1.running_mean.uniform_(-0.5, 0.5)
    return taken(models(taeda, ours), b), b


GROUPS = [["conv1", "bn1", "relu1"], ["fc1", "relu2"]]


@pytest.mark.parametrize("backend", ["x86", "qnnpack"])
def test_static(backend):
    a, b = both()
    made = []
    for model, q, to in ((a, ours, mine), (b, theirs, lambda x: x)):
        model.eval()
        model.qconfig = q.get_default_qconfig(backend)
        if backend == "qnnpack":  # 7 bits: PyTorch's sums have 16 on processors without VNNI
            model.qconfig = q.QConfig(q.default_observer, q.default_weight_observer)
        ready = q.prepare(q.fuse_modules(model, GROUPS))
        for step in range(3):
            ready(to(drawn(step, 4, 3, 12, 12)))
        made.append(q.convert(ready))
    one, other = made
    mine_state, their_state = one.state_dict(), other.state_dict()
    assert list(mine_state) == list(their_state)
    for key, value in their_state.items():
        if isinstance(value, torch.Tensor) and not value.is_quantized:
            assert np.allclose(mine_state[key].detach().numpy(), value.detach().numpy()), key
    # with their integers and scales results are the same to the last bit
    file = io.BytesIO()
    torch.save(their_state, file)
    file.seek(0)
    one.load_state_dict(taeda.load(file))
    x = drawn(9, 6, 3, 12, 12)
    exact(one(mine(x)), other(x))
    # and back: PyTorch loads ours
    file = io.BytesIO()
    taeda.save(one.state_dict(), file, format="pt")
    file.seek(0)
    again = copy.deepcopy(other)
    again.load_state_dict(torch.load(file))
    exact(one(mine(x)), again(x))


def test_training():
    a, b = both()
    made = []
    for model, q, to in ((a, ours, mine), (b, theirs, lambda x: x)):
        model.train()
        model.qconfig = q.get_default_qat_qconfig("x86")
        ready = q.prepare_qat(q.fuse_modules_qat(model, GROUPS))
        outs = [ready(to(drawn(step, 4, 3, 12, 12))) for step in range(3)]
        outs[-1].pow(2).mean().backward()
        grads = {name: p.grad.numpy() for name, p in ready.named_parameters()}
        ready.eval()
        made.append((outs, grads, ready, q.convert(ready)))
    (outs, grads, ready, one), (wanted, their_grads, prepared, other) = made
    assert list(ready.state_dict()) == list(prepared.state_dict())
    for out, want in zip(outs, wanted, strict=True):
        step = float(other.fc2.scale)
        assert float(np.abs(out.detach().numpy() - want.detach().numpy()).max()) <= 1.001 * step
    for name, want in their_grads.items():
        assert np.allclose(grads[name], want, atol=0.05 * np.abs(want).max() + 1e-6), name
    assert list(one.state_dict()) == list(other.state_dict())
    x = drawn(9, 6, 3, 12, 12)
    off = np.abs(one(mine(x)).numpy() - other(x).numpy()).max()
    assert off <= 2.001 * float(other.fc2.scale)


# ---- layers ----


def per_channel(w, axis=0):
    scales = w.abs().transpose(0, axis).flatten(1).amax(1).double() / 127.5
    return torch.quantize_per_channel(w, scales, torch.zeros(len(scales)).long(), axis, torch.qint8)


def per_tensor(w):
    return torch.quantize_per_tensor(w, float(w.abs().max() / 127.5), 0, torch.qint8)


def seven_bits(*shape, seed=0):
    return torch.quantize_per_tensor(drawn(seed, *shape).clamp(-2, 2), 4 / 127, 63, torch.quint8)


CONVS = {
    "1d": ("Conv1d", (6, 8, 3), {"padding": 1}, (2, 6, 20)),
    "2d": ("Conv2d", (6, 8, 3), {"stride": 2, "padding": 1}, (2, 6, 12, 13)),
    "2d_dilated": ("Conv2d", (6, 8, 3), {"dilation": 2, "groups": 2}, (2, 6, 12, 13)),
    "2d_reflect": ("Conv2d", (4, 4, 3), {"padding": 1, "padding_mode": "reflect"}, (2, 4, 7, 7)),
    "3d": ("Conv3d", (4, 6, 2), {"padding": 1}, (2, 4, 5, 6, 7)),
    "1d_transposed": ("ConvTranspose1d", (6, 4, 3), {"stride": 2}, (2, 6, 9)),
    "2d_transposed": (
        "ConvTranspose2d",
        (6, 4, 3),
        {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2},
        (2, 6, 5, 6),
    ),
}


@pytest.mark.parametrize("name", CONVS)
@pytest.mark.parametrize("channels", [False, True])
def test_convolutions(name, channels):
    kind, args, more, shape = CONVS[name]
    if "Transpose" in kind and channels:
        with pytest.raises(NotImplementedError, match="one scale"):
            getattr(nnq, kind)(*args, **more).set_weight_bias(
                mine(per_channel(drawn(0, 6, 4, 3, 3))), None
            )
        return
    b = getattr(tnnq, kind)(*args, **more)
    a = getattr(nnq, kind)(*args, **more)
    w = drawn(1, *b.weight().shape) * 0.2
    qw, bias = per_channel(w) if channels else per_tensor(w), drawn(2, args[1])
    b.set_weight_bias(qw, bias)
    a.set_weight_bias(mine(qw), mine(bias))
    a.scale = b.scale = 0.09
    a.zero_point = b.zero_point = 61
    x = seven_bits(*shape)
    exact(a(mine(x)), b(x))


@pytest.mark.parametrize("channels", [False, True])
@pytest.mark.parametrize(("rows", "k", "n"), [(1, 64, 8), (5, 70, 33), (40, 512, 64)])
def test_linear(channels, rows, k, n):
    w = drawn(1, n, k) * 0.1
    qw, bias = per_channel(w) if channels else per_tensor(w), drawn(2, n)
    a, b = nnq.Linear(k, n), tnnq.Linear(k, n)
    a.set_weight_bias(mine(qw), mine(bias))
    b.set_weight_bias(qw, bias)
    a.scale = b.scale = 0.07
    a.zero_point = b.zero_point = 61
    x = seven_bits(rows, k)
    exact(a(mine(x)), b(x))
    a, b = nnqd.Linear(k, n), tnnqd.Linear(k, n)
    a.set_weight_bias(mine(qw), mine(bias))
    b.set_weight_bias(qw, bias)
    x = drawn(3, rows, k)
    exact(a(mine(x)), b(x))


RECURRENT = {
    "LSTM": {"num_layers": 2}, "LSTM_two_ways": {"bidirectional": True, "batch_first": True},
    "GRU": {"num_layers": 2}, "GRU_two_ways": {"bidirectional": True},
}  # fmt: skip


@pytest.mark.parametrize("name", RECURRENT)
@pytest.mark.parametrize("dtype", ["qint8", "float16"])
def test_recurrent_layers(name, dtype):
    kind = name.partition("_")[0]
    torch.manual_seed(0)
    b = getattr(torch.nn, kind)(10, 12, **RECURRENT[name])
    a = taken(getattr(taeda.nn, kind)(10, 12, **RECURRENT[name]), b)
    x = drawn(0, 7, 3, 10)
    one = ours.quantize_dynamic(
        taeda.nn.Sequential(a), {taeda.nn.LSTM, taeda.nn.GRU}, getattr(taeda, dtype)
    )
    other = theirs.quantize_dynamic(
        torch.nn.Sequential(b), {torch.nn.LSTM, torch.nn.GRU}, getattr(torch, dtype)
    )
    made, wanted = one(mine(x)), other(x)
    # functions of gates may differ in the last bit, and then an integer of the next step
    one, other = (x[0].detach().numpy() for x in (made, wanted))
    assert np.abs(one - other).max() < 2e-3
    assert dtype == "float16" or (one == other).mean() > 0.3


@pytest.mark.parametrize("kind", ["LSTMCell", "GRUCell", "RNNCell"])
def test_cells(kind):
    torch.manual_seed(0)
    b = getattr(torch.nn, kind)(10, 12)
    a = taken(getattr(taeda.nn, kind)(10, 12), b)
    one = ours.quantize_dynamic(taeda.nn.Sequential(a), {type(a)})
    other = theirs.quantize_dynamic(torch.nn.Sequential(b), {type(b)})
    made, wanted = one(mine(drawn(0, 3, 10))), other(drawn(0, 3, 10))
    made, wanted = (x[0] if isinstance(x, tuple) else x for x in (made, wanted))
    assert np.allclose(made.numpy(), wanted.numpy(), atol=1e-6)


@pytest.mark.parametrize("dtype", ["quint8", "quint4x2"])
def test_embeddings(dtype):
    w, ids = drawn(0, 10, 8), torch.tensor([[1, 2, 3], [3, 9, 0]])
    scales = (w.amax(1) - w.amin(1)) / (255 if dtype == "quint8" else 15)
    qw = torch.quantize_per_channel(w, scales, -w.amin(1) / scales, 0, getattr(torch, dtype))
    for kind in ("Embedding", "EmbeddingBag"):
        a = getattr(nnq, kind)(10, 8, dtype=getattr(taeda, dtype))
        b = getattr(tnnq, kind)(10, 8, dtype=getattr(torch, dtype))
        a.set_weight(mine(qw))
        b.set_weight(qw)
        exact(a(mine(ids)), b(ids))
    flat, starts = torch.tensor([1, 2, 4, 5, 4]), torch.tensor([0, 3])
    exact(a(mine(flat), mine(starts)), b(flat, starts))


def test_functional_modules():
    a, b = nnq.QFunctional(), tnnq.QFunctional()
    a.scale = b.scale = 0.05
    a.zero_point = b.zero_point = 40
    x, y = seven_bits(8, 64), torch.quantize_per_tensor(drawn(5, 8, 64), 0.021, 90, torch.quint8)
    for name in ("add", "mul", "add_relu"):
        exact(getattr(a, name)(mine(x), mine(y)), getattr(b, name)(x, y))
    exact(a.cat([mine(x), mine(y)], 1), b.cat([x, y], 1))
    exact(a.matmul(mine(x), mine(y).t()), b.matmul(x, y.t()))


@pytest.mark.parametrize("number", [0.5, 0.7, -3.0, 100.0, 2.3, -0.07, 0.0])
@pytest.mark.parametrize(("scale", "zero"), [(4 / 127, 63), (0.2, 0), (0.1, 3), (0.0299, 255)])
def test_numbers_beside_tensors(scale, zero, number):
    a, b = nnq.QFunctional(), tnnq.QFunctional()
    x = torch.quantize_per_tensor(drawn(1, 8, 64) * 3, scale, zero, torch.quint8)
    exact(a.add_scalar(mine(x), number), b.add_scalar(x, number))
    exact(a.mul_scalar(mine(x), number), b.mul_scalar(x, number))


LAYERS = {
    "ReLU6": lambda q: q.ReLU6(),
    "Hardswish": lambda q: q.Hardswish(0.05, 7),
    "ELU": lambda q: q.ELU(0.05, 30, 1.2),
    "LeakyReLU": lambda q: q.LeakyReLU(0.05, 30, 0.1),
    "Sigmoid": lambda q: q.Sigmoid(0.01, 3),
    "BatchNorm2d": lambda q: q.BatchNorm2d(6),
    "Dropout": lambda q: q.Dropout(),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    a, b = LAYERS[name](nnq).eval(), LAYERS[name](tnnq).eval()
    x = seven_bits(2, 6, 8, 9)
    exact(a(mine(x)), b(x))


@pytest.mark.parametrize(
    ("name", "args"), [("LayerNorm", ([6, 8, 9],)), ("GroupNorm", (3, 6)), ("InstanceNorm2d", (6,))]
)
def test_norms(name, args):
    shape = (6, 8, 9) if name == "LayerNorm" else (6,)
    w, bias = drawn(0, *shape), drawn(1, *shape)
    more = {"affine": True} if name == "InstanceNorm2d" else {}
    weights = (torch.nn.Parameter(w), torch.nn.Parameter(bias))
    b = getattr(tnnq, name)(*args, *weights, 0.05, 60, **more)
    a = getattr(nnq, name)(*args, *(taeda.nn.Parameter(mine(x)) for x in weights), 0.05, 60, **more)
    x = seven_bits(2, 6, 8, 9)
    made, wanted = a(mine(x)).int_repr().numpy().astype(int), b(x).int_repr().numpy().astype(int)
    assert np.abs(made - wanted).max() <= 1
    assert (made != wanted).mean() < 0.002  # sums of another order
    assert list(a.state_dict()) == list(b.state_dict())


def test_quantizable_lstm():
    torch.manual_seed(0)
    b = torch.nn.LSTM(6, 8, 1)
    a = taken(taeda.nn.LSTM(6, 8, 1), b)
    x = drawn(0, 5, 3, 6)
    outs = []
    for lib, q, model, to in ((taeda, ours, a, mine), (torch, theirs, b, lambda x: x)):
        wrap = lib.nn.Sequential(q.QuantStub(), model)
        wrap.qconfig = q.QConfig(q.default_observer, q.default_weight_observer)
        ready = q.prepare(wrap.eval())
        ready(to(x))
        outs.append(q.convert(ready)(to(x))[0].dequantize().numpy())
    assert np.abs(outs[0] - outs[1]).max() < 0.05
