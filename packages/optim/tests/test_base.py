"""What all algorithms share: refused options, layouts of the state, gradient scalers, differentiating."""

from __future__ import annotations

import pytest

import taeda
from taeda import optim

ALL = [
    optim.SGD,
    optim.Adam,
    optim.AdamW,
    optim.Adadelta,
    optim.Adagrad,
    optim.Adamax,
    optim.ASGD,
    optim.NAdam,
    optim.RAdam,
    optim.RMSprop,
    optim.Rprop,
    optim.Adafactor,
]
STATE = {
    optim.SGD: [],
    optim.Adam: ["step", "exp_avg", "exp_avg_sq"],
    optim.AdamW: ["step", "exp_avg", "exp_avg_sq"],
    optim.Adadelta: ["step", "square_avg", "acc_delta"],
    optim.Adagrad: ["step", "sum"],
    optim.Adamax: ["step", "exp_avg", "exp_inf"],
    optim.ASGD: ["step", "eta", "mu", "ax"],
    optim.NAdam: ["step", "mu_product", "exp_avg", "exp_avg_sq"],
    optim.RAdam: ["step", "exp_avg", "exp_avg_sq"],
    optim.RMSprop: ["step", "square_avg"],
    optim.Rprop: ["step", "prev", "step_size"],
    optim.Adafactor: ["step", "row_var", "col_var"],
}


def leaf(*shape, dtype=taeda.float32):
    param = taeda.ones(*shape or (2, 3), dtype=dtype).requires_grad_()
    param.grad = taeda.full_like(param.detach(), 0.5)
    return param


@pytest.mark.parametrize("cls", ALL)
def test_state_begins_with_the_first_step(cls):
    param = leaf()
    optimizer = cls([param])
    if cls is not optim.Adagrad:  # which is ready from the start
        assert not optimizer.state
    optimizer.step()
    assert list(optimizer.state.get(param, {})) == STATE[cls]
    for name, value in optimizer.state.get(param, {}).items():
        if value.shape == param.shape:
            assert (value.dtype, value.stride()) == (param.dtype, param.stride()), name
        if name == "step":
            assert (value.item(), value.dtype, value.ndim) == (1.0, taeda.float32, 0)


@pytest.mark.parametrize("cls", [optim.SGD, optim.Adam, optim.RMSprop])
@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_low_precision(cls, name):
    param = leaf(dtype=getattr(taeda, name))
    cls([param], lr=0.25).step()
    assert param.dtype == getattr(taeda, name)
    assert (param.to(taeda.float32) < 1).all()


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("foreach", [None, False])
def test_every_layout_of_parameters(cls, foreach):
    plain = leaf(3, 4)
    cls([plain], foreach=foreach).step()
    for other in (leaf(4, 3).detach().t(), taeda.ones(3, 8)[:, ::2]):
        param = other.requires_grad_()
        param.grad = taeda.full((3, 4), 0.5)
        cls([param], foreach=foreach).step()
        assert param.tolist() == plain.tolist()


@pytest.mark.parametrize("cls", ALL)
def test_parameters_without_elements_and_without_dimensions(cls):
    empty, number = leaf(0, 3), leaf(1).detach().reshape(()).requires_grad_()
    number.grad = taeda.tensor(0.5)
    cls([empty, number]).step()
    assert number.item() < 1


def test_parameters_of_two_dtypes_in_one_group():
    single, double = leaf(), leaf(dtype=taeda.float64)
    optim.Adam([single, double], lr=0.5).step()
    assert single[0, 0].item() == pytest.approx(0.5)
    assert double[0, 0].item() == pytest.approx(0.5)


@pytest.mark.parametrize("cls", ALL)
def test_a_rate_as_a_tensor(cls):
    a, b = leaf(), leaf()
    cls([a], lr=0.25).step()
    cls([b], lr=taeda.tensor(0.25)).step()
    assert a[0].tolist() == pytest.approx(b[0].tolist())


REFUSED = {
    "negative rate": (optim.SGD, {"lr": -1}, ValueError, "learning rate: -1"),
    "nan as a rate": (optim.SGD, {"lr": float("nan")}, ValueError, "learning rate: nan"),
    "a rate of two": (optim.SGD, {"lr": taeda.ones(2)}, ValueError, "1-element"),
    "momentum": (optim.SGD, {"momentum": -1}, ValueError, "momentum value: -1"),
    "decay": (optim.SGD, {"weight_decay": -1}, ValueError, "weight_decay value: -1"),
    "nesterov": (optim.SGD, {"nesterov": True}, ValueError, "Nesterov"),
    "both ways": (optim.SGD, {"foreach": True, "fused": True}, RuntimeError, "together"),
    "fused history": (
        optim.SGD,
        {"differentiable": True, "fused": True},
        RuntimeError,
        "`differentiable`",
    ),
    "eps": (optim.Adam, {"eps": -1}, ValueError, "epsilon value: -1"),
    "first beta": (optim.Adam, {"betas": (1, 0)}, ValueError, "index 0: 1"),
    "second beta": (optim.Adam, {"betas": (0, 1.2)}, ValueError, "index 1: 1.2"),
    "one beta tensor": (optim.Adam, {"betas": (taeda.tensor(0.9), 0.9)}, ValueError, "both floats"),
    "tensor rate": (optim.Adam, {"lr": taeda.tensor(0.1), "foreach": True}, ValueError, "foreach"),
    "rho": (optim.Adadelta, {"rho": 2}, ValueError, "rho value: 2"),
    "lr_decay": (optim.Adagrad, {"lr_decay": -1}, ValueError, "lr_decay value: -1"),
    "alpha": (optim.RMSprop, {"alpha": -1}, ValueError, "alpha value: -1"),
    "etas": (optim.Rprop, {"etas": (2, 1)}, ValueError, "eta values: 2, 1"),
    "momentum_decay": (optim.NAdam, {"momentum_decay": -1}, ValueError, "momentum_decay"),
    "d": (optim.Adafactor, {"d": 0.5}, ValueError, "threshold d"),
    "beta2_decay": (optim.Adafactor, {"beta2_decay": 1}, ValueError, "beta2_decay"),
    "search": (optim.Muon, {"adjust_lr_fn": "x"}, ValueError, "x is not supported"),
    "sparse rate": (optim.SparseAdam, {"lr": 0.0}, ValueError, "learning rate: 0.0"),
}


@pytest.mark.parametrize(("cls", "options", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused_options(cls, options, error, fact):
    with pytest.raises(error, match=fact):
        cls([leaf()], **options)


def test_refused_parameters():
    with pytest.raises(ValueError, match=r"2D.*\[3\]"):
        optim.Muon([leaf(3)])
    complex_leaf = taeda.ones(2, dtype=taeda.complex64).requires_grad_()
    with pytest.raises(ValueError, match="Complex params"):
        optim.SparseAdam([complex_leaf])
    complex_leaf.grad = complex_leaf.detach().clone()
    with pytest.raises(RuntimeError, match="complex"):
        optim.Adafactor([complex_leaf]).step()
    with pytest.raises(ValueError, match="groups"):
        optim.LBFGS([{"params": [leaf()]}, {"params": [leaf()]}])


def test_capturable_steps_want_an_accelerator():
    with pytest.raises(AssertionError, match="capturable=True"):
        optim.Adam([leaf()], capturable=True).step()


@pytest.mark.parametrize("cls", [optim.SGD, optim.Adam])
@pytest.mark.parametrize("fused", [True, False])
def test_a_gradient_scaler_is_undone_and_infinities_leave_the_step_out(cls, fused):
    plain, scaled = leaf(), leaf()
    cls([plain], lr=0.5).step()
    optimizer = cls([scaled], lr=0.5, fused=fused)
    scaled.grad = scaled.grad * 8
    optimizer.grad_scale, optimizer.found_inf = taeda.tensor(8.0), taeda.tensor(1.0)
    optimizer.step()
    assert scaled.tolist() == leaf().tolist()
    scaled.grad = taeda.full((2, 3), 4.0)
    optimizer.found_inf = taeda.tensor(0.0)
    optimizer.step()
    assert scaled[0].tolist() == pytest.approx(plain[0].tolist())


@pytest.mark.parametrize("cls", [optim.SGD, optim.Adam, optim.RMSprop, optim.Adagrad])
def test_steps_can_be_differentiated(cls):
    """The derivative of a step with respect to its gradient, by hand and by differences."""

    def stepped(scale):
        param = taeda.ones(2, dtype=taeda.float64).requires_grad_().clone()
        optimizer = cls([param], lr=0.1, differentiable=True)
        for _ in range(2):
            param.grad = param.clone() * scale
            optimizer.step()
        return param.sum()

    scale = taeda.tensor(0.7, dtype=taeda.float64).requires_grad_()
    (found,) = taeda.autograd.grad(stepped(scale), [scale])
    h = 1e-6
    with taeda.no_grad():
        wanted = (stepped(scale + h).item() - stepped(scale - h).item()) / (2 * h)
    assert found.item() == pytest.approx(wanted, rel=1e-4, abs=1e-6)


def test_a_wrapper_that_never_calls_init_steps():
    """As accelerate has one: everything goes to another optimizer."""

    class Wrapper(optim.Optimizer):
        def __init__(self, inner):
            self.inner = inner

        def step(self, closure=None):
            return self.inner.step(closure)

    x = taeda.ones(1)
    x.grad = taeda.ones(1)
    Wrapper(optim.SGD([x], lr=0.5)).step()
    assert x.item() == 0.5
