"""Several tensors side by side."""

from __future__ import annotations

from ._row import op

op(
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
    c="cat",
    device="any",
    variants="function out",
    aliases="concat concatenate",
    tags="casts_out apart",
    autocast="promote",
    names="unify",
    doc="Join tensors along a dimension; 1-dim tensors without elements are skipped.",
)
op(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    c="stack",
    device="any",
    variants="function out",
    tags="casts_out apart",
    autocast="promote", doc="Join tensors of one shape along a new dimension.",
)
op(
    "hstack(Tensor[] tensors) -> Tensor",
    composite=True,
    variants="function out",
    doc="Join along columns.",
)
op(
    "vstack(Tensor[] tensors) -> Tensor",
    composite=True,
    variants="function out",
    aliases="row_stack",
    doc="Join along rows.",
)
op(
    "dstack(Tensor[] tensors) -> Tensor",
    composite=True,
    variants="function out",
    doc="Join along the third dimension.",
)
op(
    "column_stack(Tensor[] tensors) -> Tensor",
    composite=True,
    variants="function out",
    doc="Join vectors and matrices as columns.",
)
# taeda.functional takes these tensors one by one
LISTED = {"composite": True, "variants": "function", "namespace": "functional"}
op(
    "meshgrid.indexing(Tensor(a)[] tensors, *, str indexing) -> Tensor(a)[]",
    **LISTED,
    doc="Coordinates of a grid.",
)
op(
    "cartesian_prod(Tensor[] tensors) -> Tensor",
    **LISTED,
    doc="All combinations of elements of vectors, as rows.",
)
op(
    "block_diag(Tensor[] tensors) -> Tensor",
    **LISTED,
    doc="Matrices along a diagonal, zeros elsewhere.",
)
op(
    "combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
    composite=True,
    doc="All choices of r elements, in order, as rows.",
)
