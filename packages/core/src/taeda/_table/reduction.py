"""Operations that make many elements one."""

from __future__ import annotations

from ._row import op

FORMS = "function method out"
DTYPE = "*, ScalarType? dtype=None"

# ---- sums and products; `dtype` converts the elements first ----
op(f"sum(Tensor self, {DTYPE}) -> Tensor", c="sum", device="any", variants=FORMS, tags="casts_out",
   names="drop", doc="Sum of all elements; of none it is 0.")
op(f"sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, {DTYPE}) -> Tensor", c="sum_dim",
   device="any", variants=FORMS,
   tags="casts_out", names="drop", doc="Sum over dimensions.")
op(f"mean(Tensor self, {DTYPE}) -> Tensor", c="mean", device="any", variants=FORMS,
   tags="casts_out", names="drop", doc="Mean of all elements; of none it is NaN.")
op(f"mean.dim(Tensor self, int[1]? dim, bool keepdim=False, {DTYPE}) -> Tensor", c="mean_dim",
   device="any", variants=FORMS,
   tags="casts_out", names="drop", doc="Mean over dimensions.")
op(f"prod(Tensor self, {DTYPE}) -> Tensor", c="prod", device="any", variants=FORMS,
   tags="casts_out", autocast="float32", names="drop",
   doc="Product of all elements; of none it is 1.")
op(f"prod.dim_int(Tensor self, int dim, bool keepdim=False, {DTYPE}) -> Tensor", c="prod_dim",
   device="any", variants=FORMS,
   tags="casts_out", autocast="float32", names="drop", doc="Product along a dimension.")
op(f"nansum(Tensor self, int[1]? dim=None, bool keepdim=False, {DTYPE}) -> Tensor", c="nansum",
   device="any", variants=FORMS,
   tags="casts_out", names="drop", doc="Sum where NaN counts as 0.")
op(f"nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, {DTYPE}) -> Tensor", composite=True,
   variants=FORMS,
   names="drop", doc="Mean of the elements that are not NaN.")
op("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", c="logsumexp", device="any",
   variants=FORMS,
   tags="casts_out", names="drop",
   doc="Logarithm of the sum of exponentials, without overflow on the way.")

op("trace(Tensor self) -> Tensor", composite=True, autocast="float32", doc="Sum of the diagonal of a matrix.")
op("sum_to_size(Tensor self, int[] size) -> Tensor", composite=True, variants="method",
   doc="Sum of what broadcasting to the tensor's shape would have repeated.")

# ---- truth ----
op("any(Tensor self) -> Tensor", c="any", device="any", variants=FORMS, tags="casts_out",
   names="none", doc="Is any element true? Of none: no.")
op("any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", c="any_dim", device="any", variants=FORMS,
   tags="casts_out", names="drop", doc="Is any element along a dimension true?")
op("any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", c="any_dim",
   device="any", variants=FORMS,
   tags="casts_out", names="drop",
   doc="Is any element over dimensions true? An empty list reduces none.")
op("all(Tensor self) -> Tensor", c="all", device="any", variants=FORMS, tags="casts_out",
   names="none", doc="Are all elements true? Of none: yes.")
op("all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", c="all_dim", device="any", variants=FORMS,
   tags="casts_out", names="drop", doc="Are all elements along a dimension true?")
op("all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", c="all_dim",
   device="any", variants=FORMS,
   tags="casts_out", names="drop",
   doc="Are all elements over dimensions true? An empty list reduces none.")
op("count_nonzero(Tensor self, int? dim=None) -> Tensor", c="count_nonzero", device="any",
   names="drop", doc="How many elements are not 0; NaN counts.")
op("count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", c="count_nonzero", device="any",
   names="drop", doc="How many elements over dimensions are not 0.")

# ---- extrema: NaN wins, then the first of equals; a 0-dim tensor is an operand rather than a dim ----
op("max(Tensor self) -> Tensor", c="max", device="any", variants=FORMS, names="drop",
doc="Largest element.")
op("max.other(Tensor self, Tensor other) -> Tensor", composite=True, variants=FORMS,
   names="unify", doc="The same as maximum.")
op("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
   c="max_dim", device="any", variants=FORMS,
   names="drop", doc="Largest elements along a dimension, and where they are.")
op("min(Tensor self) -> Tensor", c="min", device="any", variants=FORMS, names="drop",
doc="Smallest element.")
op("min.other(Tensor self, Tensor other) -> Tensor", composite=True, variants=FORMS,
   names="unify", doc="The same as minimum.")
op("min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
   c="min_dim", device="any", variants=FORMS,
   names="drop", doc="Smallest elements along a dimension, and where they are.")
op("amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", c="amax", device="any", variants=FORMS,
   names="drop", doc="Largest elements over dimensions.")
op("amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", c="amin", device="any", variants=FORMS,
   names="drop", doc="Smallest elements over dimensions.")
op("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
   c="aminmax", device="any", variants=FORMS,
   names="drop", doc="Smallest and largest elements.")
op("argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", c="argmax", device="any",
   variants=FORMS,
   names="drop", doc="Index of the largest element; without dim in the flattened tensor.")
op("argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", c="argmin", device="any",
   variants=FORMS,
   names="drop", doc="Index of the smallest element; without dim in the flattened tensor.")

# ---- moments ----
for _name, _result, _doc in (
    ("var", "Tensor", "Variance"), ("std", "Tensor", "Standard deviation"),
    ("var_mean", "(Tensor, Tensor)", "Variance and mean"),
    ("std_mean", "(Tensor, Tensor)", "Standard deviation and mean"),
):  # fmt: skip
    _forms = {"variants": FORMS, "tags": "casts_out"} if _result == "Tensor" else {"variants": "function"}
    _forms["names"] = "drop"
    op(f"{_name}(Tensor self, bool unbiased=True) -> {_result}", c=_name, device="any", **_forms,
       doc=f"{_doc} of all elements; unbiased divides by one less than their number.")
    op(f"{_name}.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> "
       f"{_result}", c=f"{_name}_dim", device="any", **_forms,
       doc=f"{_doc} over dimensions.")
    op(f"{_name}.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
       f"keepdim=False) -> {_result}",
       c=f"{_name}_correction", device="any", **_forms,
       doc=f"{_doc}, divided by the number of elements less `correction` (1 if None).")

# ---- norms ----
op(f"vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, {DTYPE}) -> "
   "Tensor", c="vector_norm", device="any",
   namespace="linalg", variants="function out",
   doc="The p-norm of vectors: of all elements, or over dimensions.")
op("norm(Tensor self, Scalar? p=None, int[1]? dim=None, bool keepdim=False, ScalarType? "
   "dtype=None) -> Tensor",
   composite=True, variants=FORMS, names="drop", doc="The p-norm over dimensions; 2 if p is None.")
op("norm.str(Tensor self, str p, int[1]? dim=None, bool keepdim=False, ScalarType? dtype=None) -> Tensor",
   composite=True, variants=FORMS, doc="The Frobenius norm 'fro', or the nuclear norm 'nuc' of matrices.")
op("frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", composite=True,
   variants="function out",
   doc="The 2-norm over dimensions.")
op("nuclear_norm(Tensor self, bool keepdim=False) -> Tensor", composite=True, variants="function out",
   doc="The sum of the singular values of a matrix.")
op("nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor", composite=True,
   variants="function out",
   doc="The sum of the singular values of the matrices that two dimensions span.")
op("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", composite=True,
   doc="The p-norm of the difference.")

# ---- ranks ----
op("median(Tensor self) -> Tensor", c="median", device="any",
   names="drop", doc="The lower of the middle elements; NaN if there is one.")
op("median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
   c="median_dim", device="any",
   variants=FORMS, tags="apart", names="drop",
   doc="The lower of the middle elements along a dimension, and "
                                     "where they are.")
op("nanmedian(Tensor self) -> Tensor", c="nanmedian", device="any",
   names="drop", doc="The lower of the middle elements that are not NaN.")
op("nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
   c="nanmedian_dim", device="any",
   variants=FORMS, tags="apart", names="drop",
   doc="The lower of the middle elements that are not NaN along a "
                                     "dimension, and where they are.")
op("mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", c="mode",
   device="any", variants=FORMS,
   tags="apart", names="drop",
   doc="The most frequent value along a dimension (the smallest of several), and its "
                     "last place.")
op("kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor "
   "indices)", c="kthvalue", device="any",
   variants=FORMS, tags="apart", names="drop",
   doc="The k-th smallest element along a dimension, and where it is.")
for _name, _doc in (("quantile", "q-quantiles"),
    ("nanquantile", "q-quantiles of the elements that are not NaN")):
    for _form, _type in (("", "Tensor"), (".scalar", "float")):
        op(f"{_name}{_form}(Tensor self, {_type} q, int? dim=None, bool keepdim=False, *, str "
           "interpolation='linear') -> Tensor",
           composite=True, variants=FORMS, autocast="float32",
           doc=f"The {_doc}; between two elements `interpolation` decides.")
op("segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? "
   "offsets=None, int axis=0, "
   "bool unsafe=False, Scalar? initial=None) -> Tensor", composite=True, variants="function",
   reads_value="always",
   doc="The sum, mean, max, min or prod of runs of elements along an axis; lengths or offsets say "
       "where they end.")
