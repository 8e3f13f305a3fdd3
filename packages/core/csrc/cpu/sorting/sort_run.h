/* sort_run.h - rows of packs (cpu/sorting/sort.h): how threads walk a dimension and order what lies
 * along it. */
#ifndef TD_SORT_RUN_H
#define TD_SORT_RUN_H
#include "cpu/sorting/sort.h"
#include "runtime/scratch.h"
#include "runtime/tensor.h"
#include "runtime/work.h"

/* A tensor as rows along `dim`: outer * inner rows of n elements that are `inner` elements apart.
 */
typedef struct td_rows {
    const td_sort_kernel *element;
    const td_pack_kernel *pack;
    const char *data;
    int64_t outer, n, inner, itemsize;
} td_rows;

/* x must be dense; refuses dtypes without an order. */
td_status td_rows_of(td_rows *rows, const char *op, const td_tensor *x, int64_t dim);
static inline int64_t td_row_count(const td_rows *r) { return r->outer * r->inner; }
/* First element of row `i` of a tensor laid out like rows of `length`, in elements. */
static inline int64_t td_row_start(const td_rows *r, int64_t i, int64_t length)
{
    return i / r->inner * length * r->inner + i % r->inner;
}
/* Row `i`, dense: the memory itself, or a copy in `space` (n * itemsize bytes). */
const char *td_row_data(const td_rows *r, int64_t i, char *space);

/* Sort n packs; they end up in one of the two arrays, which is returned. */
char *td_sort_packs(const td_pack_kernel *k, char *packs, char *spare, int64_t n);

/* Values and indices of int64, laid out like x; of topk, `k` of them a row, in order. */
td_status td_sort_run(const td_rows *rows, td_tensor *values, td_tensor *indices, bool descending);
td_status td_top_run(const td_rows *rows, td_tensor *values, td_tensor *indices, int64_t k,
                     bool descending);

/* What a device with kernels of its own is asked for (TD_WORK_SORT): the first k of every row. */
typedef struct td_sort_job {
    const td_rows *rows;
    td_tensor *values, *indices;
    int64_t k;
    bool descending;
} td_sort_job;

#endif
