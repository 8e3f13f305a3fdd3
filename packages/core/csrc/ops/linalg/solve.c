/* solve.c - what follows from an LU factorisation: solutions and determinants. */
#include <complex.h>
#include <math.h>
#include "ops/linalg/linalg.h"

#define COLUMNS 128 /* right sides of one task */

/* ---- solutions ---- */

typedef struct solve_job {
    const td_lapack *la;
    const td_lu *lu;
    const td_stack *x;
    int dims;
    const int64_t *batch;
    int64_t chunks; /* of right sides, for every matrix */
} solve_job;

static void solve_chunks(void *context, int64_t begin, int64_t end)
{
    const solve_job *j = context;
    const td_stack *a = &j->lu->a, *x = j->x;
    td_dtype d = (td_dtype)x->t->dtype;
    int64_t n = a->rows;
    for (int64_t task = begin; task < end; task++) {
        int64_t i = task / j->chunks, col = task % j->chunks * COLUMNS,
                cols = x->cols - col < COLUMNS ? x->cols - col : COLUMNS;
        int64_t place = td_batch_offset(a->t, 2, j->dims, j->batch, i) / (n * n);
        td_lu_solve(j->la, d, a->turned ? "T" : "N", n, cols, td_matrix(a, place), n,
                    td_lu_pivots(j->lu, place), td_matrix(x, i) + col * n * td_itemsize(d));
    }
}

static td_status run_solve(const td_lu *lu, const td_stack *x, int dims, const int64_t *batch)
{
    solve_job j = {NULL, lu, x, dims, batch, (x->cols + COLUMNS - 1) / COLUMNS};
    TD_TRY(td_lapack_of(&j.la, (td_dtype)x->t->dtype));
    double cols = x->cols < COLUMNS ? (double)x->cols : COLUMNS;
    td_linalg_parallel(
        x->count * j.chunks,
        td_linalg_ns((td_dtype)x->t->dtype, 2 * cols * (double)lu->a.rows * (double)lu->a.rows),
        solve_chunks, &j);
    return TD_OK;
}

/* _linalg_solve(A, B): (A^-1 B, 1 + the place of a zero pivot of each A, or 0) */
td_status td_op_linalg_solve(td_call *call)
{
    const td_tensor *A = TD_TENSOR(0), *B = TD_TENSOR(1);
    int dims;
    int64_t batch[TD_MAX_DIMS];
    td_stack x;
    td_lu lu;
    TD_TRY(td_linalg_square("linalg.solve", A));
    TD_TRY(td_linalg_sides("linalg.solve", A, B));
    TD_TRY(td_broadcast(A->ndim - 2, A->sizes, B->ndim - 2, B->sizes, &dims, batch));
    TD_TRY(td_stack_expand(&x, B, dims, batch, TD_COLUMNS));
    call->out[0] = x.t;
    if (td_is_meta(A) || x.t->numel == 0) {
        TD_TRY(td_vectors_new(&call->out[1], TD_I32, A, -1));
        return td_is_meta(A) ? TD_OK : td_fill(call->out[1], &(td_scalar){0});
    }
    TD_TRY(td_lu_of(&lu, "linalg.solve", A, TD_AS_IT_LIES));
    call->out[1] = lu.info;
    lu.info = NULL;
    td_status status = run_solve(&lu, &x, dims, batch);
    td_lu_free(&lu);
    return status;
}

/* ---- determinants ---- */

/* Of one factored matrix: direction and logarithm of the magnitude; `product` is the determinant
 * itself. */
typedef struct determinant {
    double complex sign, product;
    double log;
} determinant;

static determinant determinant_of(const td_lu *lu, int64_t i)
{
    td_dtype d = (td_dtype)lu->a.t->dtype;
    int64_t n = lu->a.rows, item = td_itemsize(d);
    determinant made = {1, 1, 0};
    for (int64_t k = 0; k < n; k++) {
        td_scalar v = td_scalar_load(d, td_matrix(&lu->a, i) + k * (n + 1) * item);
        double complex pivot = CMPLX(v.re, v.im);
        if (td_lapack_int(td_lu_pivots(lu, i), k) != k + 1) pivot = -pivot;
        double size = cabs(pivot);
        made.product = td_is_complex(d) ? made.product * pivot : creal(made.product) * creal(pivot);
        made.sign *= size == 0 ? 0 : pivot / size;
        made.log += log(size);
    }
    return made;
}

static void store(const td_tensor *out, int64_t i, double complex value)
{
    td_scalar v = td_is_complex((td_dtype)out->dtype)
                      ? td_scalar_complex(creal(value), cimag(value))
                      : td_scalar_float(creal(value));
    td_scalar_store(&v, (td_dtype)out->dtype,
                    (char *)td_data(out) + i * td_itemsize((td_dtype)out->dtype));
}

/* out[0]: the determinant if there is no out[1], else its direction */
static td_status determinants(td_call *call)
{
    td_lu lu;
    const td_tensor *A = TD_TENSOR(0);
    if (td_is_meta(A) || call->out[0]->numel == 0) return TD_OK;
    if (A->numel == 0) { /* 0 by 0 matrices */
        if (call->out[1]) TD_TRY(td_fill(call->out[1], &(td_scalar){0}));
        return td_fill(call->out[0], &(td_scalar){TD_S_INT, 1, 1, 0});
    }
    TD_TRY(td_lu_of(&lu, "linalg.det", A, TD_AS_IT_LIES));
    for (int64_t i = 0; i < lu.a.count; i++) {
        determinant made = determinant_of(&lu, i);
        store(call->out[0], i, call->out[1] ? made.sign : made.product);
        if (call->out[1]) store(call->out[1], i, made.log);
    }
    td_lu_free(&lu);
    return TD_OK;
}

td_status td_op_linalg_det(td_call *call)
{
    TD_TRY(td_linalg_square("linalg.det", TD_TENSOR(0)));
    TD_TRY(td_vectors_new(&call->out[0], (td_dtype)TD_TENSOR(0)->dtype, TD_TENSOR(0), -1));
    return determinants(call);
}

td_status td_op_linalg_slogdet(td_call *call)
{
    TD_TRY(td_linalg_square("linalg.slogdet", TD_TENSOR(0)));
    TD_TRY(td_vectors_new(&call->out[0], (td_dtype)TD_TENSOR(0)->dtype, TD_TENSOR(0), -1));
    TD_TRY(
        td_vectors_new(&call->out[1], td_to_real((td_dtype)TD_TENSOR(0)->dtype), TD_TENSOR(0), -1));
    return determinants(call);
}
