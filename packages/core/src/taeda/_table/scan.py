"""Running results along a dimension."""

from __future__ import annotations

from ._row import op

FORMS = "function method inplace out"
for _name, _doc in (("cumsum", "Running sum"), ("cumprod", "Running product")):
    op(f"{_name}(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", c=_name, device="any",
       variants=FORMS,
       tags="casts_out", names="keep",
       doc=f"{_doc} along a dimension; `dtype` converts the elements first.")
op("logcumsumexp(Tensor self, int dim) -> Tensor", c="logcumsumexp", device="any",
   variants="function method out",
   names="keep", doc="Logarithm of the running sum of exponentials.")
for _name, _doc in (("cummax", "Largest"), ("cummin", "Smallest")):
    op(f"{_name}(Tensor self, int dim) -> (Tensor values, Tensor indices)", c=_name, device="any",
       variants="function method out", names="keep",
       doc=f"{_doc} element so far along a dimension, and the last place where it was.")
op("diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
   composite=True,
   variants="function method out", doc="Differences of neighbours along a dimension, n times over.")
