"""Helpers of optimizers that libraries write."""

import taeda
from taeda._torch_names import private_optim as helpers


def test_number_root_and_kernels():
    assert helpers.number_of(taeda.tensor(2.5)) == 2.5
    assert helpers.number_of(3) == 3
    assert helpers.root(9) == 3
    assert helpers.root(taeda.tensor(9.0)).item() == 3
    assert helpers.choose_kernels([taeda.ones(1)], False, True) == (True, False)
    assert helpers.choose_kernels([taeda.ones(1)], True, True) == (False, False)
    assert all(taeda.device(kind).type == kind for kind in helpers.capturable_devices())


def test_complex_parameters_become_pairs_with_their_states():
    params, states = (
        [taeda.ones(2, dtype=taeda.complex64), taeda.ones(2)],
        [
            taeda.zeros(2, dtype=taeda.complex64),
            taeda.zeros(2),
        ],
    )
    helpers.reals_of(params, states)
    assert [list(p.shape) for p in (*params, *states)] == [[2, 2], [2], [2, 2], [2]]


def test_step_is_recorded_only_where_it_is_differentiable():
    class Optimizer:
        defaults = {"differentiable": False}

        @helpers.with_gradients
        def step(self):
            return taeda.is_grad_enabled()

    assert Optimizer().step() is False
    Optimizer.defaults = {"differentiable": True}
    assert Optimizer().step() is True
