"""Order: sorting, ranks, uniqueness, and finding places in sorted sequences."""

from __future__ import annotations

from ._row import op

FORMS = "function method out"
PAIR = "(Tensor values, Tensor indices)"

# ---- sorting is stable, NaN is the largest ----
op(f"sort(Tensor self, int dim=-1, bool descending=False) -> {PAIR}", c="sort", device="any", variants=FORMS,
   names="keep", doc="Elements along a dimension in order, and where they were.")
op(f"sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> {PAIR}",
   c="sort_stable", device="any", variants=FORMS,
   names="keep", doc="sort, where `stable` asks for what is always so.")
op("argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", composite=True, variants=FORMS,
   names="keep", doc="The indices that sort a dimension.")
op("argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
   composite=True, variants=FORMS,
   names="keep", doc="argsort, where `stable` asks for what is always so.")
op("msort(Tensor self) -> Tensor", composite=True, variants=FORMS, doc="Sort along the first dimension.")
op(f"topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> {PAIR}", c="topk",
   device="any", variants=FORMS,
   names="keep",
   doc="The k largest (or smallest) elements along a dimension in order, and where they are.")

# ---- uniqueness ----
op("_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) "
   "-> (Tensor, Tensor, Tensor)",
   python=True, device="any", variants="function", reads_value="always",
   doc="The different elements, for every element which one it is, and how many there are.")
op("unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool "
   "return_counts=False) -> "
   "(Tensor, Tensor, Tensor)", python=True, device="any", variants="function", reads_value="always",
   doc="_unique2 of the slices of a dimension.")
op("_unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> "
   "(Tensor, Tensor, Tensor)", python=True, device="any", variants="function", reads_value="always",
   doc="_unique2 where only neighbours are compared.")

# ---- places in a sorted sequence ----
SEARCH = "*, bool out_int32=False, bool right=False"
op(f"searchsorted.Tensor(Tensor sorted_sequence, Tensor self, {SEARCH}, str? side=None, Tensor? "
   "sorter=None) -> Tensor",
   c="searchsorted", device="any", variants="function out",
   doc="How many elements of the sorted last dimension lie before each value.")
op(f"searchsorted.Scalar(Tensor sorted_sequence, Scalar self, {SEARCH}, str? side=None, Tensor? "
   "sorter=None) -> Tensor",
   composite=True, variants="function out", doc="searchsorted of one number.")
op(f"bucketize.Tensor(Tensor self, Tensor boundaries, {SEARCH}) -> Tensor", c="bucketize",
   device="any", variants="function out",
   doc="In which interval between sorted boundaries every element lies.")
op(f"bucketize.Scalar(Scalar self, Tensor boundaries, {SEARCH}) -> Tensor", composite=True,
   variants="function out",
   doc="bucketize of one number.")

# ---- counting ----
op("bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor", c="bincount",
   device="any", variants=FORMS, reads_value="always",
   doc="How often every number from 0 on occurs, or the sum of its weights.")
op("histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", c="histc", variants=FORMS,
   doc="How many elements lie in each of equally wide intervals from min to max (from the elements "
       "if both are equal).")
op("isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool "
   "invert=False) -> Tensor",
   composite=True, variants="function out", doc="Is every element among the test elements?")
op("isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool "
   "invert=False) -> Tensor",
   composite=True, variants="function out", doc="Is every element the test element?")
op("isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool "
   "invert=False) -> Tensor",
   composite=True, variants="function out", doc="Is the number among the test elements?")
