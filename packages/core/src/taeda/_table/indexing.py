"""Reading and writing at places that other tensors name."""

from __future__ import annotations

from ._row import op

EVERY = "function method inplace out"
IN_PLACE = {"variants": EVERY, "writes_out": True}

# ---- self[indices] ----
op(
    "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    c="index",
    device="any",
    tags="host_indices",
    variants="function",
    reads_value="sometimes",
    doc="Elements at integer or boolean tensors, one for each dimension or None.",
)
op(
    "index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
    c="index_put_",
    device="any",
    tags="host_indices",
    reads_value="sometimes",
    doc="Write at the places that `index` reads; duplicates add up if accumulate.",
)
op(
    "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    c="index_put",
    device="any",
    tags="host_indices",
    reads_value="sometimes",
    doc="A copy with values written at the places that `index` reads.",
)

# ---- an index for every element ----
op(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    c="gather",
    device="any",
    variants="function method out",
    tags="apart",
    doc="Along a dimension, the element that each index names.",
)
op(
    "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    c="scatter",
    device="any",
    **IN_PLACE,
    doc="Write src where the indices say, along a dimension.",
)
op(
    "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    c="scatter_value",
    device="any",
    **IN_PLACE,
    doc="Write a number where the indices say, along a dimension.",
)
op(
    "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
    c="scatter_reduced",
    device="any",
    **IN_PLACE,
    doc="Add or multiply src where the indices say.",
)
op(
    "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
    c="scatter_value_reduced",
    device="any",
    **IN_PLACE,
    doc="Add or multiply a number where the indices say.",
)
op(
    "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    c="scatter_add",
    device="any",
    **IN_PLACE,
    doc="Add src where the indices say; duplicates add up.",
)
op(
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool "
    "include_self=True) -> Tensor",
    c="scatter_reduce",
    device="any",
    **IN_PLACE,
    doc="sum, prod, mean, amax or amin of what comes to each place.",
)

# ---- a vector of indices for one dimension ----
op(
    "index_select(Tensor self, int dim, Tensor index) -> Tensor",
    c="index_select",
    device="any",
    variants="function method out",
    tags="apart",
    names="keep",
    doc="Slices of a dimension in the order of the indices.",
)
op(
    "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
    c="index_copy",
    device="any",
    **IN_PLACE,
    autocast="promote", doc="Replace slices of a dimension.",
)
op(
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    c="index_add",
    device="any",
    **IN_PLACE,
    doc="Add alpha * source to slices of a dimension; duplicates add up.",
)
op(
    "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    c="index_fill_scalar",
    device="any",
    variants="function method inplace",
    writes_out=True,
    names="keep",
    doc="Write a number into slices of a dimension.",
)
op(
    "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    c="index_fill_tensor",
    device="any",
    variants="function method inplace",
    writes_out=True,
    names="keep",
    doc="Write a 0-dim tensor into slices of a dimension.",
)
op(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool "
    "include_self=True) -> Tensor",
    c="index_reduce",
    device="any",
    **IN_PLACE,
    doc="prod, mean, amax or amin of what comes to each slice.",
)

# ---- masks ----
op(
    "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
    c="masked_fill_scalar",
    device="any",
    variants="function method inplace",
    writes_out=True,
    names="match",
    doc="A number where the mask is true.",
)
op(
    "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
    c="masked_fill_tensor",
    device="any",
    variants="function method inplace",
    writes_out=True,
    names="match",
    doc="A 0-dim tensor's value where the mask is true.",
)
op(
    "masked_select(Tensor self, Tensor mask) -> Tensor",
    c="masked_select",
    device="any",
    variants="function method out",
    reads_value="always",
    tags="apart",
    names="select",
    doc="The elements where the mask is true, in one dimension.",
)
op(
    "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
    c="masked_scatter",
    device="any",
    variants="function method inplace",
    doc="The next element of source where the mask is true.",
)
op(
    "nonzero(Tensor self) -> Tensor",
    c="nonzero",
    device="any",
    variants="function method out",
    reads_value="always",
    doc="Coordinates of the elements that are not 0, a row each.",
)
op(
    "nonzero_numpy(Tensor self) -> Tensor[]",
    c="nonzero_numpy",
    device="any",
    variants="function method",
    reads_value="always",
    doc="Coordinates of the elements that are not 0, a tensor for each dimension.",
)
op(
    "nonzero.tuple(Tensor self, *, bool as_tuple) -> Tensor",
    composite=True,
    reads_value="always",
    variants="function method out",
    doc="With as_tuple a tensor for each dimension, else a row for each element.",
)
op(
    "where(Tensor condition) -> Tensor[]",
    c="nonzero_numpy",
    device="any",
    variants="function",
    reads_value="always",
    doc="Coordinates of the elements that are not 0, a tensor for each dimension.",
)
op(
    "argwhere(Tensor self) -> Tensor",
    c="nonzero",
    device="any",
    reads_value="always",
    doc="Coordinates of the elements that are not 0, a row each.",
)
op(
    "nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor",
    composite=True,
    reads_value="always",
    doc="nonzero with a fixed number of rows: cut off, or filled up.",
)

op(
    "unravel_index(Tensor indices, int[] shape) -> Tensor[]",
    composite=True,
    variants="function",
    doc="Places in row-major order as coordinates, a tensor for each dimension.",
)

# ---- the tensor as one row ----
op(
    "take(Tensor self, Tensor index) -> Tensor",
    c="take",
    device="any",
    variants="function method out",
    tags="apart",
    doc="Elements by their place in row-major order.",
)
op(
    "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
    c="put",
    device="any",
    variants="function method inplace",
    writes_out=True,
    doc="Write elements by their place in row-major order.",
)
op(
    "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    composite=True,
    variants="function method out",
    doc="gather with broadcasting; without dim, of the tensor as one row.",
)
op(
    "_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor",
    composite=True,
    variants="function",
    doc="Elements at indices, which are cut to what there is; fill where the mask is False.",
)
op(
    "_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) "
    "-> Tensor",
    composite=True,
    variants="function",
    doc="A copy to which values are added where the mask is True, at indices cut to what there is.",
)

# ---- embedding ----
op(
    "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, "
    "bool sparse=False) -> Tensor",
    c="embedding",
    device="any",
    variants="function",
    doc="Rows of a table.",
)
op(
    "embedding_dense_backward(Tensor grad_output, Tensor indices, int num_weights, int padding_idx,"
    " bool scale_grad_by_freq) -> Tensor",
    c="embedding_dense_backward",
    device="any",
    variants="function",
    doc="Gradient of embedding in its table.",
)
op(
    "one_hot(Tensor self, int num_classes=-1) -> Tensor",
    composite=True,
    variants="function",
    namespace="nn",
    doc="Class numbers as rows of 0 and a 1.",
)

# ---- a copy with a part replaced ----
op(
    "select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor",
    c="select_scatter",
    device="any",
    variants="function method out",
    doc="A copy with one selection replaced.",
)
op(
    "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
    c="slice_scatter",
    device="any",
    variants="function method out",
    doc="A copy with one slice replaced.",
)
op(
    "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    c="diagonal_scatter",
    device="any",
    variants="function method out",
    doc="A copy with a diagonal replaced.",
)
op(
    "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? "
    "storage_offset=None) -> Tensor",
    c="as_strided_scatter",
    device="any",
    variants="function method out",
    doc="A copy with a strided view replaced.",
)

# ---- gradients of views ----
op(
    "select_backward(Tensor grad_output, int[] input_sizes, int dim, int index) -> Tensor",
    c="select_backward",
    device="any",
    variants="function",
    namespace="nn",
    doc="Gradient of select.",
)
op(
    "slice_backward(Tensor grad_output, int[] input_sizes, int dim, int? start, int? end, int "
    "step) -> Tensor",
    c="slice_backward",
    device="any",
    variants="function",
    namespace="nn",
    doc="Gradient of slice.",
)
op(
    "diagonal_backward(Tensor grad_output, int[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
    c="diagonal_backward",
    device="any",
    variants="function",
    namespace="nn",
    doc="Gradient of diagonal.",
)
op(
    "unfold_backward(Tensor grad_in, int[] input_sizes, int dim, int size, int step) -> Tensor",
    c="unfold_backward",
    device="any",
    variants="function",
    namespace="nn",
    doc="Gradient of unfold.",
)
op(
    "as_strided_backward(Tensor grad_output, int[] input_sizes, int[] input_strides, int "
    "input_offset, int[] size,"
    " int[] stride, int offset) -> Tensor",
    c="as_strided_backward",
    device="any",
    variants="function",
    namespace="nn",
    doc="Gradient of as_strided.",
)
op(
    "fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)",
    composite=True,
    variants="method",
    doc="Write a number along the main diagonal; `wrap` begins it anew below a square of a tall matrix.",
)
op("_bag_sums(Tensor weight, Tensor indices, Tensor edges) -> Tensor", c="_bag_sums", variants="function",
   doc="Sums of the rows of a table, (V, M) of float32 or float64, over bags of their numbers: bag k has "
   "the indices from edges[k] to before edges[k + 1].")
