/* sparse_run.h - products with sparse matrices in compressed rows, shared out among threads. All
 * operands are dense; indices of int64. Another thread may write to the indices meanwhile: each is
 * copied, then checked, then used; IndexError for one that is out of range, RuntimeError for edges
 * of rows that do not rise from 0 to the number of entries. */
#ifndef TD_SPARSE_RUN_H
#define TD_SPARSE_RUN_H
#include "runtime/tensor.h"

typedef struct td_csr {
    const char *op;
    const td_tensor *edges, *cols; /* (rows + 1), (entries) */
    int64_t columns;               /* cols are below it */
} td_csr;

/* out (rows, n) = the matrix of `values` (entries) times dense (columns, n) */
td_status td_csr_times(const td_csr *m, td_tensor *out, const td_tensor *values,
                       const td_tensor *dense);
/* out (entries): row r of a (rows, n) times row c of b (columns, n) at each entry (r, c) */
td_status td_csr_sampled(const td_csr *m, td_tensor *out, const td_tensor *a, const td_tensor *b);
/* By columns: edges (columns + 1), rows (entries) and where each entry stood, in rising order */
td_status td_csr_turned(const td_csr *m, td_tensor *edges, td_tensor *rows, td_tensor *order);

/* ---- what drivers check ---- */
static inline int64_t td_csr_within(int64_t edge, int64_t most)
{
    return edge < 0 ? 0 : edge > most ? most : edge;
}
td_status td_csr_check_edges(const td_csr *m);
td_status td_csr_wrong_column(const td_csr *m, int64_t column);

#endif
