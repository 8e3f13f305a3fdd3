"""Products with sparse matrices in compressed rows, on the strided tensors that they are made of."""

from ._row import op

op("_csr_mm(Tensor crow, Tensor col, Tensor values, Tensor mat2) -> Tensor", c="csr_mm",
   variants="function",
   doc="A sparse matrix times a dense one, in float32 or float64: row r has the values from crow[r] to "
   "before crow[r + 1], in the columns `col`.")
op("_csr_sampled(Tensor crow, Tensor col, Tensor a, Tensor b) -> Tensor", c="csr_sampled",
   variants="function",
   doc="The values of a @ b.T at the places of a sparse matrix, and at no other.")
op("_csr_transpose(Tensor crow, Tensor col, int columns) -> (Tensor ccol, Tensor row, Tensor order)",
   c="csr_transpose", variants="function",
   doc="The places of a sparse matrix by columns: offsets, rows, and where each entry stood before.")
op("_csr_spgemm(Tensor crow, Tensor col, Tensor values, Tensor crow2, Tensor col2, Tensor values2, "
   "int columns) -> (Tensor values, Tensor crow, Tensor col)",
   c="csr_spgemm", variants="function", reads_value="always",
   doc="The product of two sparse matrices, the second with so many columns: values of its places, offsets "
   "of rows and rising columns, in float32 or float64.")
