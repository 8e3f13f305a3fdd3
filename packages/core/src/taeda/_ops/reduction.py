"""Operations that make many elements one."""

from ._table import op

FORMS = "function method out"
op("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", c="sum", variants=FORMS, doc="Sum of all elements.")
op("sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", c="sum_dim",
   variants=FORMS, doc="Sum over dimensions.")  # fmt: skip
op("mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", c="mean", variants=FORMS, doc="Mean of all elements.")
op("mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", c="mean_dim",
   variants=FORMS, doc="Mean over dimensions.")  # fmt: skip
op("any(Tensor self) -> Tensor", c="any", variants=FORMS, doc="Is any element true?")
op("all(Tensor self) -> Tensor", c="all", variants=FORMS, doc="Are all elements true?")
op("max(Tensor self) -> Tensor", c="max", doc="Largest element.")
op("min(Tensor self) -> Tensor", c="min", doc="Smallest element.")
