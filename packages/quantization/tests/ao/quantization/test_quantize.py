"""From a float model to one on integers."""

from __future__ import annotations

import io

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantized


def test_results_are_near_the_float_ones_and_files_keep_them(ready):
    x = taeda.rand(8, 1, 8, 8)
    model, watched = ready()
    watched(x)
    made = q.convert(watched)
    wanted = model(x)
    assert float((made(x) - wanted).abs().max()) < 0.05 * float(wanted.abs().max())
    file = io.BytesIO()
    taeda.save(made.state_dict(), file)
    file.seek(0)
    other = q.convert(_run(ready()[1], x * 3))
    other.load_state_dict(taeda.load(file))
    assert taeda.equal(other(x), made(x))


def _run(model, x):
    model(x)
    return model


def test_floats_and_integers_do_not_meet(ready):
    x = taeda.rand(8, 1, 8, 8)
    made = q.convert(_run(ready()[1], x))
    with pytest.raises(
        NotImplementedError, match="quantized convolution: wanted a quantized tensor"
    ):
        made.conv(x)
    with pytest.raises(NotImplementedError, match="no kernel for a quantized tensor"):
        nn.Linear(2, 2)(taeda.quantize_per_tensor(taeda.ones(1, 2), 0.1, 0, taeda.quint8))


def test_a_layer_without_qconfig_stays_float():
    model = nn.Sequential(q.QuantStub(), nn.Linear(4, 4), q.DeQuantStub(), nn.Linear(4, 2)).eval()
    model.qconfig = q.default_qconfig
    model[3].qconfig = None
    made = q.quantize(model, lambda m, x: m(x), [taeda.rand(3, 4)])
    assert type(made[1]) is quantized.Linear
    assert type(made[3]) is nn.Linear
    assert not hasattr(made[1], "qconfig")


def test_training(small_net, group):
    taeda.manual_seed(0)
    model = small_net()
    model.qconfig = q.get_default_qat_qconfig("x86")
    watched = q.prepare_qat(q.fuse_modules_qat(model, group))
    x, y = taeda.rand(16, 1, 8, 8), taeda.randint(0, 3, (16,))
    steps = taeda.optim.SGD(watched.parameters(), 0.1) if hasattr(taeda, "optim") else None
    losses = []
    for _ in range(10):
        loss = nn.functional.cross_entropy(watched(x), y)
        losses.append(float(loss))
        watched.zero_grad()
        loss.backward()
        with taeda.no_grad():
            for p in watched.parameters():
                p -= 0.1 * p.grad
    assert losses[-1] < losses[0]
    assert steps is None or steps
    watched.eval()
    made = q.convert(watched)
    assert float((made(x) - watched(x)).abs().max()) < 3 * made.fc.scale
    with pytest.raises(AssertionError, match="training mode"):
        q.prepare_qat(small_net().eval())


@pytest.mark.parametrize("dtype", [taeda.qint8, taeda.float16], ids=str)
def test_weights_alone(dtype):
    model = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4))
    made = q.quantize_dynamic(model, {nn.Linear}, dtype)
    x = taeda.randn(5, 16)
    assert float((made(x) - model(x)).abs().max()) < 0.05
    assert type(q.quantize_dynamic(model, {"0": q.default_dynamic_qconfig})[2]) is nn.Linear
    with pytest.raises(ValueError, match="give QConfigs"):
        q.quantize_dynamic(model, dtype=taeda.qint32)
    with pytest.raises(RuntimeError, match="no modules of the names"):
        q.quantize_dynamic(model, {"nine"})


def test_examples_run_without_their_targets():
    seen = []
    q.default_eval_fn(seen.append, [(1, 2), (3, 4)])
    assert seen == [1, 3]
