from __future__ import annotations

import pytest

from taeda.fx.experimental._expressions import symbol
from taeda.fx.experimental.symbolic_shapes import (
    ConstraintViolationError,
    DimDynamic,
    EqualityConstraint,
    RelaxedUnspecConstraint,
    ShapeEnv,
    StatelessSymbolicContext,
    StrictMinMaxConstraint,
    ValueRanges,
)


@pytest.fixture
def env():
    return ShapeEnv()


def size(env, hint, kind=DimDynamic.DYNAMIC, demanded=None):
    return env.create_symintnode(env.create_symbol(hint, "x", kind, demanded))


class Shaped:
    def __init__(self, *sizes):
        self.sizes = sizes

    def size(self, dim):
        return self.sizes[dim]


def test_guards_hold_exactly_where_the_environment_says_so(env):
    n, m = size(env, 6), size(env, 4)
    places = [(n, m, 3), (m, n * m), n]
    assert n > m and (n % 2 == 0) and (n // 2 > 1) | (m > 90)
    texts = env.produce_guards(places, ["x", "y", "k"], ignore_static=False)
    assert texts == [
        "x.size(2) == 3", "y.size(0) == x.size(1)", "y.size(1) == x.size(0)*x.size(1)",
        "k == x.size(0)", "x.size(0) > x.size(1)", "((x.size(0)) % 2) == 0",
        "((x.size(0)) // 2) > 1 or x.size(1) > 90", "2 <= x.size(0)", "2 <= x.size(1)",
    ]  # fmt: skip
    assert env.produce_guards(places, ["x", "y", "k"]) == texts[1:]
    for a in range(1, 9):
        for b in range(1, 6):
            given = {"x": Shaped(a, b, 3), "y": Shaped(b, a * b), "k": a}
            holds = all(eval(text, {}, given) for text in texts)
            sizes = [(a, b, 3), (b, a * b), a]
            assert holds == env.evaluate_guards_for_args(places, sizes)


def test_texts_of_several_languages(env):
    n = size(env, 6)
    assert n > 3
    plain, wordy = env.produce_guards_verbose([n], ["k"], source_ref=lambda name: f"args.{name}")
    assert plain.lang == "python" and plain.exprs == ["args.k > 3", "4 <= args.k"]
    assert wordy.exprs == ["args.k > 3  # s0 was 6", "4 <= args.k"]
    assert env.produce_guards([n], ["k"], guards=[]) == ["4 <= k"]
    assert n == 6 and env.produce_guards([n], ["k"])[-1] == "k == 6"


REFUSED = {
    "a language": (lambda env, n: env.produce_guards_verbose([n], ["k"], langs=["c"]), "got 'c'"),
    "sources": (lambda env, n: env.produce_guards([n], ["k", "l"]), "1 arguments, and 2 sources"),
    "a lost symbol": (lambda env, n: env.produce_guards([3], ["k"]), "s0, which no argument tells"),
    "contexts": (
        lambda env, n: env.produce_guards([n], ["k"], input_contexts=[None, None]), "2 contexts"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_written(env, name):
    call, said = REFUSED[name]
    n = size(env, 6)
    assert n > 4
    with pytest.raises(ValueError, match=said):
        call(env, n)


@pytest.mark.parametrize("given", ["the symbol", "the context"])
@pytest.mark.parametrize(("demanded", "ask", "said"), [
    (StrictMinMaxConstraint(False, ValueRanges(2, 8)), lambda n: n > 4, "holds only for 5 <= x"),
    (StrictMinMaxConstraint(False, ValueRanges(2, 8)), lambda n: n < 8, "2 <= x.size.0. <= 7"),
    (StrictMinMaxConstraint(False, ValueRanges(2, 8)), lambda n: n == 6, "fixes it to 6"),
    (RelaxedUnspecConstraint(False), lambda n: n == 6, "but the program fixes it to 6"),
    (StrictMinMaxConstraint(False, ValueRanges(5, 8)), lambda n: n > 4, None),
    (StrictMinMaxConstraint(False, ValueRanges(0, 8)), lambda n: n < 9, None),
    (RelaxedUnspecConstraint(False), lambda n: n > 4, None),
])  # fmt: skip
def test_demands_on_a_size(env, given, demanded, ask, said):
    n = size(env, 6, DimDynamic.DYNAMIC, demanded if given == "the symbol" else None)
    assert ask(n)
    contexts = [StatelessSymbolicContext([DimDynamic.DYNAMIC], constraint_sizes=[demanded])]
    options = {"input_contexts": contexts} if given == "the context" else {}
    if said is None:
        assert env.produce_guards([(n,)], ["x"], **options)
        return
    with pytest.raises(ConstraintViolationError, match=said):
        env.produce_guards([(n,)], ["x"], **options)


def test_a_demand_that_only_warns(env):
    n = size(env, 6, demanded=RelaxedUnspecConstraint(warn_only=True))
    assert n == 6
    with pytest.warns(UserWarning, match="fixes it to 6"):
        env.produce_guards([(n,)], ["x"])


def test_demands_on_equal_sizes(env):
    n, m = size(env, 6), size(env, 4)
    places, sources = [(n, m), (n, n * 2)], ["x", "y"]

    def produce(*pairs, derived=(), relaxed=()):
        demanded = EqualityConstraint(False, pairs, derived, frozenset(relaxed))
        return env.produce_guards(places, sources, equalities_inputs=demanded)

    same = ("x.size(0)", "y.size(0)")
    assert produce(same) and produce(relaxed=["y.size(0)"])
    with pytest.raises(
        ConstraintViolationError, match=r"needs x.size\(0\) == y.size\(0\), which is"
    ):
        produce()
    with pytest.raises(ConstraintViolationError, match="is demanded, but they are s0 and s1"):
        produce(same, ("x.size(0)", "x.size(1)"))
    assert produce(same, derived=[("y.size(1)", "x.size(0)", lambda s: s + s)])
    with pytest.raises(ConstraintViolationError, match=r"to be s1 \+ s1|to be 2\*s1, where"):
        produce(same, derived=[("y.size(1)", "x.size(1)", lambda s: s + s)])
    assert symbol("s0") == n.expr
