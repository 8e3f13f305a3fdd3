"""`cond` by a tensor inside of `make_fx` and `compile`: values and derivatives are those of
Python, in both branches."""

from __future__ import annotations

import random

import pytest

import taeda
from taeda import nn
from taeda._dynamo.exc import Unsupported, UserError
from taeda._higher_order_ops.while_loop import while_loop
from taeda.func import functionalize, grad, jvp, vmap
from taeda.fx.experimental.proxy_tensor import make_fx

W = taeda.tensor([2.0, 3.0])
X = taeda.tensor([0.5, -1.5])
BOTH = (taeda.tensor(True), taeda.tensor(False))


def scaled(x):
    return x.sin() * W


def f(p, x):
    return taeda.cond(p, scaled, lambda x: x.cos() + x, (x,))


def pair(p, x):
    made = taeda.cond(
        p,
        lambda t: {"a": t[0] * W, "b": t[0].sum()},
        lambda t: {"a": t[1] * 1, "b": W.sum()},
        ((x, x.exp()),),
    )
    return made["a"] * made["b"]


def nested(p, x):
    def inner(x):
        return taeda.cond(x.sum() > 0, lambda x: x * x, lambda x: x - 1, (x,))

    return taeda.cond(p, inner, lambda x: inner(x * -2), (x,))


def functional(p, x):
    def writes(y):
        made = y * 2
        made[0] = 5
        return made

    y = x.clone()
    y.add_(1)
    return taeda.cond(p, writes, taeda.cos, (y,))


PROGRAMS = {
    "plain": f,
    "a tree, a tensor from elsewhere": pair,
    "nested": nested,
    "writes inside": functional,
    "numbers inside": lambda p, x: taeda.cond(
        p, lambda x: x * taeda.tensor([1.0, 4.0]), lambda x: x + taeda.tensor(2.0), (x,)
    ),
    "grad": lambda p, x: grad(lambda x: f(p, x).sum())(x),
    "grad of grad": lambda p, x: grad(lambda x: grad(lambda x: pair(p, x).sum())(x).sum())(x),
    "grad of nested": lambda p, x: grad(lambda x: nested(p, x).sum())(x),
    "grad of an outer tensor": lambda p, x: grad(
        lambda w: taeda.cond(p, lambda x: x * w, lambda x: x + 1, (x,)).sum()
    )(W),
    "jvp": lambda p, x: jvp(lambda x: pair(p, x), (x,), (x + 1,))[1],
    "vmap": lambda p, x: vmap(lambda x: f(p, x))(taeda.stack([x, x * 2, x - 1])),
    "vmap of grad": lambda p, x: vmap(grad(lambda x: f(p, x).sum()))(taeda.stack([x, x * 2])),
    "vmap of an outer tensor": lambda p, x: vmap(
        lambda w: taeda.cond(p, lambda x: x * w, lambda x: x + 1, (x,))
    )(taeda.stack([x, W])),
    "grad of vmap": lambda p, x: grad(
        lambda x: vmap(lambda r: f(p, x) * r)(taeda.ones(3, 2)).sum()
    )(x),
    "functionalize": functionalize(functional),
    "functionalize of grad": functionalize(lambda p, x: grad(lambda x: functional(p, x).sum())(x)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_graph_gives_what_python_gives(name):
    """A graph from either branch serves both."""
    program = PROGRAMS[name]
    for traced in BOTH:
        gm = make_fx(program)(traced, X)
        assert any(n.target is taeda.cond for n in gm.graph.nodes)
        gm.graph.lint()
        for p in BOTH:
            for x in (X, X * -0.3):
                assert gm(p, x).allclose(program(p, x), atol=1e-6), (traced, p)


def test_both_branches_are_modules_and_what_they_read_is_operands():
    gm = make_fx(f)(BOTH[0], X)
    (node,) = gm.graph.find_nodes(op="call_function", target=taeda.cond)
    assert [str(a) for a in node.args[:3]] == ["p", "true_graph_0", "false_graph_0"]
    assert [str(a) for a in node.args[3]] == ["x", "_tensor_constant0"]
    assert "sin" in gm.true_graph_0.code and "cos" in gm.false_graph_0.code


def test_functionalized_branches_write_nothing():
    gm = make_fx(functionalize(functional))(BOTH[0], X)
    names = [str(n.target) for g in (gm, gm.true_graph_0) for n in g.graph.nodes]
    assert not any(name.split(".")[1].endswith("_") for name in names if "aten" in name)


REFUSED = {
    "structure": (lambda x: (x * 1,), lambda x: x * 1, "one structure"),
    "shape": (lambda x: x[:1] * 1, lambda x: x * 1, r"shape \[1\].*of what false_fn gives.*shape \[2\]"),
    "dtype": (lambda x: x.double(), lambda x: x * 1, "float64.*float32"),
    "strides": (lambda x: x[0].expand(2).clone(), lambda x: taeda.ones(2, 2)[:, 0], "a clone|strides"),
    "number": (lambda x: (x * 1, 3), lambda x: (x * 1, 4), "entry 1 .* is 3, of what false_fn gives 4"),
    "nothing": (lambda x: 3, lambda x: 3, "no tensor"),
    "write": (lambda x: x.add_(1), lambda x: x * 1, "change a clone"),
    "alias": (lambda x: x, lambda x: x * 1, "true_fn gives a tensor that was there before"),
    "value": (lambda x: x * 1, lambda x: x * x.sum().item(), "a value is read"),
    "error": (lambda x: x * 1, lambda x: x @ taeda.ones(3), "false_fn raises RuntimeError: matmul"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_words_by_make_fx_and_left_to_python_by_compile(name):
    true_fn, false_fn, fact = REFUSED[name]
    with pytest.raises(UserError, match=f"^cond: .*({fact})"):
        make_fx(lambda p, x: taeda.cond(p, true_fn, false_fn, (x,)))(BOTH[0], X.clone())
    fast = taeda.compile(lambda p, x: taeda.cond(p, true_fn, false_fn, (x,)))
    for _ in range(4):
        made, expected = fast(BOTH[0], X.clone()), true_fn(X.clone())
        assert str(made) == str(expected)
    assert not any(fast.__taeda_compiled__.traces.values())
    whole = taeda.compile(fast.__taeda_original__, fullgraph=True)
    with pytest.raises(Unsupported):
        whole(BOTH[0], X.clone())


def test_random_numbers_and_gradients():
    with pytest.raises(UserError, match="draws random"):
        make_fx(
            grad(lambda x: taeda.cond(BOTH[0], lambda x: x * taeda.rand(2), taeda.sin, (x,)).sum())
        )(X)


# ---- compiled ----


def run(compiled, x, p):
    """What a call gives and the gradients that it leaves."""
    x = x.detach().requires_grad_(x.requires_grad)
    made = compiled(p, x)
    if made.requires_grad:
        made.sum().backward()
    return made.detach(), x.grad


def trusted(compiled):
    return [t.trusted for ts in compiled.__taeda_compiled__.traces.values() for t in ts]


def unary(x):
    return x.sin() * 2


@pytest.mark.parametrize("wants", [False, True])
@pytest.mark.parametrize("backend", ["taeda", "aot_eager"])
def test_a_compiled_call_has_no_break_and_every_bit(backend, wants):
    def program(p, x):
        return taeda.cond(p, unary, lambda y: y.cos().exp(), (x * 3,)) + 1

    fast = taeda.compile(program, backend=backend, fullgraph=True)
    for n in range(40):
        x = taeda.randn(5).requires_grad_(wants)
        p = BOTH[n % 3 == 0]
        for made, expected in zip(run(fast, x, p), run(program, x, p), strict=True):
            assert (made is None and expected is None) or made.equal(expected)
    assert trusted(fast) == [True]


def test_a_training_step():
    a, b = nn.Linear(3, 3), nn.Linear(3, 3)

    def made(compile):
        taeda.manual_seed(0)
        w = taeda.randn(3, requires_grad=True)
        opt = taeda.optim.SGD([w], lr=0.1)

        def step(x):
            opt.zero_grad()
            loss = taeda.cond(
                x.sum() > 0, lambda t: a(t).sum(), lambda t: b(t).square().sum(), (x * w,)
            )
            loss.backward()
            opt.step()
            return loss.detach()

        for q in (*a.parameters(), *b.parameters()):
            q.requires_grad_(False)
        fast = compile(step)
        losses = [fast(taeda.randn(3)) for _ in range(12)]
        return taeda.stack(losses), w.detach(), fast

    one, two = made(lambda f: f), made(taeda.compile)
    assert one[0].equal(two[0]) and one[1].equal(two[1]) and True in trusted(two[2])


STAY = {
    "sums": (lambda p, x: taeda.cond(p, lambda x: x.sin() * x * x, lambda x: x * 2, (x,)) + x.exp(),
        "more than once"),
    "a sum in an inner one": (
        lambda p, x: taeda.cond(p, lambda x: taeda.cond(x.sum() > 9, taeda.sin, lambda x: x * x * x,
            (x,)), taeda.cos, (x,)) + x,
        "more than once",
    ),
    "one branch only": (lambda p, x: taeda.cond(p, taeda.sin, lambda x: taeda.ones(4), (x,)) * x,
        "in one branch only"),
    "other gradients": (lambda p, x: taeda.cond(p, lambda x: x * V, lambda x: x * 2, (x,)),
        "the other gives none"),
    "random": (lambda p, x: taeda.cond(p, lambda x: x * taeda.rand(4), lambda x: x * 2, (x,)),
        "draws random"),
}  # fmt: skip
V = taeda.ones(4, requires_grad=True)


@pytest.mark.parametrize("name", STAY)
def test_where_the_program_could_tell_it_stays(name):
    """From the first call on every gradient has the bits of the program."""
    program, fact = STAY[name]
    fast = taeda.compile(program)
    for n in range(5):
        x = taeda.randn(4, requires_grad=True)
        taeda.manual_seed(n)
        found = run(fast, x, BOTH[n % 2])
        taeda.manual_seed(n)
        for made, expected in zip(found, run(program, x, BOTH[n % 2]), strict=True):
            assert made.equal(expected)
    assert not any(trusted(fast)) and fact in " ".join(fast.__taeda_compiled__.reasons)


def written_branch(x, w):
    made = taeda.cond(x.sum() > 0, lambda x: x.flip(0), lambda x: x * w, (x,))
    w.add_(1)
    return made


def written_loop(x, w):
    made = taeda.cond(x.sum() > 0, lambda x: x - w.sin(), lambda x: x + w.sin(), (x,))
    w.mul_(2)
    return while_loop(lambda a: a.sum() < 9, lambda a: (a.abs() + 1,), (made,))[0]


@pytest.mark.parametrize("program", [written_branch, written_loop])
@pytest.mark.parametrize("fill", [1.0, -1.0])
def test_writes_to_what_a_branch_reads_count_as_in_the_program(program, fill):
    """The call itself saves all tensors that either branch reads; a walk that nobody records goes
    by what the taken one saves."""
    fast = taeda.compile(program)
    for _ in range(4):
        found = []
        for run in (program, fast):
            x, w = taeda.full((2,), fill, requires_grad=True), taeda.ones(2)
            made = run(x, w)
            try:
                made.sum().backward()
            except RuntimeError as error:
                found.append("modified by an inplace operation" in str(error))
            else:
                found.append([made.tolist(), x.grad.tolist(), w.tolist()])
        assert found[0] == found[1]
        assert (found[0] is True) == (program is written_branch and fill < 0)


def test_draws_of_the_taken_branch():
    def program(p, x):
        return taeda.cond(p, lambda x: x + taeda.rand(3), lambda x: x * 2, (x,)) + taeda.rand(3)

    fast = taeda.compile(program)
    for n in range(8):
        taeda.manual_seed(n)
        expected = program(BOTH[n % 2], taeda.ones(3)), taeda.rand(1)
        taeda.manual_seed(n)
        found = fast(BOTH[n % 2], taeda.ones(3)), taeda.rand(1)
        assert all(a.equal(b) for a, b in zip(found, expected, strict=True))
    assert trusted(fast) == [True]


def test_the_branch_that_is_not_taken_leaves_nothing_behind():
    seen, kept = [], taeda.zeros(2)

    def program(p, x):
        return taeda.cond(
            p, lambda x: x * 2, lambda x: (seen.append(1), kept.add_(1), x * 3)[2], (x,)
        )

    fast = taeda.compile(program)
    for _ in range(4):
        assert fast(BOTH[0], X).equal(X * 2)
    assert seen == [] and kept.tolist() == [0.0, 0.0]


def test_an_error_of_a_branch_is_that_of_the_program():
    table = taeda.arange(4.0)

    def program(p, i):
        return taeda.cond(p, lambda i: table[i] * 2, lambda i: i * 1.0, (i,))

    fast = taeda.compile(program)
    good, bad = taeda.tensor([1]), taeda.tensor([9])
    for _ in range(4):
        assert fast(BOTH[0], good).equal(program(BOTH[0], good))
    assert fast(BOTH[1], bad).tolist() == [9.0]
    with pytest.raises(IndexError):
        fast(BOTH[0], bad)
    assert trusted(fast) == [True]


def test_a_function_as_backend_gets_the_call():
    graphs = []

    def keeps(gm, example_inputs):
        graphs.append(gm)
        return gm.forward

    fast = taeda.compile(f, backend=keeps)
    for n in range(4):
        assert fast(BOTH[n % 2], X).equal(f(BOTH[n % 2], X))
    assert any(n.target is taeda.cond for n in graphs[0].graph.nodes)


STEPS = (
    lambda x: x.sin() * taeda.tensor([0.5, 2.0]), lambda x: x * W, lambda x: x.exp().clamp(max=3),
    lambda x: x.flip(0) * 2, lambda x: (x - x.mean()).tanh(),
    lambda x: x.cumsum(0), lambda x: taeda.where(x > 0, x, x * 0.1), lambda x: x.softmax(0),
)  # fmt: skip


def grown(draw, depth):
    """A random program: steps, and branches by what came out of them."""
    if depth == 0 or draw.random() < 0.3:
        chosen = draw.choices(STEPS, k=draw.randint(1, 3))

        def straight(x):
            for step in chosen:
                x = step(x)
            return x

        return straight
    first, true, false = (grown(draw, depth - 1) for _ in range(3))
    limit = draw.uniform(-1, 1)

    def branches(x):
        y = first(x)
        return taeda.cond(y.sum() > limit, true, false, (y,))

    return branches


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed):
    draw = random.Random(seed)
    program = grown(draw, 3)
    fast = taeda.compile(program)
    taeda.manual_seed(seed)
    gm = make_fx(program)(taeda.randn(2))
    for n in range(10):
        x = taeda.randn(2).requires_grad_(n >= 7)
        expected, found = program(x), fast(x)
        assert found.equal(expected) and gm(x.detach()).equal(expected)
        if n >= 7:
            (one,), (two,) = (taeda.autograd.grad(y.sum(), x) for y in (expected, found))
            assert one.equal(two)
