"""From a float model to one on integers."""

from __future__ import annotations

import io

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantized


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = q.QuantStub(), q.DeQuantStub()
        self.conv, self.bn, self.relu = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU()
        self.skip, self.fc = quantized.FloatFunctional(), nn.Linear(4 * 36, 3)

    def forward(self, x):
        x = self.relu(self.bn(self.conv(self.quant(x))))
        x = self.skip.add(x, x).flatten(1)
        return self.dequant(self.fc(x))


GROUP = ["conv", "bn", "relu"]


def ready(qconfig=None):
    taeda.manual_seed(0)
    model = Net().eval()
    model.qconfig = qconfig or q.get_default_qconfig("x86")
    return model, q.prepare(q.fuse_modules(model, GROUP))


def test_results_are_near_the_float_ones_and_files_keep_them():
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


def test_an_observer_that_saw_nothing_is_named():
    with pytest.raises(RuntimeError, match=r"observer of 'quant' \(QuantStub\) saw nothing"):
        q.convert(ready()[1])


def test_floats_and_integers_do_not_meet():
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


def test_training():
    taeda.manual_seed(0)
    model = Net()
    model.qconfig = q.get_default_qat_qconfig("x86")
    watched = q.prepare_qat(q.fuse_modules_qat(model, GROUP))
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
        q.prepare_qat(Net().eval())


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


def test_wrapping_and_examples():
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)).eval()
    model[1].qconfig = q.default_qconfig
    made = q.add_quant_dequant(model)
    assert type(made[1]) is q.QuantWrapper
    seen = []
    q.default_eval_fn(seen.append, [(1, 2), (3, 4)])
    assert seen == [1, 3]


def test_modules_of_others():
    class Observed(nn.Module):
        @classmethod
        def from_float(cls, mod):
            made = cls()
            made.qconfig = mod.qconfig
            return made

        def forward(self, x):
            return x

    class Final(Observed):
        @classmethod
        def from_observed(cls, mod):
            return cls()

    model = nn.Sequential(nn.Tanhshrink()).eval()
    model.qconfig = q.default_qconfig
    watched = q.prepare(
        model,
        prepare_custom_config_dict={
            "float_to_observed_custom_module_class": {nn.Tanhshrink: Observed}
        },
    )
    made = q.convert(
        watched,
        convert_custom_config_dict={"observed_to_quantized_custom_module_class": {Observed: Final}},
    )
    assert type(made[0]) is Final


def test_what_is_refused_and_warned():
    with pytest.warns(UserWarning, match="no module has a qconfig"):
        q.prepare(nn.Sequential(nn.Linear(2, 2)))
    with pytest.raises(NotImplementedError, match="FX"):
        q.convert(nn.Sequential(), is_reference=True)
    model = nn.Sequential(nn.Linear(2, 2))
    model.qconfig = "x86"
    with pytest.raises(RuntimeError, match="is a str"):
        q.prepare(model)
