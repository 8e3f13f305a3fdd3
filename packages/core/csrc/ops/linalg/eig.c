/* eig.c - eigenvalues and eigenvectors of any square matrix. Of a real one the library gives pairs
 * of real columns; results are complex always. Callers have refused NaN and infinity, on which the
 * routine might run for ever. */
#include "ops/linalg/linalg.h"

typedef struct eig_job {
    const td_lapack *la;
    td_dtype d, real;
    bool vectors;
    td_stack a, v; /* v: the result, complex */
    char *values;
    int32_t *info;
    /* bytes in the work space: values (real: two rows), real vectors */
    int64_t lwork, values_at, vectors_at;
    td_scratch work;
} eig_job;

static void run(const eig_job *j, int64_t i, char *work, int64_t lwork, int64_t *info)
{
    const int64_t *n = &j->a.rows, one = 1;
    const char *right = j->vectors ? "V" : "N";
    char *a = td_matrix(&j->a, i), *values = work + j->values_at, *v = work + j->vectors_at;
    if (td_is_complex(j->d))
        j->la->geev_complex("N", right, n, a, n, j->values + i * *n * td_itemsize(j->d), NULL, &one,
                            j->vectors ? td_matrix(&j->v, i) : NULL, j->vectors ? n : &one, work,
                            &lwork, values, info, 1, 1);
    else
        j->la->geev("N", right, n, a, n, values, values + *n * td_itemsize(j->d), NULL, &one, v,
                    j->vectors ? n : &one, work, &lwork, info, 1, 1);
}

static double get(const eig_job *j, const char *at, int64_t k)
{
    return j->real == TD_F32 ? (double)((const float *)at)[k] : ((const double *)at)[k];
}

static void put(const eig_job *j, char *at, int64_t k, double re, double im)
{
    if (j->real == TD_F32) {
        ((float *)at)[2 * k] = (float)re;
        ((float *)at)[2 * k + 1] = (float)im;
    } else {
        ((double *)at)[2 * k] = re;
        ((double *)at)[2 * k + 1] = im;
    }
}

/* A pair of conjugated values c, c + 1 has the vectors v_c + i v_(c+1) and its conjugate. */
static void pair_columns(const eig_job *j, const char *v, char *out, int64_t c, bool pair)
{
    int64_t n = j->a.rows;
    for (int64_t r = 0; r < n; r++) {
        double re = get(j, v, c * n + r), im = pair ? get(j, v, (c + 1) * n + r) : 0;
        put(j, out, c * n + r, re, im);
        if (pair) put(j, out, (c + 1) * n + r, re, -im);
    }
}

static void widen(const eig_job *j, int64_t i, const char *work)
{
    int64_t n = j->a.rows, item = td_itemsize(j->real);
    const char *re = work + j->values_at, *im = re + n * item;
    char *values = j->values + i * n * 2 * item;
    for (int64_t c = 0; c < n; c++) put(j, values, c, get(j, re, c), get(j, im, c));
    for (int64_t c = 0; j->vectors && c < n;) {
        bool pair = get(j, im, c) != 0 && c + 1 < n;
        pair_columns(j, work + j->vectors_at, td_matrix(&j->v, i), c, pair);
        c += pair ? 2 : 1;
    }
}

static void decompose_stack(void *context, int64_t begin, int64_t end)
{
    eig_job *j = context;
    char *work = td_scratch_take(&j->work);
    for (int64_t i = begin; i < end; i++) {
        int64_t info = 0;
        j->info[i] = -1;
        if (!td_all_finite(j->d, td_matrix(&j->a, i), j->a.rows * j->a.cols)) continue;
        run(j, i, work, j->lwork, &info);
        j->info[i] = (int32_t)td_lapack_int(&info, 0);
        if (!j->info[i] && !td_is_complex(j->d)) widen(j, i, work);
    }
    td_scratch_give(&j->work, work);
}

static td_status begin(eig_job *j)
{
    _Alignas(16) char ask[32];
    int64_t n = j->a.rows, info;
    run(j, 0, ask, -1, &info);
    j->lwork = td_work_size(j->d, ask);
    TD_TRY(td_linalg_fits("linalg.eig", j->lwork));
    j->values_at = (j->lwork * td_itemsize(j->d) + 63) / 64 * 64;
    j->vectors_at = (j->values_at + 2 * n * td_itemsize(j->real) + 63) / 64 * 64;
    return td_scratch_begin(
        &j->work,
        j->vectors_at + (j->vectors && !td_is_complex(j->d) ? n * n * td_itemsize(j->d) : 64));
}

static td_status decompose(eig_job *j, const td_tensor *A)
{
    TD_TRY(begin(j));
    double n = (double)j->a.rows;
    td_status status =
        td_linalg_iterate("linalg.eig", A, j->a.count, td_linalg_ns(j->d, n * n * n * 25),
                          decompose_stack, j, &j->info);
    td_scratch_end(&j->work);
    return status;
}

/* _linalg_eig(A, vectors): (values, vectors as columns of length 1; empty if they are not wanted)
 */
td_status td_op_linalg_eig(td_call *call)
{
    const td_tensor *A = TD_TENSOR(0);
    TD_TRY(td_linalg_square("linalg.eig", A));
    td_dtype d = (td_dtype)A->dtype, wide = td_to_complex(d);
    int64_t n = A->sizes[A->ndim - 1];
    eig_job j = {.d = d, .real = td_to_real(d), .vectors = TD_BOOLEAN(1)};
    TD_TRY(td_vectors_new(&call->out[0], wide, A, n));
    if (j.vectors) TD_TRY(td_stack_new(&j.v, wide, A, n, n));
    else TD_TRY(td_tensor_empty(&call->out[1], wide, (td_device)A->device, 1, &(int64_t){0}));
    if (j.vectors) call->out[1] = j.v.t;
    if (td_is_meta(A) || A->numel == 0) return TD_OK;
    TD_TRY(td_lapack_of(&j.la, d));
    TD_TRY(td_linalg_fits("linalg.eig", n));
    TD_TRY(td_stack_copy(&j.a, A, TD_COLUMNS));
    j.values = td_data(call->out[0]);
    td_status status = decompose(&j, A);
    td_tensor_free(j.a.t);
    return status;
}
