"""Errors of layers, what they save, and what cannot be compared."""

from __future__ import annotations

import copy

import pytest
from quantized_models import DATA, floats, static, weights_alone

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.quantization import compare, int4_weight_only, int8_weight_only, quantize_


def test_rows_of_weights():
    model, small = weights_alone()
    found = compare(model, small, DATA)
    assert [row.layer for row in found.rows] == ["0", "2", "4"]
    assert all(0 < row.error < 0.02 for row in found.rows)
    first = found.rows[0]
    assert (first.kind, first.bytes_float) == ("Int8Linear", 4 * (64 * 128 + 128))
    assert first.bytes_quantized < 0.35 * first.bytes_float
    assert first.ms_float > 0 and first.ms_quantized > 0


def test_the_error_is_that_of_the_results():
    model, small = weights_alone(int4_weight_only())
    found = compare(model, small, DATA[:1])
    with taeda.no_grad():
        want, got = model(DATA[0]).double(), small(DATA[0]).double()
    exact = float((want - got).norm() / want.norm())
    assert found.error == pytest.approx(exact)
    assert found.rows[-1].error == pytest.approx(exact)
    assert found.error > compare(*weights_alone(), DATA[:1]).error


def test_layers_on_integers():
    found = compare(*static(), DATA)
    assert [row.layer for row in found.rows] == ["module.0", "module.2", "module.4"]
    assert [row.kind for row in found.rows] == ["LinearReLU", "LinearReLU", "Linear"]
    assert all(0 < row.error < 0.2 for row in found.rows)
    assert found.rows[0].bytes_quantized < 0.4 * found.rows[0].bytes_float


def test_the_worst_come_first_and_a_table():
    found = compare(*weights_alone(), DATA)
    errors = [row.error for row in found.worst(2)]
    assert errors == sorted((row.error for row in found.rows), reverse=True)[:2]
    lines = str(found).splitlines()
    assert lines[0].split()[:3] == ["layer", "kind", "error"]
    assert lines[-1].startswith("model: error")


def test_hooks_are_gone_after_an_error():
    model, small = weights_alone()
    with pytest.raises(RuntimeError):
        compare(model, small, [taeda.ones(1, 3)])
    assert not model[0]._forward_hooks and not model[0]._forward_pre_hooks


def test_layers_that_are_called_twice():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(64, 64)

        def forward(self, x):
            return self.layer(self.layer(x))

    model = Twice().eval()
    small = copy.deepcopy(model)
    quantize_(small, int8_weight_only(), measure=False)
    assert 0 < compare(model, small, DATA).rows[0].error < 0.05


def refused():
    model, small = weights_alone()
    unfused = q.QuantWrapper(floats()).eval()
    yield (model, small, []), ValueError, "no inputs"
    yield (model, copy.deepcopy(model), DATA), ValueError, "no layers of one name and two classes"
    yield (model, "small", DATA), TypeError, "wanted two models, but got str"
    yield (copy.deepcopy(model).train(), small, DATA), ValueError, r"call eval\(\)"
    yield (
        (unfused, static()[1], DATA),
        ValueError,
        "'module.0' is a Linear.*as fuse_modules made it",
    )


@pytest.mark.parametrize(("given", "error", "message"), list(refused()))
def test_what_cannot_be_compared(given, error, message):
    with pytest.raises(error, match=message):
        compare(*given)
