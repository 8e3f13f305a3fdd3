"""Numbers that each call gives anew: inputs of a graph where the program only computes with them."""

from __future__ import annotations

import itertools
import random

import pytest

import taeda
from taeda import nn

NUMBERS = (0.5, -0.0, 1e300, 1e-320, float("inf"), float("nan"), 0.1)


def told(f, calls):
    """What the calls give, with gradients, and the generators afterwards."""
    taeda.manual_seed(0)
    random.seed(0)
    found = []
    for args in calls:
        leaf = taeda.arange(4.0).requires_grad_()
        try:
            result = f(leaf * 1, *args)
            found.append(hash(random.getstate()))  # before backward, which may draw as well
            result.sum().backward()
            found.append(repr((result.dtype, result.tolist(), leaf.grad)))
        except ArithmeticError as error:
            found.append(repr(error))
    return found, random.random(), taeda.rand(1).item()


def graphs(f):
    return [t for traces in f.__taeda_compiled__.traces.values() for t in traces]


def agree(program, calls):
    compiled = taeda.compile(program)
    assert told(compiled, calls) == told(program, calls)
    return graphs(compiled)


TEXTS = {
    f"{left} {op} {right}": f"def f(x, w):\n    return {left} {op} {right}\n"
    for op, (left, right) in itertools.product(
        "+-*/", [("x", "w"), ("w", "x"), ("x", "(1 - w)"), ("(w * 2 + w)", "x")]
    )
}


def made(text, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(text)
    space = {"random": random}
    exec(compile(text, str(path), "exec"), space)
    return space["f"]


@pytest.mark.parametrize("name", TEXTS)
def test_one_graph_does_for_every_number(name, tmp_path):
    found = agree(made(TEXTS[name], tmp_path), [(w,) for w in NUMBERS * 3])
    assert len(found) == 1
    assert found[0].trusted


READS = (
    "x * (2 if w > 0.4 else 3)", "x * w if w else x", "x * float(repr(w))", "x * [w][0]",
    "x * (lambda: w)()", "x * max(w, 0.2)", "x * {0.5: 2.0}.get(w, 3.0)", "x + (w + 1).real",
    "x * len(f'{w}')", "(x * w) * int(w == 0.5)", "x * sum(w for _ in [1])", "x ** w",
    "x * (w + 1 if w is not None else 1)", "x.clamp(max=w)", "x * -w", "x * round(w + 0.2)",
)  # fmt: skip


@pytest.mark.parametrize("expression", READS)
def test_a_number_that_is_read_is_another_call(expression, tmp_path):
    program = made(f"def f(x, w):\n    return {expression}\n", tmp_path)
    agree(program, [(w,) for w in (0.5, 0.25, 0.75) * 5])


def test_dtypes_that_round_in_another_way_have_a_graph_for_each_number():
    found = agree(lambda x, w: (x.half() * w).float(), [(0.1,), (0.7,)] * 6)
    assert len(found) == 2


def test_a_division_that_fails_is_left_to_the_program():
    agree(lambda x, w: x * (1 / w), [(w,) for w in (0.5, 0.25, 0.0, 2.0, 0.0, 4.0)])


def test_other_types_are_other_calls():
    calls = [(0.5,), (1,), (True,), (taeda.tensor(3.0),), (0.25,)] * 4
    agree(lambda x, w: x * w, calls)


def test_a_number_is_no_other_one_with_the_same_value():
    def inner(x, w):
        return x * w

    def outer(x, w):
        return inner(x, 0.5) + x * w

    found = agree(outer, [(0.5,), (0.25,), (0.5,)] * 4)
    assert len(found) == 1


def test_a_keyword_is_an_argument_too():
    model = nn.Linear(4, 4)

    def program(x, *, w=1.0, scale):
        return model(x) * w + scale

    f = taeda.compile(program)
    for number in range(6):
        x = taeda.ones(1, 4) + number
        want = program(x, w=number / 3, scale=number / 7)
        assert f(x, scale=number / 7, w=number / 3).equal(want)
    assert len(graphs(f)) == 1


DRAWN = {
    "mixed": "share = random.random()\n    return share * x + (1 - share) * x.sin()",
    "two": "a = random.uniform(1, 2)\n    b = random.gauss(0.0, 1.0)\n    return x * a - b * x",
    "in a loop": "for _ in range(3):\n        k = random.random()\n        x = x * k\n    return x",
    "beside others": "k = random.random()\n    return x * k + taeda.rand(4)",
    "unused": "k = random.random()\n    return x * 2",
}


@pytest.mark.parametrize("name", DRAWN)
def test_draws_of_python_are_drawn_by_each_run(name, tmp_path):
    text = f"import taeda\ndef f(x):\n    {DRAWN[name]}\n"
    (trace,) = agree(made(text, tmp_path), [()] * 12)
    assert trace.trusted


READ_DRAWS = (
    "k = random.random()\n    return x * k if k > 0.5 else x",
    "k = random.random()\n    k = k + 1\n    return x * k",
    "k = random.random()\n    y = x * k\n    return y * random.random()",
    "k = random.random()\n    random.seed(3)\n    return x * k",
    "return x * random.choice([1.0, 2.0])",
)


@pytest.mark.parametrize("body", READ_DRAWS)
def test_draws_that_are_read_leave_the_program_as_it_is(body, tmp_path):
    assert agree(made(f"def f(x):\n    {body}\n", tmp_path), [()] * 8) == []


@pytest.mark.parametrize("name", sorted(DRAWN.keys() - {"beside others"}))
@pytest.mark.parametrize("order", [2, 3])
def test_derivatives_of_derivatives_are_of_what_was_drawn(name, order, tmp_path):
    text = f"import taeda\ndef f(x):\n    {DRAWN[name]}\n"
    told = []
    for wrap in (lambda f: f, taeda.compile):
        f, found = wrap(made(text, tmp_path)), []
        random.seed(0)
        for _ in range(6):
            x = taeda.arange(1.0, 5.0).requires_grad_()
            value = f(x**3 * 1)
            for _ in range(order):
                (value,) = taeda.autograd.grad(value.sum(), x, create_graph=True)
            found += [value.tolist(), hash(random.getstate())]
        told.append(found)
    assert told[0] == told[1]


PLACES = {
    "checkpoint": "return checkpoint(g, x, use_reentrant=False) * 2",
    "backward inside": "y = x.detach().requires_grad_()\n"
    "    checkpoint(g, y, use_reentrant=False).sum().backward()\n    return y.grad * x",
    "checkpoint in another": "h = lambda y: checkpoint(g, y, use_reentrant=False).exp()\n"
    "    return checkpoint(h, x, use_reentrant=False)",
    "a branch that is taken": "return taeda.cond(x.sum() > 0, g, taeda.sin, (x,))",
    "a branch that is not": "return taeda.cond(x.sum() < 0, g, taeda.sin, (x,))",
    "vmap": "return taeda.vmap(g)(x)",
    "grad": "return taeda.func.grad(lambda y: g(y).sum())(x)",
    "a hook": "y = x * 2\n    y.register_hook(g)\n    return y.sin()",
    "map": "return sum(map(g, [x, x]))",
    "a generator": "return sum(g(y) for y in (x, x))",
    "reduce": "return functools.reduce(lambda a, b: g(a) + b, [x, x, x])",
}


@pytest.mark.parametrize("place", PLACES)
def test_draws_in_functions_that_others_call(place, tmp_path):
    text = (
        "import functools, taeda\nfrom taeda.utils.checkpoint import checkpoint\n"
        "def g(x):\n    k = random.random()\n    return (x * k).sin()\n"
        f"def f(x):\n    {PLACES[place]}\n"
    )
    agree(made(text, tmp_path), [()] * 12)


#: draws that raise, or give another kind of number, in some calls or in all
ODD_DRAWS = (
    "expovariate(0)", "lognormvariate(0, 700)", "gammavariate(-1, 1)", "triangular(1, 1)",
    "triangular(0.5, 0.5)", "betavariate(0, 1)", "uniform(1)", "gauss(0, 1e308)",
)  # fmt: skip


@pytest.mark.parametrize("draw", ODD_DRAWS)
@pytest.mark.parametrize("before", ["", "j = random.random(); x = x * j\n        "])
def test_draws_that_raise_leave_the_generator_where_the_program_does(draw, before, tmp_path):
    body = (
        f"try:\n        {before}k = random.{draw}\n        x = x * k\n"
        "    except Exception:\n        x = x * 3\n    return x + 1, 1"
    )

    inner = made(f"def f(x):\n    {body}\n", tmp_path)

    def program(x):
        return inner(x)[0]

    agree(program, [()] * 30)


def test_a_number_that_cannot_be_computed_is_drawn_once(tmp_path):
    text = "def f(x, w):\n    k = random.random()\n    return x * (k / w)\n"
    agree(made(text, tmp_path), [(w,) for w in (0.5, 0.25, 0.0, 2.0, 0.0, 4.0)])


class Passes:
    """Another function under the attributes of one that it calls."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __call__(self, w, scale):
        return self.inner(w * 2 if scale > 0.4 else w, scale)


def by_position(x, /, **more):
    return x * 2 if more["x"] > 0.4 else x * more["x"]


@pytest.mark.parametrize("numbers", [*itertools.permutations((0.6, 0.7, 0.3, 0.2))])
def test_names_of_another_function_say_nothing(numbers):
    passes = Passes(lambda x, scale: x * scale)
    calls = {passes: lambda f, x, w: f(x, w), by_position: lambda f, x, w: f(x, x=w)}
    for program, call in calls.items():
        compiled = taeda.compile(program)
        for w in numbers * 2:
            assert call(compiled, taeda.ones(2), w).equal(call(program, taeda.ones(2), w))


def test_an_error_in_a_graph_draws_no_number_twice():
    def program(x, places):
        share = random.random()
        return (x * share).index_select(0, places)

    f = taeda.compile(program)
    for run in (program, f):
        random.seed(1)
        for last in (0, 1, 2, 9, 3):
            try:
                run(taeda.ones(4), taeda.tensor([last]))
            except (IndexError, RuntimeError):
                assert last == 9
        program.left = [*getattr(program, "left", []), random.random()]
    assert program.left[0] == program.left[1]


def test_another_generator_in_the_place_of_the_modules_is_seen(monkeypatch):
    def program(x):
        share = random.random()
        return x * share

    f = taeda.compile(program)
    for _ in range(4):
        f(taeda.ones(1))
    monkeypatch.setattr(random, "random", lambda: 2.0)
    assert f(taeda.ones(1)).item() == 2


@pytest.mark.parametrize("backend", ["taeda", "aot_eager", "eager"])
def test_backends_agree(backend):
    f = taeda.compile(lambda x, w: x * w, backend=backend)
    assert [f(taeda.ones(1), w).item() for w in (0.5, 0.25, 2.0, 3.0)] == [0.5, 0.25, 2.0, 3.0]


def test_a_function_as_backend_gets_the_tensors_of_the_program():
    seen = []

    def backend(graph, inputs):
        seen.append(len(inputs))
        return graph.forward

    f = taeda.compile(lambda x, w: x * w, backend=backend)
    assert [f(taeda.ones(1), w).item() for w in (0.5, 0.25, 0.5)] == [0.5, 0.25, 0.5]
    assert seen == [1, 1]


class Counting:
    """Draws by a property, which counts how often somebody asks for it."""

    def __init__(self):
        self.asked = 0

    @property
    def random(self):
        self.asked += 1
        return lambda: 2.0


class Made:
    """Draws by `__getattr__`."""

    def __init__(self):
        self.asked = 0

    def __getattr__(self, name):
        self.asked += 1
        return lambda: 2.0


@pytest.mark.parametrize("kind", [Counting, Made])
def test_another_object_in_the_place_of_the_module_is_asked_once_a_call(kind):
    source = kind()

    def program(x):
        share = source.random()
        return x * share

    f = taeda.compile(program)
    for number in range(1, 6):
        assert f(taeda.ones(1)).item() == 2
        assert source.asked == number
