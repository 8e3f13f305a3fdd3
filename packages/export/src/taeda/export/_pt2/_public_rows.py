"""Rows of linear algebra and of losses as the functions that other readers of files know.

_linalg_inv(A)                      is   linalg_inv_ex(A)
_linalg_eigh(A, "L", False)[0]      is   linalg_eigvalsh(A, "L")
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import taeda
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

from ._rewriting import rewritten

__all__ = ["with_public_rows"]

_aten: Any = operator.attrgetter("ops.aten")(taeda)
#: a function, its arguments, and those by name
Call = tuple[str, tuple[Any, ...], dict[str, Any]]


def _eig(A: Any, vectors: bool) -> Call:
    return "linalg_eig" if vectors else "linalg_eigvals", (A,), {}


def _eigh(A: Any, UPLO: str, vectors: bool) -> Call:
    return "linalg_eigh" if vectors else "linalg_eigvalsh", (A, UPLO), {}


def _svd(A: Any, full_matrices: bool, vectors: bool) -> Call:
    return ("linalg_svd", (A, full_matrices), {}) if vectors else ("linalg_svdvals", (A,), {})


def _triangular(A: Any, B: Any, upper: bool, unitriangular: bool) -> Call:
    return "linalg_solve_triangular", (A, B), {"upper": upper, "unitriangular": unitriangular}


#: of each row; one that gives numbers alone stands for one result of the row: see `_ALONE`
_CALLS: dict[str, Callable[..., Call]] = {
    "_linalg_cholesky": lambda A, upper: ("linalg_cholesky_ex", (A,), {"upper": upper}),
    "_linalg_inv": lambda A: ("linalg_inv_ex", (A,), {}),
    "_linalg_solve": lambda A, B: ("linalg_solve_ex", (A, B), {}),
    "_linalg_lu": lambda A, pivot: ("linalg_lu_factor_ex", (A,), {"pivot": pivot}),
    "_linalg_qr": lambda A, mode: ("linalg_qr", (A, mode), {}),
    "_linalg_eig": _eig,
    "_linalg_eigh": _eigh,
    "_linalg_svd": _svd,
    "_linalg_slogdet": lambda A: ("linalg_slogdet", (A,), {}),
    "_linalg_det": lambda A: ("linalg_det", (A,), {}),
    "_linalg_triangular": _triangular,
    "_linalg_lu_solve": lambda LU, pivots, B, adjoint: (
        "linalg_lu_solve",
        (LU, pivots, B),
        {"adjoint": adjoint},
    ),
    "_linalg_ldl": lambda A, hermitian: ("linalg_ldl_factor_ex", (A,), {"hermitian": hermitian}),
    "_cross_entropy": lambda *args: ("cross_entropy_loss", args, {}),
    "_linalg_ldl_solve": lambda LD, pivots, B, hermitian: (
        "linalg_ldl_solve",
        (LD, pivots, B),
        {"hermitian": hermitian},
    ),
}
_ALONE = {"cross_entropy_loss": 0, "linalg_eigvals": 0, "linalg_eigvalsh": 0, "linalg_svdvals": 1}


def with_public_rows(gm: GraphModule) -> GraphModule:
    """The program itself, or a copy in which public functions stand for rows."""
    return rewritten(gm, _row, _replace)


def _row(node: Node) -> str:
    """The name of the row that a node calls, or ""."""
    first, _, rest = str(node.target).partition(".")
    name = rest.partition(".")[0]
    return name if node.op == "call_function" and first == "aten" and name in _CALLS else ""


def _replace(gm: GraphModule, node: Node) -> None:
    """The function in the place of the row; under its name, by which the signature may know it."""
    called, args, kwargs = _CALLS[_row(node)](*node.args, **node.kwargs)
    alone = _ALONE.get(called)
    parts = list(node.users) if alone is not None else []
    if any(part.args[1] != alone and part.users for part in parts):
        return
    with gm.graph.inserting_before(node):
        made = gm.graph.call_function(getattr(_aten, called).default, args, kwargs)
    for part in parts:
        if part.args[1] == alone:
            _stand_for(gm, part, made)
        else:
            gm.graph.erase_node(part)
    if parts:
        gm.graph.erase_node(node)
    else:
        _stand_for(gm, node, made)


def _stand_for(gm: GraphModule, old: Node, made: Node) -> None:
    old.replace_all_uses_with(made)
    made.meta.update(old.meta)
    name = old.name
    gm.graph.erase_node(old)
    made.name = name
