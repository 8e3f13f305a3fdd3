"""Rows that only we have stand in files as functions that others know."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.export import export
from taeda.export._pt2._public_rows import with_public_rows

L = taeda.linalg
PROGRAMS = {
    "linalg_inv_ex": L.inv,
    "linalg_cholesky_ex": lambda x: L.cholesky(x @ x.mT + taeda.eye(3)),
    "linalg_solve_ex": lambda x: L.solve(x, x),
    "linalg_lu_factor_ex": lambda x: L.lu_factor(x)[0],
    "linalg_qr": lambda x: L.qr(x)[1],
    "linalg_eig": lambda x: L.eig(x)[0],
    "linalg_eigh": lambda x: L.eigh(x)[0],
    "linalg_eigvalsh": lambda x: L.eigvalsh(x.detach()),
    "linalg_svd": lambda x: L.svd(x)[1],
    "linalg_svdvals": lambda x: L.svdvals(x.detach()),
    "linalg_slogdet": lambda x: L.slogdet(x)[1],
    "linalg_det": L.det,
    "linalg_solve_triangular": lambda x: L.solve_triangular(x, x, upper=True),
    "linalg_lu_solve": lambda x: L.lu_solve(*L.lu_factor(x), x),
    "linalg_ldl_factor_ex": lambda x: L.ldl_factor(x)[0],
    "linalg_ldl_solve": lambda x: L.ldl_solve(*L.ldl_factor(x), x),
    "cross_entropy_loss": lambda x: nn.functional.cross_entropy(x, taeda.tensor([0, 1, 2])),
}


class Program(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, x):
        return self.f(x)


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_row_has_its_function(name):
    taeda.manual_seed(0)
    program = export(Program(PROGRAMS[name]), (taeda.randn(3, 3) + 3 * taeda.eye(3),))
    made = with_public_rows(program.graph_module)
    called = [str(n.target) for n in made.graph.nodes if n.op == "call_function"]
    assert f"aten.{name}.default" in called
    assert not any(t.startswith(("aten._linalg", "aten._cross")) for t in called)
    assert made.graph.output_node().args == program.graph_module.graph.output_node().args or [
        str(n) for n in made.graph.output_node().args[0]
    ] == [str(n) for n in program.graph_module.graph.output_node().args[0]]


def test_a_program_without_such_rows_stays_itself():
    program = export(Program(lambda x: x.sin()), (taeda.ones(3),))
    assert with_public_rows(program.graph_module) is program.graph_module
