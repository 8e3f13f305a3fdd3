"""`while_loop` by a tensor inside of `make_fx` and `compile`."""

from __future__ import annotations

import pytest

import taeda
from taeda import compiler
from taeda._dynamo.exc import UserError
from taeda._higher_order_ops import while_loop
from taeda._higher_order_ops._nodes import while_loop_op
from taeda.func import functionalize, vmap
from taeda.fx.experimental.proxy_tensor import make_fx

W = taeda.tensor([2.0, 3.0])


def halved(x):
    """Steps until it is small; none if it is small already."""
    zero = taeda.zeros((), dtype=taeda.int64)
    return while_loop(lambda i, x: x.abs().sum() > 1, lambda i, x: (i + 1, x / W), (zero, x))


def writes(x):
    def step(i, x):
        y = x * 2
        y[0] = 1
        return i + 1, y

    return while_loop(lambda i, x: i < 3, step, (taeda.zeros(()), x))[1]


def inner(x):
    def step(i, x):
        return i + 1, while_loop(lambda x: x.sum() > i, lambda x: (x - 1,), (x + 3,))[0]

    return while_loop(lambda i, x: i < 3, step, (taeda.zeros(()), x))[1]


PROGRAMS = {
    "halved": lambda x: halved(x)[1],
    "how often": lambda x: halved(x)[0],
    "writes": writes,
    "inner": inner,
    "in a branch": lambda x: taeda.cond(x.sum() > 0, lambda x: halved(x)[1], taeda.sin, (x,)),
    "functionalize": functionalize(writes),
    "vmap": lambda x: vmap(
        lambda w: while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w), (taeda.zeros(()), x))[
            1
        ]
    )(taeda.stack([x, W])),
    "vmap of what is carried": lambda x: vmap(
        lambda y: while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * W), (taeda.zeros(()), y))[
            1
        ]
    )(taeda.stack([x, W])),
}
INPUTS = [taeda.tensor(v) for v in ([5.0, -9.0], [0.1, 0.2], [300.0, 1.0], [-4.0, 2.0])]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_graph_gives_what_python_gives(name):
    program = PROGRAMS[name]
    for traced in INPUTS[:2]:  # of a loop with steps, and of one without
        gm = make_fx(program)(traced)
        gm.graph.lint()
        for x in INPUTS:
            assert gm(x).allclose(program(x))
    if "branch" not in name:
        assert any(n.target is while_loop_op for n in gm.graph.nodes)


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_it_is_one_call_with_every_bit(name):
    program = PROGRAMS[name]
    fast = taeda.compile(program)
    for _ in range(3):
        for x in INPUTS:
            assert fast(x).equal(program(x))
    state = fast.__taeda_compiled__
    if "vmap" not in name and "functionalize" not in name:  # whose code is not looked into
        assert [t.trusted for ts in state.traces.values() for t in ts] == [True], state.reasons


REFUSED = {
    "number": (lambda x: while_loop(lambda i, x: x.sum() < 9, lambda i, x: (i + 1, x + 1), (0, x)),
        "a tensor without dimensions"),
    "twice": (lambda x: while_loop(lambda a, b: a.sum() < 9, lambda a, b: (a + 1, b + 1), (x, x)),
        "one tensor twice"),
    "draws": (lambda x: while_loop(lambda x: x.sum() < taeda.rand(()), lambda x: (x + 1,), (x,)),
        "draws random"),
    "shape": (lambda x: while_loop(lambda x: x.sum() < 9, lambda x: (taeda.cat([x, x]),), (x * 0,)),
        r"must stay .*\[2\].*got .*\[4\]"),
    "dtype": (lambda x: while_loop(lambda x: x.sum() < 9, lambda x: (x.double(),), (x * 0,)),
        "float32.*float64"),
    "structure": (lambda x: while_loop(lambda x: x.sum() < 9, lambda x: (x + 1, x + 2), (x * 0,)),
        "structure"),
    "alias": (lambda x: while_loop(lambda x: x.sum() < 9, lambda x: (x,), (x * 0,)), "return a clone"),
    "gradients": (lambda x: while_loop(lambda x: x.sum() < 9, lambda x: (x + 1,),
        (x.requires_grad_(),)), "detach"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_words(name):
    program, fact = REFUSED[name]
    with pytest.raises(UserError, match=f"^while_loop: .*({fact})"):
        make_fx(program)(taeda.ones(2))


def test_gradients_of_a_captured_weight_and_the_users_line_that_stays_eager():
    weight = taeda.tensor([[0.5, 0.25], [0.0, 1.5]], requires_grad=True)

    def grown(x):
        made = while_loop(lambda x: x.norm() < 9, lambda x: ((x @ weight).tanh() * 3 + x,), (x,))
        return made[0].sum()

    fast = taeda.compile(grown)
    for scale in (0.1, 0.5, 0.1, 1.5):
        x = taeda.ones(2, 2) * scale
        fast(x).backward()
        found, weight.grad = weight.grad, None
        grown(x).backward()
        assert found.equal(weight.grad)
        weight.grad = None
    first = grown.__code__.co_firstlineno
    said = str(compiler.explain(grown)(taeda.ones(2, 2)))
    assert f"detach what it is given ({__file__}:{first + 1})" in said


def test_gradients_through_the_steps_of_python():
    """Compiled, too: there is no graph, so they flow."""
    fast = taeda.compile(PROGRAMS["halved"])
    for x in INPUTS:
        found, expected = (x.clone().requires_grad_() for _ in range(2))
        fast(found).sum().backward()
        halved(expected)[1].sum().backward()
        assert found.grad.equal(expected.grad)
