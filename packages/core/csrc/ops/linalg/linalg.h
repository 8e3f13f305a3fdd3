/* linalg.h - what the operators of linear algebra share above their stacks of matrices. */
#ifndef TD_OPS_LINALG_H
#define TD_OPS_LINALG_H
#include "cpu/linalg/linalg.h"

/* ---- arguments (checks.c) ----
 * RuntimeError for what is no batch of matrices of a dtype that the library knows, not square, not
 * as high as A, or no exchanges of rows. */
td_status td_linalg_matrix(const char *op, const td_tensor *A);
td_status td_linalg_square(const char *op, const td_tensor *A);
td_status td_linalg_sides(const char *op, const td_tensor *A, const td_tensor *B);
td_status td_linalg_exchanges(const char *op, const td_tensor *pivots, const td_tensor *A,
                              int64_t n);

/* ---- factors (lu_ops.c) ---- */
typedef struct td_lu { /* a stack and its factors */
    td_stack a;
    td_tensor *info;
    char *pivots; /* library integers, `stride` bytes a matrix */
    int64_t stride, bytes;
} td_lu;
/* Copy and factorise; matrices are square, or TD_COLUMNS. Only for matrices with elements. */
td_status td_lu_of(td_lu *lu, const char *op, const td_tensor *A, td_turn turn);
/* what is still there: a.t and info may have been handed over and set NULL */
void td_lu_free(td_lu *lu);
static inline void *td_lu_pivots(const td_lu *lu, int64_t i) { return lu->pivots + i * lu->stride; }
#endif
