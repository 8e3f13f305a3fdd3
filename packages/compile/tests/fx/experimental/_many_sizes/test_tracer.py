"""One graph for many sizes: what it gives is what the program gives, to the bit."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda._higher_order_ops import while_loop
from taeda.func import grad
from taeda.fx.experimental.proxy_tensor import make_fx
from taeda.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

WEIGHT, CONV = taeda.randn(4, 5), nn.Conv2d(3, 4, 3, stride=2, padding=1)


def attention(q, k, v):
    b, t, d = q.shape
    q, k, v = (z.view(b, t, 2, d // 2).transpose(1, 2) for z in (q, k, v))
    weights = (q @ k.transpose(-2, -1) * (d // 2) ** -0.5).softmax(-1)
    return (weights @ v).transpose(1, 2).reshape(b, t, d)


def rows(x):
    y = x @ WEIGHT
    n, width = y.shape
    return y.reshape(n * width)[: n + width - 1], taeda.arange(n), n * 2


def convolved(x):
    y = CONV(x)
    b, c, h, w = y.shape
    return y.reshape(b, c, h * w).mean(-1)


# name: (program, sizes traced at, other sizes, guards)
PROGRAMS = {
    "pointwise": (lambda x: x.sin() + 1, [(3, 4)], [(5, 6)], ""),
    "view": (lambda x: x.view(x.shape[0] * x.shape[1]).sum(), [(3, 4)], [(5, 6)], ""),
    "reshape": (lambda x: x.reshape(x.size(0), -1, 2), [(3, 4, 5)], [(5, 6, 7)], " - (s1 % 2) == 0"),
    "matmul": (lambda x, y: x @ y, [(3, 4), (4, 5)], [(6, 7), (7, 2)], ""),
    "constant": (lambda x: (x @ WEIGHT).mean(0), [(3, 4)], [(7, 4)], " - s1 == 4"),
    "reduction": (lambda x: x.sum(0, keepdim=True) / x.shape[0], [(3, 4)], [(5, 7)], ""),
    "gradient": (grad(lambda x: x.sin().mean()), [(3, 4)], [(7, 8)], ""),
    "cat": (
        lambda x, y: taeda.cat([x, y]).view(x.shape[0] + y.shape[0], -1),
        [(3, 4), (5, 4)], [(7, 8), (2, 8)], "",
    ),
    "factory": (lambda x: taeda.zeros(len(x.shape), x.numel()), [(3, 4)], [(5, 6)], ""),
    "expand": (lambda x, y: x.expand(*y.shape) * y, [(1, 4), (3, 4)], [(1, 9), (7, 9)], ""),
    "loop": (lambda x: sum(x[i] for i in range(len(x))), [(3, 4)], [(3, 9)], " - s0 == 3"),
    "intermediate": (rows, [(3, 4)], [(6, 4)], " - s1 == 4"),
    "conv": (convolved, [(2, 3, 8, 8)], [(5, 3, 12, 12)], None),
    "attention": (attention, [(2, 5, 8)] * 3, [(3, 7, 12)] * 3, " - (s2 % 2) == 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_graph_gives_what_the_program_gives(name):
    f, sizes, others, guards = PROGRAMS[name]
    gm = make_fx(f, tracing_mode="symbolic")(*(taeda.randn(*s) for s in sizes))
    gm.graph.lint()
    if guards is not None:
        assert gm.shape_env.format_guards() == guards
    for shapes in (sizes, others):
        inputs = [taeda.randn(*s) for s in shapes]
        taeda.testing.assert_close(gm(*inputs), f(*inputs), rtol=0, atol=0)


def test_the_form_of_a_graph():
    f = lambda x: x.view(x.shape[0] * x.shape[1])  # noqa: E731
    gm = make_fx(f, tracing_mode="symbolic")(taeda.ones(3, 4))
    called = [
        str(n.target)
        for n in gm.graph.find_nodes(op="call_function", target=taeda.ops.aten.sym_size.int)
    ]
    assert called == ["aten.sym_size.int"] * 2
    assert [n.name for n in gm.graph.nodes] == [
        "x", "sym_size_int", "sym_size_int_1", "mul", "view", "output",
    ]  # fmt: skip


def test_branches_on_sizes_are_guarded():
    def f(x):
        return x * 2 if x.shape[0] > 2 and x.shape[1] != 9 else x * 3

    gm = make_fx(f, tracing_mode="symbolic")(taeda.ones(3, 4))
    assert gm.shape_env.format_guards() == " - s0 > 2\n - s1 != 9"
    other = make_fx(f, tracing_mode="symbolic")(taeda.ones(2, 4))
    assert other.shape_env.format_guards() == " - s0 == 2"
    assert other(taeda.ones(2, 9)).equal(taeda.full((2, 9), 3.0))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x if x.sum() > 0 else -x,
        lambda x: x[: int(x.sum())],
        lambda x: x * x.sum().item(),
        lambda x: x.tolist(),
    ],
)
def test_branches_on_values_are_refused(f):
    with pytest.raises(GuardOnDataDependentSymNode, match="reads the value of a tensor"):
        make_fx(f, tracing_mode="symbolic")(taeda.ones(3, 4))


def test_a_size_that_changes_the_program_stays_a_number():
    f = lambda x: x * float(len(str(tuple(int(s) for s in x.stride()))))  # noqa: E731
    gm = make_fx(f, tracing_mode="symbolic")(taeda.ones(3, 4))
    assert gm.shape_env.format_guards() == " - s1 == 4"
    assert gm(taeda.ones(9, 4)).equal(f(taeda.ones(9, 4)))


def test_sizes_that_must_divide_are_guarded_so():
    gm = make_fx(lambda x: x.view(-1, 2).sum(1), tracing_mode="symbolic")(taeda.ones(8))
    assert gm.shape_env.format_guards() == " - (s0 % 2) == 0"
    assert gm(taeda.ones(6)).shape == (3,)


def test_odd_sizes_tell_formulas_apart():
    pool = nn.MaxPool1d(2, ceil_mode=True)

    def f(x):
        y = pool(x)
        return y.reshape(y.shape[0] * y.shape[1])

    gm = make_fx(f, tracing_mode="symbolic")(taeda.ones(2, 8))
    for n in (5, 6, 9, 30):
        assert gm(taeda.ones(3, n)).equal(f(taeda.ones(3, n)))


def test_structures_keywords_and_modules():
    layer = nn.Linear(4, 2)

    def f(batch, scale):
        x = batch["x"]
        return {"y": layer(x).view(1, x.shape[0], 2) * scale, "n": x.shape[0]}

    gm = make_fx(f, tracing_mode="symbolic")({"x": taeda.randn(3, 4)}, 2.0)
    inputs = {"x": taeda.randn(6, 4)}, 2.0
    taeda.testing.assert_close(gm(*inputs), f(*inputs), rtol=0, atol=0)


PAIR = taeda.tensor([1.0, -2.0])


def _counted(x):
    rows = x.shape[0]
    return taeda.cond(x.sum() > 0, lambda x: x * rows, lambda x: x * 1.5, (x,))


def _nested(x):
    def inner(x):
        return taeda.cond(x.max() > 1, lambda x: x + PAIR[0], lambda x: x - PAIR[1], (x,))

    return taeda.cond(x.sum() > 0, inner, lambda x: x * PAIR[1], (x,)) + x.shape[0]


BRANCHES = [
    (lambda x: taeda.cond(x.sum() > 0, taeda.sin, taeda.cos, (x,)) + x.shape[0], (7, 3), ()),
    (lambda x: taeda.cond(x.sum() > 0, lambda x: x.sum(0), lambda x: x.mean(0), (x,)), (7, 3), ()),
    (lambda x: taeda.cond(x.sum() > 0, lambda x: x.view(-1, 2).sum(1),
                          lambda x: x.reshape(-1, 2)[:, 0] * 1, (x,)), (6, 10), (7,)),
    (lambda x: taeda.cond(x.sum() > 0, lambda x: x * x.shape[0], taeda.sin, (x,)), (), (6,)),
    (_counted, (), (6, 8)),
    (_nested, (3, 9), ()),
]  # fmt: skip


@pytest.mark.parametrize(("f", "holds", "fails"), BRANCHES)
def test_branches_by_a_tensor_hold_for_the_sizes_at_which_they_are_the_same(f, holds, fails):
    """A size that a branch counts with is a number: it is written in the graph of the branch."""
    gm = make_fx(f, tracing_mode="symbolic")(taeda.ones(4))
    assert len(gm.graph.find_nodes(op="call_function", target=taeda.cond)) == 1
    for size in (4, *holds):
        for x in (taeda.ones(size), -taeda.ones(size), taeda.ones(size) * 3):
            assert gm(x).equal(f(x))
    for size in fails:
        with pytest.raises(RuntimeError, match="was traced for other sizes"):
            gm(taeda.ones(size))


@pytest.mark.parametrize("mode", ["symbolic", "fake"])
def test_a_loop_is_not_run_where_there_are_no_values(mode):
    """What is not filled may be zeros, with which a loop that doubles them never ends."""

    def f(x):
        return while_loop(lambda x: x.isnan().logical_not().any(), lambda x: (x * 2,), (x,))[0]

    gm = make_fx(f, tracing_mode=mode)(taeda.ones(4))
    assert gm(taeda.full((4,), taeda.nan)).isnan().all()


def test_a_loop_by_a_tensor():
    def f(x):
        carried = (x, taeda.tensor(0))
        x, n = while_loop(lambda x, n: x.sum() < 100, lambda x, n: (x * 2, n + 1), carried)
        return x * n

    gm = make_fx(f, tracing_mode="symbolic")(taeda.ones(4))
    for size in (4, 7, 20):
        assert gm(taeda.ones(size)).equal(f(taeda.ones(size)))
