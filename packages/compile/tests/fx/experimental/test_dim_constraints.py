from __future__ import annotations

import inspect
import itertools

import pytest

from taeda.fx.experimental._dim_constraints import DimConstraints
from taeda.fx.experimental._expressions import Relation, constant, floor_div, modulo, symbol
from taeda.fx.experimental._logic import joined

N, M = symbol("n"), symbol("m")


def solver(n=8, m=6, names=None):
    places = {N: ["x.size(0)"], M: ["x.size(1)"]}
    return DimConstraints(places, {N: n, M: m}, {N, M}, names or {})


def relation(left, sign, right):
    return Relation(sign, left, constant(right) if isinstance(right, int) else right)


SYSTEMS = {
    "ends": ([relation(N, ">", 7), relation(N, "<=", 8)], {"x.size(0)": 8}),
    "room": ([relation(N, ">", 6), relation(N, "<=", 8)], {}),
    "a remainder": ([relation(modulo(N, constant(4)), "==", 0), relation(N, "<", 12),
                     relation(N, ">", 4)], {"x.size(0)": 8}),
    "two remainders": ([relation(modulo(N, constant(4)), "==", 0),
                        relation(modulo(N, constant(3)), "==", 2), relation(N, "<", 20)],
                       {"x.size(0)": 8}),
    "a quotient": ([relation(floor_div(N, constant(3)), "==", 2)], {"x.size(0)": 8}),
    "a scaled remainder": ([relation(modulo(constant(2) * N, constant(8)), "==", 0),
                            relation(N, "<", 12), relation(N, ">", 4)], {"x.size(0)": 8}),
    "through another": ([relation(N, "==", 8), relation(N - M, ">", 1), relation(M, ">", 5)],
                        {"x.size(0)": 8, "x.size(1)": 6}),
    "joined": ([joined("and", relation(N, ">", 7), relation(N, "<", 9))], {"x.size(0)": 8}),
    "one of two": ([joined("or", relation(N, "==", 8), relation(N, "==", 9))], {}),
}  # fmt: skip


@pytest.mark.parametrize("name", SYSTEMS)
def test_sizes_that_are_one_number_only(name):
    relations, forced = SYSTEMS[name]
    made = solver()
    assert [made.add(r) for r in relations] == [True] * len(relations)
    made.solve()
    assert made.forced_specializations() == forced


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_forced_size_can_be_another_with_the_remainders_of_this_call(name):
    relations, forced = SYSTEMS[name]
    made = solver()
    for r in relations:
        made.add(r)
    made.solve()
    holding = [
        (n, m)
        for n, m in itertools.product(range(2, 40), repeat=2)
        if all(r.value({"n": n, "m": m}) for r in relations)
        and all(n % step == rest for step, rest in made.congruences.get("n", ()))
    ]
    assert (8, 6) in holding
    found = {"x.size(0)": {n for n, _ in holding}, "x.size(1)": {m for _, m in holding}}
    assert all(len(found[place]) == 1 for place in forced)


def test_rewriting_keeps_what_a_relation_says():
    for left, sign, right in itertools.product(
        (floor_div(N, constant(3)), modulo(N, constant(4)) + N, floor_div(N + N, constant(4)) - M),
        ("<", "==", ">="),
        (1, 2, 8),
    ):
        made = solver()
        asked = relation(left, sign, right)
        plain = made.rewrite_with_congruences(N, asked)
        assert "%" not in str(plain) and "//" not in str(plain)
        for n in range(2, 40):
            if all(n % step == rest for step, rest in made.congruences["n"]):
                values = {"n": n, "m": 6}
                assert plain.value(values) == asked.value(values)
    assert solver().rewrite_with_congruences(N, N * N) == N * N


def test_equalities_of_places():
    made = solver()
    made.add_equality("x.size(0)", M + constant(2))
    made.add(relation(M, "==", 6))
    made.solve()
    assert made.forced_specializations() == {"x.size(0)": 8, "x.size(1)": 6}


def test_what_says_nothing_and_what_does_not_hold():
    made = solver()
    assert not made.add(relation(N, "==", N)) and made.add(relation(N, ">", 4))
    assert not made.add(relation(N, "!=", 4))
    with pytest.raises(ValueError, match="n > 9 does not hold in this call: n is 8"):
        made.add(relation(N, ">", 9))
    with pytest.raises(ValueError, match="n < n never holds"):
        made.add(relation(N, "<", N))


def test_what_to_change_as_text():
    made = solver(names={"x.size(1)": "cols"})
    for r in (relation(N, "==", 8), relation(M, ">", 3), relation(M, "<", 90),
              relation(modulo(M, constant(2)), "==", 0)):  # fmt: skip
        made.add(r)
    made.solve()
    signature = inspect.signature(lambda x: x)
    assert made.prettify_results(
        signature, {"x": {0: "batch"}}, ValueError("no"), made.forced_specializations()
    ).splitlines() == [
        "no",
        "What the program needs of its arguments, (x):",
        " - cols is at least 4 and is at most 89 and leaves 0 when divided by 2",
        " - batch is 8",
    ]


def test_relations_between_sizes_are_told():
    made = solver()
    made.add(relation(N, ">", M))
    made.solve()
    text = made.prettify_results(inspect.signature(len), None, None, {})
    assert text.splitlines()[1:] == [
        " - x.size(1) may be anything", " - x.size(0) may be anything", " - x.size(0) > x.size(1)",
    ]  # fmt: skip
