/* product_lt.c - a product as cuBLASLt sees it. The library's matrices are stored by columns, so
 * C = A B by rows is asked for as C' = B' A': its first factor is our second. */
#include "cuda/product_lt.h"
#include "cuda/lost.h"
#include <stdio.h>
#include <string.h>
#include "cuda/pool.h"
#include "cuda/pool_history.h"
#include "cuda/product_copy.h"
#include "cuda/product_plan.h"
#include "cuda/program.h"

/* ---- dtypes ---- */
static td_dtype factors_of(const td_product *p) { return p->shorter ? p->shorter : p->dtype; }

static bool set_types(td_lt_kind *k, td_dtype dtype)
{
    bool tf32 = td_lt_allowed & TD_ALLOW_TF32;
    int32_t single = tf32 ? TD_LT_COMPUTE_TF32 : TD_LT_COMPUTE_32;
    int32_t all = TD_LT_JOIN_IN_PLACE | TD_LT_JOIN_WIDE | TD_LT_JOIN_SHORT;
    k->reductions = all;
    switch (dtype) {
        case TD_F32: k->type = TD_LT_R32, k->scale = TD_LT_R32, k->compute = single; return true;
        case TD_C64: k->type = TD_LT_C32, k->scale = TD_LT_C32, k->compute = single; return true;
        case TD_F64:
            k->type = TD_LT_R64, k->scale = TD_LT_R64, k->compute = TD_LT_COMPUTE_64;
            return true;
        case TD_C128:
            k->type = TD_LT_C64, k->scale = TD_LT_C64, k->compute = TD_LT_COMPUTE_64;
            return true;
        case TD_F16:
            k->type = TD_LT_R16, k->scale = TD_LT_R32, k->compute = TD_LT_COMPUTE_32;
            if (td_lt_allowed & TD_REFUSE_SHORT_F16) k->reductions = TD_LT_JOIN_WIDE;
            return true;
        case TD_BF16:
            k->type = TD_LT_BF16, k->scale = TD_LT_R32, k->compute = TD_LT_COMPUTE_32;
            if (td_lt_allowed & TD_REFUSE_SHORT_BF16) k->reductions = TD_LT_JOIN_WIDE;
            return true;
        default: return false;
    }
}

typedef union number { /* alpha or beta in the type that the library wants */
    float f[2];
    double d[2];
} number;

static number number_of(const td_scalar *s, td_dtype dtype)
{
    number n = {.d = {s->re, s->im}};
    if (dtype == TD_F64 || dtype == TD_C128) return n;
    return (number){.f = {(float)s->re, (float)s->im}};
}

/* ---- layouts ---- */
static bool stored(td_lt_matrix *m, int64_t rows, int64_t columns, int64_t step, int64_t leading)
{
    m->rows = rows;
    m->columns = columns;
    m->leading = columns == 1 ? rows : leading;
    return (step == 1 || rows == 1) && m->leading >= rows && m->leading <= INT32_MAX;
}

/* A factor of so many rows and columns, where the next element of a row is `row` away and of a
 * column `column`. False if neither has its elements side by side. */
static bool set_factor(td_lt_matrix *m, int64_t rows, int64_t columns, int64_t row, int64_t column)
{
    m->turned = 0;
    if (stored(m, rows, columns, column, row)) return true;
    m->turned = 1;
    return stored(m, columns, rows, row, column);
}

/* The dimension of the batch that the library counts itself: the longest. -1: none. */
static int counted(const td_product *p)
{
    int best = -1;
    for (int d = 0; d < p->batch_dims; d++)
        if (best < 0 || p->batch[d] > p->batch[best]) best = d;
    return best;
}

static bool set_batch(td_lt_kind *k, const td_product *p, int dim)
{
    k->batch = 1;
    for (int d = 0; d < p->batch_dims; d++)
        if (p->a_batch[d] < 0 || p->b_batch[d] < 0 || p->c_batch[d] < 0) return false;
    if (dim < 0) return true;
    k->batch = p->batch[dim];
    k->a.step = p->b_batch[dim];
    k->b.step = p->a_batch[dim];
    k->d.step = p->c_batch[dim];
    return k->batch <= INT32_MAX;
}

/* Dimensions of the batch in which all matrices go on by the same step are one dimension. */
static void join_batch(td_product *p)
{
    int n = 0;
    for (int d = 0; d < p->batch_dims; d++) {
        if (p->batch[d] == 1) continue;
        int64_t *steps[] = {p->a_batch, p->b_batch, p->c_batch};
        bool joins = n > 0;
        for (int i = 0; i < 3; i++) joins = joins && steps[i][n - 1] == steps[i][d] * p->batch[d];
        if (!joins) n++;
        p->batch[n - 1] = joins ? p->batch[n - 1] * p->batch[d] : p->batch[d];
        for (int i = 0; i < 3; i++) steps[i][n - 1] = steps[i][d];
    }
    p->batch_dims = n;
}

/* The largest power of two up to 256 that divides the address and every step of a batch. */
static int32_t alignment(const void *data, const td_product *p, td_dtype dtype,
                         const int64_t *steps)
{
    uint64_t bits = (uint64_t)(uintptr_t)data | 256;
    for (int d = 0; d < p->batch_dims; d++)
        bits |= (uint64_t)steps[d] * (uint64_t)td_dtypes[dtype].itemsize;
    return (int32_t)(bits & (~bits + 1));
}

/* False for what the library does not compute: our own kernels do. */
static bool describe(td_lt_kind *k, const td_product *p, int ordinal, int dim)
{
    memset(k, 0, sizeof *k);
    td_dtype factors = factors_of(p);
    if (!p->k || !set_types(k, factors)) return false;
    k->result = p->shorter ? TD_LT_R32 : k->type;
    k->epilogue = p->col_bias ? TD_LT_EPILOGUE_BIAS : TD_LT_EPILOGUE_NONE;
    if (p->m > INT32_MAX || p->n > INT32_MAX || p->k > INT32_MAX) return false;
    if (!set_factor(&k->a, p->n, p->k, p->b_row, p->b_col) ||
        !set_factor(&k->b, p->k, p->m, p->a_row, p->a_col) ||
        !stored(&k->d, p->n, p->m, 1, p->c_row) || !set_batch(k, p, dim))
        return false;
    k->ordinal = ordinal;
    k->a.aligned = alignment(p->b, p, factors, p->b_batch);
    k->b.aligned = alignment(p->a, p, factors, p->a_batch);
    k->d.aligned = alignment(p->c, p, p->dtype, p->c_batch);
    static const int64_t none[TD_MAX_DIMS];
    if (p->col_bias) k->bias_aligned = alignment(p->col_bias, p, p->dtype, none);
    return true;
}

/* ---- factors that lie in no way that the library reads ---- */
/* sizes as the library stores them */
static bool readable(int64_t rows, int64_t columns, int64_t row, int64_t column,
                     const int64_t *steps, int dims)
{
    td_lt_matrix m;
    for (int d = 0; d < dims; d++)
        if (steps[d] < 0) return false;
    return set_factor(&m, rows, columns, row, column);
}

/* Copies in the place of factors without neighbours in memory: tiles of our own would multiply them
 * at a hundredth of the speed. Only of products that the library computes. */
static td_status make_readable(td_product *p, int ordinal, td_cuda_scratch copies[2])
{
    td_lt_kind kind;
    td_dtype dtype = factors_of(p);
    if (!p->k || !p->m || !p->n || !set_types(&kind, dtype)) return TD_OK;
    td_cuda_factor a = {p->a, p->m, p->k, p->a_row, p->a_col, p->batch_dims, p->batch, p->a_batch};
    td_cuda_factor b = {p->b, p->k, p->n, p->b_row, p->b_col, p->batch_dims, p->batch, p->b_batch};
    if (!readable(p->k, p->m, p->a_row, p->a_col, p->a_batch, p->batch_dims))
        TD_TRY(td_cuda_factor_copy(&a, dtype, ordinal, &copies[0]));
    if (!readable(p->n, p->k, p->b_row, p->b_col, p->b_batch, p->batch_dims))
        TD_TRY(td_cuda_factor_copy(&b, dtype, ordinal, &copies[1]));
    p->a = a.data;
    p->a_row = a.row;
    p->a_col = a.column;
    p->b = b.data;
    p->b_row = b.row;
    p->b_col = b.column;
    return TD_OK;
}

/* ---- running ---- */
static const char *doing(const td_product *p, char text[160])
{
    int64_t batches = 1;
    for (int d = 0; d < p->batch_dims; d++) batches *= p->batch[d];
    int at = snprintf(text, 160, "%.40s: ", td_running ? td_running : "product");
    if (batches > 1) at += snprintf(text + at, 160 - (size_t)at, "%lld x ", (long long)batches);
    snprintf(text + at, 160 - (size_t)at, "(%lldx%lld) by (%lldx%lld) in %s", (long long)p->m,
             (long long)p->k, (long long)p->k, (long long)p->n, td_dtypes[p->dtype].name);
    return text;
}

static void tell(const td_product *p, int code)
{
    char text[160];
    if (td_lt_logs())
        fprintf(stderr, "taeda.cuda: %s: not by cuBLASLt, %s\n", doing(p, text),
                code ? td_lt_word(code) : "for its layout or dtype");
}

/* A fault of the device is the driver's to name. */
static td_status broken(const td_product *p, int code, void *stream)
{
    char text[160], what[200];
    doing(p, text);
    snprintf(what, sizeof what, "computing %s", text);
    int fault = td_cu.cuStreamQuery(stream);
    if (fault && fault != TD_CUDA_NOT_READY) return td_cuda_failed(fault, what);
    if (code == TD_LT_NO_MEMORY) return td_cuda_failed(TD_CUDA_NO_MEMORY, what);
    return td_fail(TD_RUNTIME_ERROR, "%s: cuBLASLt failed with %s (%d)", text, td_lt_word(code),
                   code);
}

typedef struct run {
    const td_product *p;
    const td_lt_plan *plan;
    void *handle, *workspace, *stream;
    number alpha, beta;
} run;

static int queue(const run *r, int64_t a, int64_t b, int64_t c)
{
    const td_product *p = r->p;
    const td_lt_plan *plan = r->plan;
    int64_t item = td_itemsize(factors_of(p));
    char *to = p->c + c * td_itemsize(p->dtype);
    td_cuda_launched("a product of cuBLASLt");
    return td_lt.cublasLtMatmul(r->handle, plan->desc, &r->alpha, p->b + b * item, plan->a,
                                p->a + a * item, plan->b, &r->beta, to, plan->d, to, plan->d,
                                &plan->algo, r->workspace, plan->workspace, r->stream);
}

/* Every matrix of the dimensions that the library does not count. *queued: how many calls. */
static int queue_all(const run *r, int dim, int64_t *queued)
{
    const td_product *p = r->p;
    int64_t calls = 1;
    for (int d = 0; d < p->batch_dims; d++) calls *= d == dim ? 1 : p->batch[d];
    for (*queued = 0; *queued < calls; ++*queued) {
        int64_t rest = *queued, a = 0, b = 0, c = 0;
        for (int d = p->batch_dims - 1; d >= 0; d--) {
            if (d == dim) continue;
            int64_t index = rest % p->batch[d];
            rest /= p->batch[d];
            a += index * p->a_batch[d];
            b += index * p->b_batch[d];
            c += index * p->c_batch[d];
        }
        int code = queue(r, a, b, c);
        if (code) return code;
    }
    return 0;
}

static td_status run_plan(td_lt_plan *plan, const td_product *p, void *handle, int dim,
                          td_lt_end *end)
{
    int ordinal = plan->kind.ordinal;
    td_device device = td_device_of(TD_CUDA, ordinal);
    void *block = NULL;
    int64_t queued, bytes = (int64_t)plan->workspace;
    run r = {.p = p, .plan = plan, .handle = handle, .stream = td_cuda_stream(ordinal)};
    r.alpha = number_of(&p->alpha, p->dtype);
    r.beta = number_of(&p->beta, p->dtype);
    if (bytes) TD_TRY(td_cuda_alloc((char **)&r.workspace, bytes, device, &block));
    int code = queue_all(&r, dim, &queued);
    if (code == TD_LT_NO_MEMORY && !queued) {
        td_cuda_relieve(ordinal);
        code = queue_all(&r, dim, &queued);
    }
    if (bytes) td_cuda_release(block, r.workspace, bytes);
    *end = code ? TD_LT_DECLINED : TD_LT_DONE;
    if (!code) return td_cuda_blocking() ? td_cuda_synchronize(device) : TD_OK;
    if (queued || !td_lt_declines(code)) return broken(p, code, r.stream);
    plan->refused = code;
    return TD_OK;
}

static td_status ask(const td_product *p, void *handle, int ordinal, td_lt_end *end)
{
    td_lt_kind kind;
    td_lt_plan *plan = NULL;
    td_status status = TD_OK;
    int dim = counted(p);
    if (describe(&kind, p, ordinal, dim)) plan = td_lt_borrow(&kind, handle, p->col_bias);
    if (plan) *end = TD_LT_DECLINED;
    if (plan && !plan->refused) status = run_plan(plan, p, handle, dim, end);
    if (status == TD_OK && *end != TD_LT_DONE) tell(p, plan ? plan->refused : 0);
    if (plan) td_lt_give_back(plan);
    return status;
}

td_status td_cuda_product_lt(const td_product *asked, int ordinal, td_lt_end *end)
{
    td_product p = *asked;
    td_cuda_scratch copies[2] = {{0}};
    void *handle;
    *end = TD_LT_NOT_FOR_IT;
    TD_TRY(td_lt_handle(ordinal, &handle));
    if (!handle) return TD_OK;
    join_batch(&p);
    td_status status = make_readable(&p, ordinal, copies);
    if (status == TD_OK) status = ask(&p, handle, ordinal, end);
    for (int i = 0; i < 2; i++) td_cuda_scratch_end(&copies[i]);
    return status;
}
