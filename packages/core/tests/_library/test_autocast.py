"""The type of arguments that an operator of a user has inside of autocast."""

from __future__ import annotations

import pytest

import taeda
from taeda import Tensor, library
from taeda._layers.autocast import own_rules
from taeda._library.low_level import scoped_library


@library.custom_op("tcast::both", mutates_args=())
def both(x: Tensor, more: list[Tensor], scale: float = 1.0) -> Tensor:
    seen.append((x.dtype, [t.dtype for t in more], taeda.mm(x, x.t()).dtype))
    return x * scale + sum(more)


both.register_autograd(lambda ctx, g: (g * 2, None, None))
seen = []
X = taeda.ones(2, 2)
HALF, DOUBLE, BRAIN = taeda.float16, taeda.float64, taeda.bfloat16


def test_arguments_are_cast_and_autocast_is_off_inside():
    library.register_autocast("tcast::both", "cpu", HALF)
    seen.clear()
    assert both(X, [X]).dtype == taeda.float32
    with taeda.autocast("cpu", dtype=BRAIN):
        assert both(X, [X, X.double()]).dtype == DOUBLE
        assert taeda.ops.tcast.both(X.bfloat16(), [], scale=2.0).dtype == HALF
        assert taeda.ops.tcast.both.default(X, more=[X.long()]).dtype == HALF
        with taeda.autocast("cpu", enabled=False):
            assert both(X, []).dtype == taeda.float32
        assert taeda.mm(X, X).dtype == BRAIN
    single = taeda.float32
    assert seen == [
        (single, [single], single), (HALF, [HALF, DOUBLE], HALF), (HALF, [], HALF),
        (HALF, [taeda.int64], HALF), (single, [], single),
    ]  # fmt: skip


def test_gradients_have_the_type_of_the_argument():
    both.register_autocast("cpu", HALF)
    x = X.clone().requires_grad_()
    with taeda.autocast("cpu"):
        both(x, []).sum().backward()
    assert x.grad.dtype == taeda.float32 and x.grad.eq(2).all()


def test_a_later_rule_and_one_for_another_device():
    both.register_autocast("cpu", HALF)
    both.register_autocast("cpu", BRAIN)
    both.register_autocast("cuda", HALF)
    with taeda.autocast("cpu"):
        assert both(X, []).dtype == BRAIN
    taeda.set_autocast_enabled("cuda", True)
    try:
        assert both(X, []).dtype == taeda.float32  # these tensors are on the cpu
        assert taeda.mm(X, X).dtype == taeda.float32
    finally:
        taeda.set_autocast_enabled("cuda", False)
    assert taeda.mm(X, X).dtype == taeda.float32


def test_a_rule_goes_with_its_library_and_with_its_operator():
    with scoped_library("tcast2", "FRAGMENT") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.define("f.scaled(Tensor x, float by) -> Tensor")
        lib.impl("f", lambda x: x + 1, "CPU")
        lib.impl("f.scaled", lambda x, by: x * by, "CPU")
        other = library.Library("tcast2", "FRAGMENT")
        library.register_autocast("tcast2::f", "cpu", HALF, lib=other)
        library.register_autocast("tcast2::f.scaled", "cpu", BRAIN)
        with taeda.autocast("cpu"):  # each overload by its own rule
            assert taeda.ops.tcast2.f(X).dtype == HALF
            assert taeda.ops.tcast2.f(X, 2.0).dtype == BRAIN
            other._destroy()
            assert taeda.ops.tcast2.f(X).dtype == taeda.float32
    assert not any(name.startswith("tcast2") for name in own_rules)


@library.custom_op("tcast::writes", mutates_args=("x",))
def writes(x: Tensor) -> None:
    x.add_(1)


@pytest.mark.parametrize(
    ("args", "error", "fact"),
    [
        (("tcast::both", "xpu", HALF), ValueError, "'cpu' or 'cuda'"),
        (("tcast::both", "cpu", "half"), TypeError, "a dtype, got str"),
        (("tcast::nothing", "cpu", HALF), AttributeError, "nothing"),
        (("aten::sin", "cpu", HALF), RuntimeError, "built in"),
        (("tcast::writes", "cpu", HALF), RuntimeError, "writes its arguments"),
    ],
)
def test_refused(args, error, fact):
    with pytest.raises(error, match=fact):
        library.register_autocast(*args)
