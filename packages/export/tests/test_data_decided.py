"""Sizes and numbers that only data decide, in programs and their files."""

from __future__ import annotations

import io

import pytest
from data_models import CASES, Of

import taeda
from taeda.compiler._errors import UserError
from taeda.export import Dim, export, load, save
from taeda.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from taeda.utils._pytree import tree_leaves


def same(got, wanted):
    for a, b in zip(tree_leaves(got), tree_leaves(wanted), strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape and a.equal(b)


@pytest.mark.parametrize("name", CASES)
def test_a_program_its_file_and_its_decomposition_give_the_bits_of_the_module(name):
    case = CASES[name]
    model = case.make()
    program = export(model, case.calls[0], dynamic_shapes=case.shapes)
    assert program.range_constraints.keys() & {"u0", "zuf0"}
    kept = io.BytesIO()
    save(program, kept)
    kept.seek(0)
    for way in (program, load(kept), program.run_decompositions()):
        run = way.module()
        for args in case.calls:
            try:
                got = run(*args)
            except AssertionError:  # a size for which the program does not hold
                if args[0].shape[0] > 1:
                    raise
                continue
            same(got, model(*args))


def test_what_a_program_checks_the_run_asserts():
    case = CASES["prefix"]
    run = export(case.make(), case.calls[0], dynamic_shapes=case.shapes).module()
    for wrong, said in ((5, "no more than there is"), (-1, "negative dimension|u0 >= 0")):
        with pytest.raises(RuntimeError, match=said):
            run(taeda.ones(4, 3), taeda.tensor(wrong))


def test_sizes_of_one_mask_are_one_symbol_and_ranges_say_what_is_checked():
    case = CASES["one-mask-twice"]
    program = export(case.make(), case.calls[0], dynamic_shapes=case.shapes)
    nodes = [n for n in program.graph.nodes if str(n.target) == "aten.index.Tensor"]
    assert [str(n.meta["shape"][0]) for n in nodes] == ["u0", "u0", "u0", "u1"]

    def limited(n):
        count = n.item()
        taeda._check(count >= 2)
        taeda._check(count <= 9)
        return taeda.ones(count)

    made = export(Of(limited), (taeda.tensor(3),))
    assert made.range_constraints["u0"].lower == 2 and made.range_constraints["u0"].upper == 9


def branch(x):
    return x + 1 if x.nonzero().shape[0] > 2 else x


def branch_later(x):
    return x + 1 if (x[x > 0] * 2).shape[0] > 2 else x


def several(x):
    return [x] * x.sum().item()


def pieces(x):
    return x[x > 0].reshape(-1, 2)


@pytest.mark.parametrize(
    ("f", "error", "said"),
    [
        (branch, GuardOnDataDependentSymNode, "taeda.cond"),
        (branch_later, UserError, "only data decide u0"),
        (several, GuardOnDataDependentSymNode, "taeda.cond"),
        (pieces, RuntimeError, "invalid for input of size"),
    ],
)
def test_what_a_program_cannot_do_with_them(f, error, said):
    with pytest.raises(error, match=said):
        export(Of(f), (taeda.tensor([1, 0, 2, 3]),), dynamic_shapes=({0: Dim.AUTO},))


def test_a_complex_number_is_refused():
    with pytest.raises(GuardOnDataDependentSymNode, match="reads the value"):
        export(Of(lambda x: x + x.sum().item()), (taeda.ones(2, dtype=taeda.complex64),))


@pytest.mark.parametrize(
    ("f", "error", "said"),
    [
        (
            lambda v, x: x + 1 if v > 0 else x,
            GuardOnDataDependentSymNode,
            "only data decide zuf0 > 0",
        ),
        (lambda v, x: x[: int(v)], GuardOnDataDependentSymNode, "only data decide zuf0"),
        (lambda v, x: taeda.dropout(x, v, False), UserError, "an operator takes it for a number"),
        (lambda v, x: x * v, None, ""),
    ],
)
def test_what_a_program_cannot_do_with_a_float(f, error, said):
    model = Of(lambda x: f(x.mean().item(), x))
    if error is None:
        x = taeda.tensor([1.0, 2.0])
        assert export(model, (x,)).module()(x + 1).equal(model(x + 1))
        return
    with pytest.raises(error, match=said):
        export(model, (taeda.ones(3),))


def test_assertions_of_floats_and_truths_run():
    run = export(CASES["floats"].make(), CASES["floats"].calls[0], dynamic_shapes=({0: Dim.AUTO},))
    with pytest.raises(RuntimeError, match="all are zero"):
        run.module()(taeda.zeros(4, 3))
    run = export(CASES["truths"].make(), CASES["truths"].calls[0], dynamic_shapes=({0: Dim.AUTO},))
    with pytest.raises(RuntimeError, match="all are large"):
        run.module()(taeda.full((4, 3), -200.0))


def test_a_bound_that_follows_a_size_is_no_bound():
    case = CASES["counted"]
    ranges = export(case.make(), case.calls[0], dynamic_shapes=case.shapes).range_constraints
    assert sorted(r.lower for n, r in ranges.items() if n.startswith("u")) == [0, 0, 4]


def test_floats_of_sizes_are_in_files():
    def scaled(x):
        n = x.shape[0]
        return x * (1 / n) + x.new_full((2, 3), n**-0.5).sum() - 0.25 * n / x.shape[1], x > n / 3

    x = (taeda.arange(12.0).view(4, 3),)
    made = export(Of(scaled), x, dynamic_shapes=({0: Dim.AUTO},))
    kept = io.BytesIO()
    save(made, kept)
    again = io.BytesIO()
    save(load(io.BytesIO(kept.getvalue())), again)  # what was read is written
    for file in (kept, again):
        run = load(io.BytesIO(file.getvalue())).module()
        for n in (1, 4, 9):
            given = taeda.arange(3.0 * n).view(n, 3)
            same(run(given), scaled(given))
