from __future__ import annotations

import pytest

import taeda
from taeda._core_api import programs as _core
from taeda.compiler._arguments import tensors_in
from taeda.compiler._control._speculation import alone, speculating
from taeda.compiler._errors import Refused


def test_what_is_written_is_what_was_made_inside():
    x = taeda.ones(2)
    with speculating():
        y = x + 1
        y.add_(1)
        y[0] = 7
        taeda.zeros(2).copy_(x)
    assert y.tolist() == [7.0, 3.0]


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1),
        lambda x: x[0].zero_(),
        lambda x: x.view(2).mul_(2),
        lambda x: taeda.add(x, 1, out=x),
        lambda x: x.copy_(taeda.zeros(2)),
        lambda x: x.detach().fill_(3),
        lambda x: taeda.nn.functional.batch_norm(taeda.ones(3, 2), x, x, training=True),
    ],
)
def test_a_write_to_something_else_is_refused_before_it_happens(write):
    x = taeda.ones(2)
    with pytest.raises(Refused, match="change a clone"), speculating():
        write(x)
    assert x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("read", [taeda.Tensor.item, bool, taeda.Tensor.tolist])
def test_a_value_that_is_read_is_refused(read):
    x = taeda.ones(())
    with pytest.raises(Refused, match="read"), speculating():
        read(x)


def test_generators_are_as_they_were():
    own = taeda.Generator().manual_seed(3)
    before = taeda.random.get_rng_state(), own.get_state()
    with speculating() as side:
        assert not side.draws
        taeda.rand(3)
        taeda.rand(3, generator=own)
        assert side.draws
    assert taeda.random.get_rng_state().equal(before[0]) and own.get_state().equal(before[1])


def test_tracers_around_hear_nothing_and_are_there_again_afterwards():
    heard = []

    class Listener:
        def call(self, op, args, run):
            heard.append(op)
            return run()

    listener = Listener()
    _core.tracers.push(listener)
    try:
        with alone():
            taeda.ones(2).sin()
        with pytest.raises(Refused), speculating():
            bool(taeda.ones(1))
        taeda.ones(2).cos()
    finally:
        _core.tracers.remove(listener)
    assert "cos" in heard and "sin" not in heard


def test_tensors_in_a_tree():
    a, b = taeda.ones(1), taeda.ones(2)
    assert [t.numel() for t in tensors_in((a, [{"k": b}], 3))] == [1, 2]
