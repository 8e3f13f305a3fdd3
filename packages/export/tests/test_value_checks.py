"""Functions that look at values to refuse them: the program asks when it runs, at any size."""

from __future__ import annotations

import io

import pytest
from checked_programs import PROGRAMS, Program

import taeda
from taeda import nn
from taeda.export import Dim, export, load, save

F, L = nn.functional, taeda.linalg


def exported(f):
    sizes = ({0: Dim("rows", min=4, max=50)},)
    return export(Program(f), (taeda.randn(6, 3),), dynamic_shapes=sizes)


def same(got, want):
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    assert taeda.equal(got.isnan(), want.isnan())
    assert taeda.equal(got.nan_to_num(), want.nan_to_num())


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_has_the_bits_of_the_module_at_other_sizes_and_from_its_file(name):
    f = PROGRAMS[name]
    program, file = exported(f), io.BytesIO()
    save(program, file)
    file.seek(0)
    again = load(file)
    for rows in (6, 11, 4):
        x = taeda.randn(rows, 3)
        same(program.module()(x), f(x))
        same(again.module()(x), f(x))


@pytest.mark.parametrize(
    ("f", "bad", "message"),
    [
        (lambda x: L.inv(x.mT @ x), taeda.zeros(5, 3), "diagonal element k is zero"),
        (lambda x: L.cholesky(x.mT @ x), taeda.zeros(5, 3), "positive-definite"),
        (lambda x: L.solve(x.mT @ x, x.mT), taeda.zeros(5, 3), "diagonal element k is zero"),
        (lambda x: L.eig(x.mT @ x)[0], taeda.full((5, 3), float("nan")), "infs or NaNs"),
        (lambda x: taeda.quantile(x, x[0, 0].abs()), taeda.full((5, 3), 2.0), r"range \[0, 1\]"),
        (lambda x: taeda.unravel_index(x.long(), (3, 4))[0], taeda.full((5, 3), 12.0), "outside"),
        (lambda x: taeda.cov(x.mT, aweights=x[:, 0]), taeda.full((5, 3), -1.0), "cannot be negative"),
        (lambda x: F.one_hot(x.long()), taeda.full((5, 3), -1.0), "non-negative"),
    ],
)  # fmt: skip
def test_the_program_refuses_what_the_function_refuses(f, bad, message):
    program = export(
        Program(f), (taeda.rand(6, 3),), dynamic_shapes=({0: Dim("rows", min=4, max=50)},)
    )
    with pytest.raises(RuntimeError, match=message):
        program.module()(bad)
    with pytest.raises((RuntimeError, ValueError)):
        f(bad)
