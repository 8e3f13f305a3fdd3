/* triangular.c - triangles: substitution, and the factorisation of positive definite matrices. */
#include "ops/linalg/linalg.h"

/* ---- substitution ---- */

#define COLUMNS 128 /* right sides of one task */

typedef struct triangle_job {
    const td_lapack *la;
    td_stack a, x;
    int64_t lda;
    int dims;
    const int64_t *batch;
    int64_t chunks;
    const char *uplo, *trans, *diag;
} triangle_job;

/* A X = B; turned, the library sees X^T and B^T: X^T A^T = B^T. */
static void substitute(void *context, int64_t begin, int64_t end)
{
    const triangle_job *j = context;
    td_dtype d = (td_dtype)j->x.t->dtype;
    int64_t item = td_itemsize(d), n = j->a.rows, all = j->x.turned ? j->x.rows : j->x.cols;
    td_triangle t = {j->la,  d,        j->x.turned ? "R" : "L", j->uplo, j->trans, j->diag,
                     j->lda, j->x.rows};
    for (int64_t task = begin; task < end; task++) {
        int64_t i = task / j->chunks, at = task % j->chunks * COLUMNS,
                few = all - at < COLUMNS ? all - at : COLUMNS;
        const char *a = j->a.data + td_batch_offset(j->a.t, 2, j->dims, j->batch, i) * item;
        char *x = td_matrix(&j->x, i) + at * (j->x.turned ? 1 : n) * item;
        td_triangle_solve(&t, n, few, a, x);
    }
}

static td_status run_substitution(triangle_job *j)
{
    td_dtype d = (td_dtype)j->x.t->dtype;
    int64_t all = j->x.turned ? j->x.rows : j->x.cols, n = j->a.rows;
    TD_TRY(td_lapack_of(&j->la, d));
    TD_TRY(td_linalg_fits("linalg.solve_triangular", j->lda > j->x.rows ? j->lda : j->x.rows));
    j->chunks = (all + COLUMNS - 1) / COLUMNS;
    double few = all < COLUMNS ? (double)all : COLUMNS;
    td_linalg_parallel(j->x.count * j->chunks, td_linalg_ns(d, few * (double)n * (double)n),
                       substitute, j);
    return TD_OK;
}

/* _linalg_triangular(A, B, upper, unitriangular): A^-1 B */
td_status td_op_linalg_triangular(td_call *call)
{
    const td_tensor *A = TD_TENSOR(0), *B = TD_TENSOR(1);
    int64_t batch[TD_MAX_DIMS];
    triangle_job j = {.batch = batch, .diag = TD_BOOLEAN(3) ? "U" : "N"};
    TD_TRY(td_linalg_square("linalg.solve_triangular", A));
    TD_TRY(td_linalg_sides("linalg.solve_triangular", A, B));
    TD_TRY(td_broadcast(A->ndim - 2, A->sizes, B->ndim - 2, B->sizes, &j.dims, batch));
    TD_TRY(td_stack_expand(&j.x, B, j.dims, batch, TD_AS_IT_LIES));
    call->out[0] = j.x.t;
    if (td_is_meta(A) || j.x.t->numel == 0) return TD_OK;
    TD_TRY(td_stack_read(&j.a, A, &j.lda, TD_AS_IT_LIES));
    j.uplo = TD_BOOLEAN(2) != j.a.turned ? "U" : "L";
    j.trans = j.a.turned != j.x.turned ? "T" : "N";
    td_status status = run_substitution(&j);
    td_tensor_free(j.a.t);
    return status;
}

/* ---- Cholesky ---- */

typedef struct cholesky_job {
    const td_lapack *la;
    const td_stack *a;
    int32_t *info;
    bool above; /* the triangle as the library sees it */
} cholesky_job;

/* The first place on the diagonal that is no number, from 1; 0 if all are. The library compares
 * pivots with 0 only. */
static int64_t first_nan(td_dtype d, const char *a, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        double v = td_scalar_load(d, a + k * (n + 1) * td_itemsize(d)).re;
        if (v != v) return k + 1;
    }
    return 0;
}

/* In a turned matrix the library finds the lower triangle above the diagonal, conjugated: A^T = U^H
 * U, A = L L^H with L = U^T. */
static void factor_stack(void *context, int64_t begin, int64_t end)
{
    const cholesky_job *j = context;
    td_dtype d = (td_dtype)j->a->t->dtype;
    int64_t n = j->a->rows;
    for (int64_t i = begin; i < end; i++) {
        int64_t info = 0;
        char *a = td_matrix(j->a, i);
        j->la->potrf(j->above ? "U" : "L", &n, a, &n, &info, 1);
        info = td_lapack_int(&info, 0);
        j->info[i] = (int32_t)(info ? info : first_nan(d, a, n));
        if (j->above) td_clear_below(d, a, n, n);
        else td_clear_above(d, a, n, n);
    }
}

/* _linalg_cholesky(A, upper): (L or U, order of the first minor that is not positive definite, or
 * 0); one triangle is read */
td_status td_op_linalg_cholesky(td_call *call)
{
    const td_tensor *A = TD_TENSOR(0);
    td_stack a;
    TD_TRY(td_linalg_square("linalg.cholesky", A));
    TD_TRY(td_stack_copy(&a, A, TD_AS_IT_LIES));
    call->out[0] = a.t;
    TD_TRY(td_vectors_new(&call->out[1], TD_I32, A, -1));
    if (td_is_meta(A)) return TD_OK;
    if (A->numel == 0) return td_fill(call->out[1], &(td_scalar){0});
    cholesky_job j = {NULL, &a, td_data(call->out[1]), TD_BOOLEAN(1) != a.turned};
    TD_TRY(td_lapack_of(&j.la, (td_dtype)A->dtype));
    TD_TRY(td_linalg_fits("linalg.cholesky", a.rows));
    double n = (double)a.rows;
    td_linalg_parallel(a.count, td_linalg_ns((td_dtype)A->dtype, n * n * n / 3), factor_stack, &j);
    return TD_OK;
}
