"""Loss scaling: what is scaled, what is left out, how the scale follows, what is refused."""

from __future__ import annotations

import math
import pickle

import pytest

import taeda
from taeda.amp import GradScaler


class Descent:
    """Enough of an optimizer."""

    def __init__(self, *parameters, lr=1.0):
        self.param_groups = [{"params": list(parameters)}]
        self.lr, self.steps = lr, 0

    def step(self, closure=None):
        self.steps += 1
        with taeda.no_grad():
            for p in self.param_groups[0]["params"]:
                p.sub_(p.grad, alpha=self.lr)
        return closure() if closure else "done"


def scaler(**words):
    return GradScaler("cpu", init_scale=8.0, **words)


def with_gradient(value=1.0):
    p = taeda.zeros(2, requires_grad=True)
    p.grad = taeda.full((2,), value)
    return p


def started(**words):
    made = scaler(**words)
    made.scale(taeda.ones(1))
    return made


def test_a_step_is_that_of_the_unscaled_loss():
    x = taeda.tensor([1.0, 2.0], requires_grad=True)
    s, optimizer = scaler(), Descent(x)
    s.scale((x * x).sum()).backward()
    assert x.grad.tolist() == [16, 32]
    assert s.step(optimizer) == "done"
    assert x.grad.tolist() == [2, 4] and x.tolist() == [-1, -2]
    s.update()
    assert s.get_scale() == 8


def test_everything_in_a_structure_is_scaled():
    one = taeda.ones(1)
    a, (b, c) = scaler().scale([one, (one, one * 2)])
    assert (a.item(), b.item(), c.item()) == (8, 8, 16)
    assert [t.item() for t in scaler().scale(t for t in (one,))] == [8]
    with pytest.raises(ValueError, match="iterable of Tensors, got int"):
        scaler().scale(3)


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_an_overflow_leaves_the_step_out_and_halves_the_scale(bad):
    s, p = started(), with_gradient()
    p.grad[1] = bad
    optimizer = Descent(p)
    assert s.step(optimizer) is None and optimizer.steps == 0
    s.update()
    assert s.get_scale() == 4


def test_the_scale_grows_after_enough_good_steps_in_a_row():
    s = started(growth_interval=2)
    scales = []
    for value in (1.0, 1.0, 1.0, math.inf, 1.0, 1.0):
        s.step(Descent(with_gradient(value)))
        s.update()
        scales.append(s.get_scale())
    assert scales == [8, 16, 16, 8, 8, 16]


def test_the_scale_does_not_grow_past_what_there_is():
    s = GradScaler("cpu", init_scale=2.0**127, growth_interval=1)
    s.scale(taeda.ones(1))
    s.step(Descent(with_gradient()))
    s.update()
    assert s.get_scale() == 2.0**127


def test_optimizers_overflow_on_their_own():
    s, good, bad = started(), Descent(with_gradient()), Descent(with_gradient(math.inf))
    assert s.step(good) == "done" and s.step(bad) is None
    s.update()
    assert s.get_scale() == 4


def test_gradients_may_be_unscaled_to_be_clipped():
    s, p = started(), with_gradient(8.0)
    optimizer = Descent(p)
    s.unscale_(optimizer)
    assert p.grad.tolist() == [1, 1]
    p.grad.clamp_(max=0.5)
    s.step(optimizer)
    assert p.tolist() == [-0.5, -0.5]


def test_arguments_of_step_are_passed_on():
    s, optimizer = started(), Descent(with_gradient())
    assert s.step(optimizer, lambda: "closed") == "closed"


def test_setting_the_scale():
    s = started()
    s.update(2.0)
    assert s.get_scale() == 2
    s.update(taeda.tensor(3.0))
    assert s.get_scale() == 3
    for wrong in (taeda.ones(2), taeda.ones(1, requires_grad=True), "2"):
        with pytest.raises(AssertionError, match="1-element tensor"):
            s.update(wrong)


def unscaled_twice():
    s, optimizer = started(), Descent(with_gradient())
    s.unscale_(optimizer)
    s.unscale_(optimizer)


def unscaled_after_step():
    s, optimizer = started(), Descent(with_gradient())
    s.step(optimizer)
    s.unscale_(optimizer)


def stepped_twice():
    s, optimizer = started(), Descent(with_gradient())
    s.step(optimizer)
    s.step(optimizer)


def half_gradients():
    p = taeda.zeros(2, dtype=taeda.float16, requires_grad=True)
    p.grad = taeda.ones(2, dtype=taeda.float16)
    started().unscale_(Descent(p))


def pickled_midway():
    s = started()
    s.unscale_(Descent(with_gradient()))
    pickle.dumps(s)


REFUSED = {
    "unscaled twice": (unscaled_twice, RuntimeError, "already been called on this optimizer"),
    "unscaled after step": (unscaled_after_step, RuntimeError, "called after step"),
    "stepped twice": (stepped_twice, RuntimeError, r"step\(\) has already been called"),
    "half gradients": (half_gradients, ValueError, "FP16 gradients"),
    "closure": (
        lambda: started().step(Descent(with_gradient()), closure=lambda: 1), RuntimeError, "Closure use"
    ),
    "step first": (lambda: scaler().step(Descent(with_gradient())), AssertionError, "Attempted step"),
    "update first": (lambda: scaler().update(), AssertionError, "Attempted update"),
    "unscale first": (lambda: scaler().unscale_(Descent()), AssertionError, "Attempted unscale_"),
    "no gradients": (lambda: started().step(Descent()), AssertionError, "for this optimizer"),
    "nothing checked": (lambda: started().update(), AssertionError, "prior to update"),
    "growth": (lambda: scaler(growth_factor=1.0), AssertionError, "must be > 1.0, got 1.0"),
    "backoff": (lambda: scaler(backoff_factor=1.0), AssertionError, "must be < 1.0, got 1.0"),
    "empty state": (lambda: scaler().load_state_dict({}), RuntimeError, "source state dict is empty"),
    "pickled midway": (pickled_midway, AssertionError, "beginning of an iteration"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call()


def test_disabled_everything_passes_through():
    s = scaler(enabled=False, growth_factor=0.0)
    optimizer, x = Descent(with_gradient()), taeda.ones(1)
    assert s.scale(x) is x and s.get_scale() == 1 and not s.is_enabled()
    s.unscale_(optimizer)
    assert s.step(optimizer, closure=lambda: "closed") == "closed"
    s.update()
    assert s.state_dict() == {}
    s.load_state_dict({"scale": 3})


def test_another_device_warns_and_is_off():
    with pytest.warns(UserWarning, match="enabled for 'cuda'") as seen:
        s = GradScaler()
    assert seen[0].filename == __file__ and not s.is_enabled()


@pytest.mark.parametrize("begun", [False, True])
def test_state_goes_on_elsewhere(begun):
    s = started(growth_interval=3)
    s.step(Descent(with_gradient()))
    s.update()
    state = s.state_dict()
    assert state == {
        "scale": 8.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 3, "_growth_tracker": 1,
    }  # fmt: skip
    other = started() if begun else scaler()
    other.load_state_dict(state)
    assert other.state_dict() == state
    assert pickle.loads(pickle.dumps(s)).state_dict() == state


def test_factors():
    s = scaler()
    s.set_growth_factor(3.0)
    s.set_backoff_factor(0.25)
    s.set_growth_interval(7)
    assert s.get_growth_factor() == 3 and s.get_backoff_factor() == 0.25
    assert s.get_growth_interval() == 7


def test_small_gradients_of_float16_survive():
    w = taeda.tensor([1.0], requires_grad=True)
    s, optimizer = GradScaler("cpu", init_scale=2.0**15), Descent(w)
    with taeda.autocast("cpu", dtype=taeda.float16):
        y = (w.reshape(1, 1) @ taeda.ones(1, 1)) * 1e-4
        loss = (y * 1e-4).float().sum()
    s.scale(loss).backward()
    s.step(optimizer)
    assert w.grad.item() == pytest.approx(1e-8, rel=0.02)


LAYOUTS = ("sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("bad", [2.0, math.inf, math.nan])
def test_sparse_gradients(layout, bad):
    gradient = taeda.tensor([[0.0, bad], [4.0, 0.0]])
    block = (1, 1) if layout in ("sparse_bsr", "sparse_bsc") else None
    p = taeda.zeros(2, 2, requires_grad=True)
    p.grad = gradient.to_sparse(layout=getattr(taeda, layout), blocksize=block)
    s, optimizer = started(), Descent(p)
    if layout != "sparse_coo":  # the step is another matter
        optimizer.step = lambda: "done"
    assert s.step(optimizer) == ("done" if math.isfinite(bad) else None)
    assert p.grad.layout is getattr(taeda, layout)
    if math.isfinite(bad):
        assert p.grad.to_dense().tolist() == [[0.0, 0.25], [0.5, 0.0]]
    s.update()
    assert s.get_scale() == (8 if math.isfinite(bad) else 4)


def test_sparse_gradients_with_repeated_places():
    p = taeda.zeros(3, 1, requires_grad=True)
    p.grad = taeda.sparse_coo_tensor([[1, 1]], [[8.0], [16.0]], (3, 1))
    s = started()
    s.step(Descent(p))
    assert p.tolist() == [[0.0], [-3.0], [0.0]]
    p.grad = taeda.sparse_coo_tensor([[1, 1]], [[math.inf], [-math.inf]], (3, 1))
    s.update()
    assert s.step(Descent(p)) is None


def test_libraries_have_the_scale_before_the_first_loss():
    s = scaler()
    s._lazy_init_scale_growth_tracker(taeda.device("cpu"))
    assert s._scale.item() == 8.0 and s._growth_tracker.item() == 0
