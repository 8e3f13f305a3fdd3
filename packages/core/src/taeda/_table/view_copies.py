"""The views of `view`, copied: results in memory of their own."""

from __future__ import annotations

from ._row import op

COPY = {"composite": True, "variants": "function out"}
for _row, _doc in (
    ("alias_copy(Tensor self)", "A copy."),
    ("as_strided_copy(Tensor self, int[] size, int[] stride, int? storage_offset=None)",
        "as_strided, copied."),
    ("detach_copy(Tensor self)", "A copy outside the graph."),
    ("diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1)", "diagonal, copied."),
    ("expand_copy(Tensor self, int[] size, *, bool implicit=False)", "expand, copied."),
    ("permute_copy(Tensor self, int[] dims)", "permute, copied."),
    ("select_copy(Tensor self, int dim, int index)", "select, copied."),
    ("slice_copy(Tensor self, int dim=0, int? start=None, int? end=None, int step=1)", "A slice, copied."),
    ("squeeze_copy(Tensor self)", "squeeze, copied."),
    ("squeeze_copy.dim(Tensor self, int dim)", "squeeze, copied."),
    ("squeeze_copy.dims(Tensor self, int[] dim)", "squeeze, copied."),
    ("t_copy(Tensor self)", "t, copied."),
    ("transpose_copy(Tensor self, int dim0, int dim1)", "transpose, copied."),
    ("unfold_copy(Tensor self, int dimension, int size, int step)", "unfold, copied."),
    ("unsqueeze_copy(Tensor self, int dim)", "unsqueeze, copied."),
    ("view_as_real_copy(Tensor self)", "view_as_real, copied."),
    ("view_as_complex_copy(Tensor self)", "view_as_complex, copied."),
    ("view_copy(Tensor self, int[] size)", "view, copied."),
    ("view_copy.dtype(Tensor self, ScalarType dtype)", "view, copied."),
):  # fmt: skip
    op(f"{_row} -> Tensor", **COPY, doc=_doc)
for _row, _doc in (
    ("split_copy(Tensor self, int split_size, int dim=0)", "split, copied."),
    ("split_with_sizes_copy(Tensor self, int[] split_sizes, int dim=0)", "split_with_sizes, copied."),
    ("unbind_copy(Tensor self, int dim=0)", "unbind, copied."),
):  # fmt: skip
    op(f"{_row} -> Tensor[]", composite=True, variants="function", doc=_doc)
for _row, _doc in (
    ("split_with_sizes_copy.out(Tensor self, int[] split_sizes, int dim=0, *, Tensor(a!)[] out)",
        "split_with_sizes, copied."),
    ("unbind_copy.int_out(Tensor self, int dim=0, *, Tensor(a!)[] out)", "unbind, copied."),
):
    op(f"{_row} -> ()", composite=True, variants="function", doc=f"{_doc[:-1]} into tensors that are given.")
op("narrow_copy(Tensor self, int dim, int start, int length) -> Tensor", composite=True,
   variants="function method out", doc="narrow, copied.")

# ---- parts that may be written in place under autograd, each a view by itself ----
op("unsafe_chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", composite=True,
   doc="chunk, whose parts know nothing of each other.")
op("unsafe_split(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[]", composite=True,
   doc="split, whose parts know nothing of each other.")
op("unsafe_split_with_sizes(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
   composite=True,
   doc="split_with_sizes, whose parts know nothing of each other.")
