/* ldl.c - symmetric and Hermitian matrices that need not be positive definite: A = L D L^T, D of
 * blocks of one or two rows. */
#include "ops/linalg/linalg.h"

typedef struct ldl_job {
    const td_lapack *la;
    td_dtype d;
    bool hermitian;
    td_stack a;
    int32_t *pivots, *info;
    int64_t lwork;
    td_scratch work; /* the library's space, then n exchanges */
} ldl_job;

static void run(const ldl_job *j, char *a, void *pivots, void *work, int64_t lwork, int64_t *info)
{
    (j->hermitian ? j->la->hetrf : j->la->sytrf)("L", &j->a.rows, a, &j->a.rows, pivots, work,
                                                 &lwork, info, 1);
}

static void factor_stack(void *context, int64_t begin, int64_t end)
{
    ldl_job *j = context;
    int64_t n = j->a.rows;
    char *work = td_scratch_take(&j->work);
    void *pivots = work + j->lwork * td_itemsize(j->d);
    for (int64_t i = begin; i < end; i++) {
        int64_t info = 0;
        run(j, td_matrix(&j->a, i), pivots, work, j->lwork, &info);
        j->info[i] = (int32_t)td_lapack_int(&info, 0);
        for (int64_t k = 0; k < n; k++) j->pivots[i * n + k] = (int32_t)td_lapack_int(pivots, k);
        td_clear_above(j->d, td_matrix(&j->a, i), n, n);
    }
    td_scratch_give(&j->work, work);
}

static td_status factor(ldl_job *j)
{
    _Alignas(16) char size[16];
    int64_t n = j->a.rows, info;
    run(j, j->a.data, NULL, size, -1, &info);
    j->lwork = td_work_size(j->d, size);
    TD_TRY(td_linalg_fits("linalg.ldl_factor", j->lwork > n ? j->lwork : n));
    TD_TRY(td_scratch_begin(&j->work, j->lwork * td_itemsize(j->d) + n * TD_LAPACK_INT));
    td_linalg_parallel(j->a.count, td_linalg_ns(j->d, (double)n * (double)n * (double)n / 3),
                       factor_stack, j);
    td_scratch_end(&j->work);
    return TD_OK;
}

/* _linalg_ldl(A, hermitian): (L and D in one, exchanges, 1 + the place of a zero in D, or 0); the
 * lower triangle of A is read */
td_status td_op_linalg_ldl(td_call *call)
{
    const td_tensor *A = TD_TENSOR(0);
    ldl_job j = {.d = (td_dtype)A->dtype, .hermitian = TD_BOOLEAN(1)};
    TD_TRY(td_linalg_square("linalg.ldl_factor", A));
    TD_TRY(td_stack_copy(&j.a, A, TD_COLUMNS));
    call->out[0] = j.a.t;
    TD_TRY(td_vectors_new(&call->out[1], TD_I32, A, A->sizes[A->ndim - 1]));
    TD_TRY(td_vectors_new(&call->out[2], TD_I32, A, -1));
    if (td_is_meta(A)) return TD_OK;
    if (A->numel == 0) return td_fill(call->out[2], &(td_scalar){0});
    TD_TRY(td_lapack_of(&j.la, j.d));
    j.pivots = td_data(call->out[1]);
    j.info = td_data(call->out[2]);
    return factor(&j);
}
