"""New tensors: factories, their `_like` and `new_` forms, and what writes a whole tensor."""

from __future__ import annotations

from ._row import op

OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
LIKE = f"{OPTIONS}, MemoryFormat? memory_format=None"


COMPUTED = "linspace logspace eye tril_indices triu_indices".split()  # on the host, then moved


def factory(
    schema: str, doc: str, *, c: str = "", variants: str = "function out", names: str = ""
) -> None:
    """A row that makes a tensor; `requires_grad=` comes with the tag."""
    name = schema.split("(", 1)[0].split(".", 1)[0]
    device = "" if name in COMPUTED else "any"
    op(
        schema,
        c=c or name,
        variants=variants,
        device=device,
        tags="factory",
        names=names,
        doc=doc,
    )


# ---- from sizes ----
factory(f"empty.memory_format(int[] size, *, {LIKE}) -> Tensor", "A tensor with unset elements.",
        names="make")
factory(
    f"empty_strided(int[] size, int[] stride, *, {OPTIONS}) -> Tensor",
    "A tensor of any sizes and strides, its elements unset.",
    variants="function",
)
factory(
    f"empty_permuted(int[] size, int[] physical_layout, *, {OPTIONS}) -> Tensor",
    "A dense tensor whose dimensions lie in memory in the given order.",
    variants="function",
)
factory(f"zeros(int[] size, *, {OPTIONS}) -> Tensor", "All elements 0.", names="make")
factory(f"ones(int[] size, *, {OPTIONS}) -> Tensor", "All elements 1.", names="make")
factory(
    f"full(int[] size, Scalar fill_value, *, {OPTIONS}) -> Tensor",
    "All elements one value, which also decides the dtype.",
    names="make",
)
factory(
    f"scalar_tensor(Scalar s, *, {OPTIONS}) -> Tensor",
    "A 0-dim tensor of one number.",
    variants="function",
)

# ---- from a tensor ----
factory(
    f"empty_like(Tensor self, *, {LIKE}) -> Tensor",
    "Unset elements in the shape of `self`.",
    variants="function",
    names="keep",
)
factory(
    f"zeros_like(Tensor self, *, {LIKE}) -> Tensor",
    "Zeros in the shape of `self`.",
    variants="function",
    names="keep",
)
factory(
    f"ones_like(Tensor self, *, {LIKE}) -> Tensor",
    "Ones in the shape of `self`.",
    variants="function",
    names="keep",
)
factory(
    f"full_like(Tensor self, Scalar fill_value, *, {LIKE}) -> Tensor",
    "One value in the shape and dtype of `self`.",
    variants="function",
    names="keep",
)
factory(
    f"new_empty(Tensor self, int[] size, *, {OPTIONS}) -> Tensor",
    "Unset elements with the dtype and device of `self`.",
    variants="method",
)
factory(
    f"new_empty_strided(Tensor self, int[] size, int[] stride, *, {OPTIONS}) -> Tensor",
    "Any strides, with the dtype and device of `self`.",
    variants="method",
)
factory(
    f"new_zeros(Tensor self, int[] size, *, {OPTIONS}) -> Tensor",
    "Zeros with the dtype and device of `self`.",
    variants="method",
)
factory(
    f"new_ones(Tensor self, int[] size, *, {OPTIONS}) -> Tensor",
    "Ones with the dtype and device of `self`.",
    variants="method",
)
factory(
    f"new_full(Tensor self, int[] size, Scalar fill_value, *, {OPTIONS}) -> Tensor",
    "One value with the dtype and device of `self`.",
    variants="method",
)

# ---- equal steps ----
factory(f"arange(Scalar end, *, {OPTIONS}) -> Tensor", "0, 1, ... below `end`.")
factory(
    f"arange.start(Scalar start, Scalar end, *, {OPTIONS}) -> Tensor",
    "start, start + 1, ... below `end`.",
    c="arange_start",
)
factory(
    f"arange.start_step(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor",
    "start, start + step, ... before `end`.",
    c="arange_start_step",
)
factory(
    f"range(Scalar start, Scalar end, *, {OPTIONS}) -> Tensor",
    "start, start + 1, ... up to `end`; prefer arange.",
)
factory(
    f"range.step(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor",
    "start, start + step, ... up to `end`; prefer arange.",
    c="range_step",
)
factory(
    f"linspace(Scalar start, Scalar end, int steps, *, {OPTIONS}) -> Tensor",
    "`steps` numbers from start to end, both included.",
)
factory(
    f"logspace(Scalar start, Scalar end, int steps, float base=10.0, *, {OPTIONS}) -> Tensor",
    "base to the power of `steps` exponents from start to end.",
)
for _ends, _start, _end in (("Tensor_Tensor", "Tensor", "Tensor"), ("Tensor_Scalar", "Tensor", "Scalar"),
                            ("Scalar_Tensor", "Scalar", "Tensor")):  # fmt: skip
    op(
        f"linspace.{_ends}({_start} start, {_end} end, int steps, *, {OPTIONS}) -> Tensor",
        composite=True,
        variants="function out",
        reads_value="always",
        tags="factory",
        doc="linspace between 0-dim tensors.",
    )
    op(
        f"logspace.{_ends}({_start} start, {_end} end, int steps, float base=10.0, *, {OPTIONS}) -> Tensor",
        composite=True,
        variants="function out",
        reads_value="always",
        tags="factory",
        doc="logspace between 0-dim tensors.",
    )

# ---- matrices ----
factory(f"eye(int n, *, {OPTIONS}) -> Tensor", "The identity matrix.")
factory(
    f"eye.m(int n, int m, *, {OPTIONS}) -> Tensor",
    "Ones on the diagonal of an n x m matrix.",
    c="eye_m",
)
TRIANGLE = OPTIONS.replace("dtype=None", "dtype=long")
factory(
    f"tril_indices(int row, int col, int offset=0, *, {TRIANGLE}) -> Tensor",
    "Rows and columns of the lower triangle.",
    variants="function",
)
factory(
    f"triu_indices(int row, int col, int offset=0, *, {TRIANGLE}) -> Tensor",
    "Rows and columns of the upper triangle.",
    variants="function",
)
op(
    "tril(Tensor self, int diagonal=0) -> Tensor",
    c="tril",
    device="any",
    variants="function method inplace out",
    names="keep",
    doc="The lower triangle of matrices, zeros above.",
)
op(
    "triu(Tensor self, int diagonal=0) -> Tensor",
    c="triu",
    device="any",
    variants="function method inplace out",
    names="keep",
    doc="The upper triangle of matrices, zeros below.",
)
op(
    "diag(Tensor self, int diagonal=0) -> Tensor",
    composite=True,
    variants="function method out",
    doc="The diagonal of a matrix, or the matrix of a diagonal.",
)
op(
    "diagflat(Tensor self, int offset=0) -> Tensor",
    composite=True,
    doc="All elements as a diagonal of a matrix.",
)
op(
    "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    c="diag_embed",
    device="any",
    doc="Matrices whose diagonals are the last dimension.",
)

# ---- writing a whole tensor ----
op(
    "fill.Scalar(Tensor self, Scalar value) -> Tensor",
    c="fill_scalar",
    device="any",
    variants="function",
    names="keep",
    doc="One value everywhere.",
)
op(
    "fill.Tensor(Tensor self, Tensor value) -> Tensor",
    c="fill_tensor",
    device="any",
    variants="function",
    names="keep",
    doc="The value of a 0-dim tensor everywhere.",
)
op(
    "fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)",
    c="fill_scalar_",
    device="any",
    names="keep",
    doc="Write one value everywhere.",
)
op(
    "fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)",
    c="fill_tensor_",
    device="any",
    names="keep",
    doc="Write the value of a 0-dim tensor everywhere.",
)
op("zero_(Tensor(a!) self) -> Tensor(a!)", c="zero_", device="any", names="keep",
doc="Write 0 everywhere.")
op(
    "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
    c="copy_",
    device="any",
    tags="mixes_devices",
    variants="method",
    names="unify",
    doc="Write the elements of `src`, broadcast and cast.",
)

# ---- complex numbers ----
op(
    "complex(Tensor real, Tensor imag) -> Tensor",
    c="complex",
    device="any",
    variants="function out",
    names="unify",
    doc="Complex numbers from their parts.",
)
op(
    "polar(Tensor abs, Tensor angle) -> Tensor",
    composite=True,
    variants="function out",
    autocast="float32",
    names="unify",
    doc="Complex numbers from length and angle.",
)
