"""Views: the same memory under another shape.
`reshape`, `flatten`, `ravel` and `contiguous` copy where no view exists.
"""

from __future__ import annotations

from ._row import op


def view(
    schema: str,
    doc: str,
    *,
    c: str = "",
    variants: str = "function method",
    tags: str = "keep_conj",
    **more: str,
) -> None:
    """A row whose result shares memory with its first argument, in C, and which keeps lazy conjugation."""
    name = schema.split("(", 1)[0].split(".", 1)[0]
    op(schema, c=c or name, view=True, tags=tags, variants=variants, doc=doc, **more)


# ---- shape ----
view(
    "as_strided(Tensor(a) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a)",
    "Lay any sizes, strides and offset over the storage, within its bounds.",
)
view(
    "view(Tensor(a) self, int[] size) -> Tensor(a)",
    "The same elements in another shape, never a copy; one size may be -1.",
    variants="method",
)
# other numbers, which the graph has no part in: so no view in its eyes
op(
    "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
    c="view_dtype",
    device="any",
    tags="keep_conj",
    variants="method",
    doc="The same bytes as another dtype; the last dimension grows or shrinks with the element size.",
)
view(
    "view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    "View with the shape of `other`.",
    variants="method",
)
view(
    "reshape(Tensor(a) self, int[] shape) -> Tensor(a)",
    "The same elements in another shape: a view where one exists, else a copy.",
)
view(
    "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    "Reshape to the shape of `other`.",
    variants="method",
)
view(
    "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
    "Join the dimensions from start_dim to end_dim into one.",
)
view(
    "unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)",
    "Split one dimension into several; one size may be -1.",
)
view("ravel(Tensor(a) self) -> Tensor(a)", "All elements in one dimension, a view where possible.")
view(
    "expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)",
    "Repeat dimensions of size 1 without copying; -1 keeps a size, leading dimensions may be new.",
    variants="method",
    names="expand",
)
view(
    "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    "Expand to the shape of `other`.",
    variants="method",
    names="expand",
)
view("broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)", "Expand to a shape.", c="expand",
     names="expand")
op(
    "broadcast_tensors(Tensor(a)[] tensors) -> Tensor(a)[]",
    composite=True,
    variants="function",
    namespace="functional",
    doc="Expand all tensors to their common shape.",
)

# ---- dimensions ----
view("permute(Tensor(a) self, int[] dims) -> Tensor(a)", "Put the dimensions into another order.",
     names="permute")
view("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", "Swap two dimensions.",
     names="permute")
view(
    "swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
    "Swap two dimensions.",
    c="transpose",
    names="permute",
)
view(
    "swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    "Swap two dimensions.",
    c="transpose",
    names="permute",
)
view("t(Tensor(a) self) -> Tensor(a)", "Transpose a matrix; a vector or scalar as it is.",
     names="permute")
view(
    "movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
    "Move one dimension to another place.",
    c="movedim_int",
    aliases="moveaxis",
    names="permute",
)
view(
    "movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
    "Move dimensions to other places; the rest keep their order.",
    aliases="moveaxis",
    names="permute",
)
view("squeeze(Tensor(a) self) -> Tensor(a)", "Drop all dimensions of size 1.", names="squeeze")
view(
    "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
    "Drop one dimension if its size is 1.",
    c="squeeze_dim",
    names="squeeze",
)
view(
    "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
    "Drop those of the dimensions whose size is 1.",
    c="squeeze_dims",
    names="squeeze",
)
view("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", "Insert a dimension of size 1.",
     names="add")
view("adjoint(Tensor(a) self) -> Tensor(a)", "Swap the last two dimensions and conjugate.", c="mH",
     names="permute")


def in_place(
    schema: str, doc: str, *, c: str = "", variants: str = "method", names: str = ""
) -> None:
    """A row that gives a tensor the shape of one of its views; its elements, and so a base's
    history, stay as they are.
    """
    name = schema.split("(", 1)[0].split(".", 1)[0]
    op(
        schema,
        c=c or name,
        view=True,
        variants=variants,
        tags="keep_conj",
        device="any",
        names=names,
        doc=doc,
    )


in_place(
    "transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
    "Swap two dimensions of the tensor itself.",
    names="permute",
)
in_place(
    "swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)",
    "Swap two dimensions of the tensor itself.",
    c="transpose_",
    names="permute",
)
in_place(
    "swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
    "Swap two dimensions of the tensor itself.",
    c="transpose_",
    names="permute",
)
in_place("t_(Tensor(a!) self) -> Tensor(a!)", "Transpose a matrix itself.", names="permute")
in_place(
    "squeeze_(Tensor(a!) self) -> Tensor(a!)", "Drop all dimensions of size 1 of the tensor itself.",
    names="squeeze"
)
in_place(
    "squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)",
    "Drop one dimension of size 1 of the tensor itself.",
    c="squeeze_dim_",
    names="squeeze",
)
in_place(
    "squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)",
    "Drop dimensions of size 1 of the tensor itself.",
    c="squeeze_dims_",
    names="squeeze",
)
in_place(
    "unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)",
    "Insert a dimension of size 1 into the tensor itself.",
    names="add",
)
in_place(
    "as_strided_(Tensor(a!) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a!)",
    "Lay other sizes, strides and offset over the tensor's own storage.",
    variants="function method",
)

# ---- parts ----
view(
    "select.int(Tensor(a) self, int dim, int index) -> Tensor(a)",
    "One index of a dimension, which is dropped.",
    names="drop",
)
view(
    "slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)",
    "A range of a dimension, as a Python slice with a positive step.",
    variants="",
    names="keep",
)
view(
    "narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)",
    "`length` places of a dimension from `start` on.",
    names="keep",
)
view(
    "narrow.Tensor(Tensor(a) self, int dim, Tensor start, int length) -> Tensor(a)",
    "`length` places of a dimension; `start` is a 0-dim integer tensor.",
    c="narrow_tensor",
    reads_value="always",
    names="keep",
)
view(
    "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    "A diagonal of two dimensions, as a new last dimension.",
)
view(
    "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
    "Windows of `size` every `step` along a dimension; the window is a new last dimension.",
    variants="method",
)
view(
    "unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", "All selections along a dimension.",
    names="drop"
)
view(
    "split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[]",
    "Pieces of a size; the last may be smaller.",
    names="keep",
)
view(
    "split.sizes(Tensor(a -> *) self, int[] split_size, int dim=0) -> Tensor(a)[]",
    "Pieces of the given sizes.",
    c="split_with_sizes",
    names="keep",
)
view(
    "split_with_sizes(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
    "Pieces of the given sizes.",
    names="keep",
)
view(
    "chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
    "At most `chunks` pieces of equal size; the last may be smaller.",
    names="keep",
)
# the tensor comes first: one of one element would pass for a number
view(
    "tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor "
    "tensor_indices_or_sections, int dim=0)"
    " -> Tensor(a)[]",
    "Pieces; their number or positions stand in a tensor.",
    c="tensor_split_tensor",
    tags="keep_conj slices mixes_devices",
    reads_value="always",
)
view(
    "tensor_split.sections(Tensor(a -> *) self, int sections, int dim=0) -> Tensor(a)[]",
    "Pieces whose sizes differ by at most one.",
    c="tensor_split_sections",
    tags="keep_conj slices",
)
view(
    "tensor_split.indices(Tensor(a -> *) self, int[] indices, int dim=0) -> Tensor(a)[]",
    "Pieces between the given positions.",
    c="tensor_split_indices",
    tags="keep_conj slices",
)
for _name in ("hsplit", "vsplit", "dsplit"):
    view(
        f"{_name}.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
        "Equal pieces along a fixed dimension.",
        tags="keep_conj slices",
    )
    view(
        f"{_name}.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
        "Pieces between positions along a fixed dimension.",
        tags="keep_conj slices",
    )

# ---- complex ----
view(
    "real(Tensor(a) self) -> Tensor(a)",
    "The real parts; a real tensor itself.",
    variants="function",
    names="keep",
)
view("imag(Tensor(a) self) -> Tensor(a)", "The imaginary parts.", variants="function", names="keep")
view(
    "view_as_real(Tensor(a) self) -> Tensor(a)",
    "Real and imaginary parts as a new last dimension.",
    variants="function",
)
view(
    "view_as_complex(Tensor(a) self) -> Tensor(a)",
    "Pairs of the last dimension as complex numbers.",
    variants="function",
    autocast="float32",
)
view("conj(Tensor(a) self) -> Tensor(a)", "The conjugate, by a flag that later operations resolve.",
     names="keep")
view(
    "_conj(Tensor(a) self) -> Tensor(a)", "Flip the flag of lazy conjugation.", variants="function",
    names="keep"
)
view(
    "_neg_view(Tensor(a) self) -> Tensor(a)", "Flip the flag of lazy negation.", variants="function"
)
view(
    "resolve_conj(Tensor(a) self) -> Tensor(a)",
    "The tensor without lazy conjugation; itself if there is none.",
    names="keep",
)
view(
    "resolve_neg(Tensor(a) self) -> Tensor(a)",
    "The tensor without lazy negation; itself if there is none.",
    names="keep",
)

# ---- attributes of Tensor: T, mT, H, mH ----
for _name, _doc in (("numpy_T", "All dimensions reversed."), ("mT", "The last two dimensions swapped."),
                    ("matrix_H", "A matrix transposed and conjugated."),
                    ("mH", "The last two dimensions swapped, conjugated.")):  # fmt: skip
    view(f"{_name}(Tensor(a) self) -> Tensor(a)", _doc, variants="function", names="permute")

# ---- the tensor again, or a copy ----
view(
    "alias(Tensor(a) self) -> Tensor(a)",
    "Another tensor over the same memory.",
    variants="function",
    names="keep",
)
# no view in the eyes of the graph: writes to it are not written into its base's history
op(
    "detach(Tensor(a) self) -> Tensor(a)",
    c="alias",
    device="any",
    tags="keep_conj detaches",
    names="keep",
    doc="The same memory outside the graph.",
)
view(
    "contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)",
    "The tensor itself if it is laid out so, else a copy that is.",
    variants="method",
    names="keep",
)
op(
    "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
    c="clone",
    device="any",
    names="keep",
    doc="A copy with memory of its own.",
)
op(
    "_to_copy(Tensor self, *, ScalarType? dtype=None, Device? device=None, bool non_blocking=False,"
    " MemoryFormat? memory_format=None) -> Tensor",
    c="_to_copy",
    device="any",
    names="keep",
    doc="A copy in another dtype, device or memory format.",
)

# ---- shapes of several tensors ----
for _n in (1, 2, 3):
    op(
        f"atleast_{_n}d(Tensor(a) self) -> Tensor(a)",
        composite=True,
        variants="function",
        namespace="functional",
        doc=f"A view of at least {_n} dimensions.",
    )
    op(
        f"atleast_{_n}d.Sequence(Tensor(a)[] tensors) -> Tensor(a)[]",
        composite=True,
        variants="function",
        namespace="functional",
        doc=f"Views of at least {_n} dimensions.",
    )

# ---- copies in another order ----
op("flip(Tensor self, int[] dims) -> Tensor", c="flip", device="any",
   names="keep", doc="Reverse the order along dimensions.")
op("fliplr(Tensor self) -> Tensor", composite=True, doc="Reverse the columns of a matrix.")
op("flipud(Tensor self) -> Tensor", composite=True, doc="Reverse the rows.")
op(
    "roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor",
    c="roll",
    device="any",
    doc="Shift along dimensions; what falls off the end comes in at the start.",
)
op(
    "rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor",
    composite=True,
    doc="Turn a plane by k quarters.",
)
op(
    "repeat(Tensor self, int[] repeats) -> Tensor",
    c="repeat",
    device="any",
    variants="method",
    doc="Copies side by side.",
)
op(
    "tile(Tensor self, int[] dims) -> Tensor",
    c="tile",
    device="any",
    doc="Copies side by side; missing counts are 1.",
)
op(
    "repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor",
    c="repeat_interleave", device="any",
    reads_value="sometimes",
    variants="function",
    doc="Each index as often as it says.",
)
op(
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, int? "
    "output_size=None) -> Tensor",
    composite=True,
    reads_value="sometimes",
    doc="Each element as often as its count.",
)
op(
    "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor",
    composite=True,
    doc="Each element several times.",
)
