"""Sampled functions: areas under them, and their slopes. (`diff` and the running sums are in scan.)"""

from __future__ import annotations

from ._row import op

for _name, _variants in (("trapezoid", "function"), ("trapz", "function"),
    ("cumulative_trapezoid", "function")):
    _doc = "Running areas" if _name.startswith("cumulative") else "Area"
    _order = "" if _name == "trapz" else "*, "
    op(f"{_name}.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", composite=True, variants=_variants,
       doc=f"{_doc} under straight lines through the samples y at the places x.")
    op(f"{_name}.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", composite=True, variants=_variants,
       doc=f"{_doc} under straight lines through samples that are dx apart.")

for _form, _spacing, _dim in (
    ("scalarint", "Scalar? spacing=None", "int? dim=None"),
    ("scalararray", "Scalar? spacing=None", "int[]? dim=None"),
    ("scalarrayint", "float[] spacing", "int? dim=None"),
    ("scalarrayarray", "float[] spacing", "int[]? dim=None"),
    ("tensorarrayint", "Tensor[] spacing", "int? dim=None"),
    ("tensorarray", "Tensor[] spacing", "int[]? dim=None"),
):  # fmt: skip
    op(f"gradient.{_form}(Tensor self, *, {_spacing}, {_dim}, int edge_order=1) -> Tensor[]",
       composite=True, variants="function",
       doc="Slopes of samples along dimensions, by central differences and one-sided ones at the edges.")
