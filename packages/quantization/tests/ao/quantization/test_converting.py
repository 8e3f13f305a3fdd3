"""What becomes of a layer that was observed."""

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantized


def test_an_observer_that_saw_nothing_is_named(ready):
    with pytest.raises(RuntimeError, match=r"observer of 'quant' \(QuantStub\) saw nothing"):
        q.convert(ready()[1])


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


def test_references_are_refused():
    with pytest.raises(NotImplementedError, match="FX"):
        q.convert(nn.Sequential(), is_reference=True)


def test_hooks_of_the_program_go_over_and_observers_do_not():
    model = nn.Sequential(nn.Linear(2, 2)).eval()
    model.qconfig = q.default_dynamic_qconfig
    seen = []
    model[0].register_forward_hook(lambda module, args, made: seen.append(type(module)))
    q.propagate_qconfig_(model)
    made = q.convert(model, q.get_default_dynamic_quant_module_mappings())
    assert type(made[0]) is quantized.dynamic.Linear
    hooks = list(made[0]._forward_hooks.values())
    assert len(hooks) == 1 and hooks[0] is next(iter(model[0]._forward_hooks.values()))


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_weight_without_a_range_is_named(number):
    model = nn.Sequential(nn.Sequential(nn.Linear(2, 2))).eval()
    with taeda.no_grad():
        model[0][0].weight[0, 0] = number
    with pytest.raises(RuntimeError, match=r"convert: '0.0' \(Linear\) has no scale: .*Observer"):
        q.quantize_dynamic(model, {nn.Linear})


@pytest.mark.parametrize("name", ["MinMaxObserver", "MovingAverageMinMaxObserver"])
def test_what_saw_infinity_is_named(name):
    model = nn.Sequential(q.QuantStub(), nn.Linear(2, 2)).eval()
    model.qconfig = q.QConfig(getattr(q, name), q.default_weight_observer)
    ready = q.prepare(model)
    ready[0](taeda.tensor([[1.0, float("inf")]]))
    with pytest.raises(RuntimeError, match=r"convert: '0' \(QuantStub\) has no scale: .*infinity"):
        q.convert(ready)
