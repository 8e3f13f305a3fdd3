/* sparse_spgemm_run.h - the product of two sparse matrices in compressed rows, shared out among
 * threads. Rules for indices that another thread writes to are those of sparse_run.h. */
#ifndef TD_SPARSE_SPGEMM_RUN_H
#define TD_SPARSE_SPGEMM_RUN_H
#include "cpu/sparse_run.h"

typedef struct td_csr_spgemm td_csr_spgemm;

/* How many places each row of a @ b has; edges (rows + 1): where they begin; entries:
 * the last edge. a->columns is the number of rows of b. `made` is to be ended by td_csr_spgemm_end,
 * after success alone. */
td_status td_csr_spgemm_begin(td_csr_spgemm **made, const td_csr *a, const td_csr *b,
                              td_dtype dtype, td_tensor *edges, int64_t *entries);
/* cols and values (edges[rows]): the places of each row in rising order, and their sums, which are
 * made in the order of a's entries */
td_status td_csr_spgemm_fill(td_csr_spgemm *made, const td_tensor *a, const td_tensor *b,
                             td_tensor *cols, td_tensor *values);
void td_csr_spgemm_end(td_csr_spgemm *made);

#endif
