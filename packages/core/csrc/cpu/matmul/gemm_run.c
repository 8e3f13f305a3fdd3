/* gemm_run.c - products over threads and batches.
 * A kernel call is serial; here the result is cut into blocks. The way (packed, in place, dot
 * products) and the slices of k are those of the whole product, so the result has the same bits for
 * any number of threads. */
#include "cpu/matmul/gemm_run.h"
#include <complex.h>
#include <math.h>
#include <string.h>
#include "cpu/convert.h"
#include "cpu/matmul/any.h"
#include "runtime/scratch.h"
#include "cpu/run/blas.h"

int td_batch_invariant;

#define PARALLEL_NS 12000 /* below, waking a thread costs more than it brings */
#define BLAS_FLOPS                                                                              \
    1.5e9 /* from here on complex numbers go to a BLAS, real ones to one that TAEDA_BLAS names; \
             ours is as fast as OpenBLAS */

/* arithmetic on whole vectors, or memory at 25 bytes a nanosecond */
double td_gemm_cost(int64_t m, int64_t n, int64_t k)
{
    double rows = (double)m, cols = (double)((n + 15) & ~(int64_t)15), depth = (double)k;
    double compute = rows * cols * depth / 60,
           memory = 4 * (rows * depth + depth * (double)n + rows * (double)n) / 25;
    return 20 + (compute > memory ? compute : memory);
}

static double flops_of(int64_t m, int64_t n, int64_t k)
{
    return 2.0 * (double)m * (double)n * (double)k;
}

/* ---- one product, cut into a grid of blocks ---- */
typedef struct grid {
    const td_gemm *whole;
    const td_gemm_kernel *kernel;
    int64_t item, factor_item;        /* bytes of a number of C and the biases, and of A and B */
    int64_t row_step, col_step, cols; /* cols: blocks side by side */
    td_scratch scratch;
} grid;

static td_gemm block_of(const grid *d, int64_t row, int64_t col, int64_t m, int64_t n)
{
    const td_gemm *g = d->whole;
    int64_t item = d->item;
    td_gemm b = *g;
    b.m = m;
    b.n = n;
    b.a = (const char *)g->a + row * g->a_row * d->factor_item;
    if (!g->pack) b.b = (const char *)g->b + col * g->b_col * d->factor_item;
    b.first_col = g->first_col + col;
    b.c = (char *)g->c + (row * g->c_row + col) * item;
    int64_t bias = g->rounds ? 4 : item;
    if (g->row_bias) b.row_bias = (const char *)g->row_bias + row * bias;
    if (g->col_bias) b.col_bias = (const char *)g->col_bias + col * bias;
    return b;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void run_blocks(void *context, int64_t begin, int64_t end)
{
    grid *d = context;
    void *work = td_scratch_take(&d->scratch);
    for (int64_t i = begin; i < end; i++) {
        int64_t row = i / d->cols * d->row_step, col = i % d->cols * d->col_step;
        td_gemm b = block_of(d, row, col, least(d->row_step, d->whole->m - row),
                             least(d->col_step, d->whole->n - col));
        d->kernel->run(&b, work);
    }
    td_scratch_give(&d->scratch, work);
}

/* parts of equal size, up to the tile */
static int64_t step_for(int64_t size, int64_t parts, int64_t tile)
{
    int64_t step = ((size + parts - 1) / parts + tile - 1) / tile * tile;
    return step < tile ? tile : step;
}

static int64_t pieces(int64_t size, int64_t step) { return (size + step - 1) / step; }

/* How long `threads` need for a grid, in units of a multiplication: the rounds of blocks, each with
 * its packing (what it costs in time was fitted to measurements; counted alone it would be a
 * third). */
static double grid_cost(const grid *d, int threads)
{
    const td_gemm *g = d->whole;
    int64_t blocks = pieces(g->m, d->row_step) * pieces(g->n, d->col_step);
    double m = (double)d->row_step, n = (double)d->col_step,
           rounds = (double)((blocks + threads - 1) / threads);
    /* with a block each, a thread that wakes late leaves another to wait */
    double late = rounds > 1 ? 1 : 1.01;
    return rounds * late * (m * n + 32 * (m + n));
}

static void choose_grid(grid *d)
{
    const td_gemm *g = d->whole;
    int threads = td_num_threads();
    grid best = *d, tried = *d;
    double least_cost = INFINITY;
    for (int64_t down = 1; down < 4 * threads; down++)
        for (int64_t across = 1; down * across < 4 * threads; across++) {
            if (down > 1 && g->way == TD_GEMM_DIRECT) continue;
            tried.row_step = step_for(g->m, down, d->kernel->mr);
            tried.col_step = step_for(g->n, across, d->kernel->nr);
            double cost = grid_cost(&tried, threads);
            if (cost < least_cost) best = tried, least_cost = cost;
        }
    best.cols = pieces(g->n, best.col_step);
    *d = best;
}

/* What the neediest block of the grid wants. A smaller block may want more: it is cut and packed in
 * another way. All blocks of a grid have one of four sizes, that of its first or last row by that
 * of its first or last column. */
static int64_t grid_work(const grid *d)
{
    const td_gemm *g = d->whole;
    int64_t rows[2] = {least(d->row_step, g->m), (g->m - 1) % d->row_step + 1};
    int64_t cols[2] = {least(d->col_step, g->n), (g->n - 1) % d->col_step + 1};
    int64_t most = 0;
    for (int i = 0; i < 4; i++) {
        td_gemm block = block_of(d, 0, 0, rows[i / 2], cols[i % 2]);
        int64_t bytes = d->kernel->work(&block);
        if (bytes > most) most = bytes;
    }
    return most;
}

static td_status run_parallel(const td_gemm_kernel *kernel, const td_gemm *g, int64_t item,
                              int64_t factor_item)
{
    grid d = {.whole = g, .kernel = kernel, .item = item, .factor_item = factor_item};
    choose_grid(&d);
    TD_TRY(td_scratch_begin(&d.scratch, grid_work(&d)));
    td_parallel(pieces(g->m, d.row_step) * d.cols, 1, run_blocks, &d);
    td_scratch_end(&d.scratch);
    return TD_OK;
}

static td_status run_serial(const td_gemm_kernel *kernel, const td_gemm *g)
{
    int64_t bytes = kernel->work(g);
    void *work = bytes ? td_alloc(bytes) : NULL;
    if (bytes && !work)
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of work space", (long long)bytes);
    kernel->run(g, work);
    if (bytes) td_free(work, bytes);
    return TD_OK;
}

static td_status run_kernel(const td_gemm_kernel *kernel, td_gemm *g, int64_t item,
                            int64_t factor_item)
{
    if (g->m == 0 || g->n == 0) return TD_OK;
    g->way = kernel->plan(g);
    if (td_num_threads() == 1 || td_in_parallel() || td_gemm_cost(g->m, g->n, g->k) < PARALLEL_NS)
        return run_serial(kernel, g);
    return run_parallel(kernel, g, item, factor_item);
}

td_status td_gemm_run(int is_double, td_gemm *g)
{
    int64_t item = is_double ? 8 : 4;
    return run_kernel(td_gemm_kernel_of(is_double), g, item, item);
}

const td_gemm_kernel *td_gemm_bf16(void)
{
    return td_has_tiles() ? TD_PICK(td_gemm_bf16_tiles) : TD_PICK(td_gemm_bf16);
}

td_status td_gemm_run_bf16(td_gemm *g) { return run_kernel(td_gemm_bf16(), g, 4, 2); }

bool td_multiplies_bf16(void)
{
#ifdef __x86_64__
    return TD_PICK(td_gemm_bf16)->run && __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

/* ---- one product of any dtype ---- */
static bool is_real(td_dtype d) { return d == TD_F32 || d == TD_F64; }

static bool is_zero(const td_scalar *s)
{
    return s->kind <= TD_S_INT ? s->i == 0 : s->re == 0 && s->im == 0;
}
static bool is_one(const td_scalar *s)
{
    return s->kind <= TD_S_INT ? s->i == 1 : s->re == 1 && s->im == 0;
}

typedef struct one { /* a single product of a batch */
    const td_product *p;
    const char *a, *b;
    char *c;
} one;

static int64_t factor_item(const td_product *p) { return p->narrow ? 2 : td_itemsize(p->dtype); }

static const td_gemm_kernel *kernel_for(const td_product *p)
{
    return p->narrow ? td_gemm_bf16() : td_gemm_kernel_of(p->dtype == TD_F64);
}

static void scale_rows(const td_product *p, char *c)
{
    double beta = p->beta.re;
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++)
            if (p->dtype == TD_F32) ((float *)c)[i * p->c_row + j] *= (float)beta;
            else ((double *)c)[i * p->c_row + j] *= beta;
}

/* The same product as a call of the float kernels. With one column, and A stored by columns, the
 * transposed product reads A by rows. */
static td_gemm real_gemm(const one *o)
{
    const td_product *p = o->p;
    td_gemm g = {.m = p->m,
                 .n = p->n,
                 .k = is_zero(&p->alpha) ? 0 : p->k,
                 .c = o->c,
                 .c_row = p->c_row,
                 .alpha = p->alpha.re,
                 .add = !is_zero(&p->beta),
                 .col_bias = p->col_bias};
    bool turn =
        p->n == 1 && p->m > 1 && p->a_row == 1 && p->a_col != 1 && p->c_row == 1 && !p->col_bias;
    g.a = turn ? o->b : o->a;
    g.b = turn ? o->a : o->b;
    g.a_row = turn ? p->b_col : p->a_row;
    g.a_col = turn ? p->b_row : p->a_col;
    g.b_row = turn ? p->a_col : p->b_row;
    g.b_col = turn ? p->a_row : p->b_col;
    if (turn) {
        g.m = 1;
        g.n = p->m;
        g.c_row = p->m;
    }
    return g;
}

static td_any_gemm any_gemm(const one *o)
{
    const td_product *p = o->p;
    td_any_gemm g = {p->m,     p->n,     is_zero(&p->alpha) ? 0 : p->k,
                     o->a,     o->b,     o->c,
                     p->a_row, p->a_col, p->b_row,
                     p->b_col, p->c_row, {0},
                     {0}};
    td_scalar_store(&p->alpha, p->dtype, g.alpha);
    td_scalar_store(&p->beta, p->dtype, g.beta);
    return g;
}

/* ---- large products through a BLAS ---- */
typedef struct blas_job {
    const one *o;
    int64_t row_step, col_step, cols;
    char ta, tb;
    int64_t lda, ldb;
} blas_job;

/* 'N' for row-major, 'T' for column-major, 0 if a BLAS cannot read it */
static char blas_form(int64_t row, int64_t col, int64_t rows, int64_t cols, int64_t *ld)
{
    if (col == 1 && row >= (cols > 1 ? cols : 1)) {
        *ld = row;
        return 'N';
    }
    *ld = col;
    return row == 1 && col >= (rows > 1 ? rows : 1) ? 'T' : 0;
}

/* A BLAS counts by columns: C^T = B^T A^T. */
static void blas_block(const blas_job *j, int64_t row, int64_t col, int64_t m, int64_t n)
{
    const td_product *p = j->o->p;
    int64_t item = td_itemsize(p->dtype);
    const void *a = j->o->a + row * p->a_row * item, *b = j->o->b + col * p->b_col * item;
    void *c = j->o->c + (row * p->c_row + col) * item;
    double complex alpha = p->alpha.re + p->alpha.im * I, beta = p->beta.re + p->beta.im * I;
    if (p->dtype == TD_F32)
        td_blas_sgemm(j->tb, j->ta, n, m, p->k, (float)p->alpha.re, b, j->ldb, a, j->lda,
                      (float)p->beta.re, c, p->c_row);
    else if (p->dtype == TD_F64)
        td_blas_dgemm(j->tb, j->ta, n, m, p->k, p->alpha.re, b, j->ldb, a, j->lda, p->beta.re, c,
                      p->c_row);
    else if (p->dtype == TD_C64)
        td_blas_cgemm(j->tb, j->ta, n, m, p->k, (float complex)alpha, b, j->ldb, a, j->lda,
                      (float complex)beta, c, p->c_row);
    else td_blas_zgemm(j->tb, j->ta, n, m, p->k, alpha, b, j->ldb, a, j->lda, beta, c, p->c_row);
}

static void run_blas(void *context, int64_t begin, int64_t end)
{
    blas_job *j = context;
    const td_product *p = j->o->p;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = i / j->cols * j->row_step, col = i % j->cols * j->col_step;
        blas_block(j, row, col, least(j->row_step, p->m - row), least(j->col_step, p->n - col));
    }
}

static bool blas_wants(const one *o, blas_job *j)
{
    const td_product *p = o->p;
    double flops = flops_of(p->m, p->n, p->k) * (td_is_complex(p->dtype) ? 64
                                                 : p->dtype == TD_F64    ? 8
                                                                         : 1);
    if (p->narrow || flops < BLAS_FLOPS || least(p->m, least(p->n, p->k)) < 64 || p->col_bias ||
        is_zero(&p->alpha))
        return false;
    j->ta = blas_form(p->a_row, p->a_col, p->m, p->k, &j->lda);
    j->tb = blas_form(p->b_row, p->b_col, p->k, p->n, &j->ldb);
    bool ours = is_real(p->dtype) && (td_batch_invariant || !td_blas_chosen());
    if (!j->ta || !j->tb || ours || !(is_real(p->dtype) || td_blas_load())) return false;
    int64_t largest = p->m > p->n ? p->m : p->n;
    largest = largest > p->k ? largest : p->k;
    largest = largest > p->c_row ? largest : p->c_row;
    largest = largest > j->lda ? largest : j->lda;
    return td_blas_fits(largest > j->ldb ? largest : j->ldb);
}

/* The blocks depend on the sizes only, so that the result does not depend on the number of threads.
 */
static void blas_run(blas_job *j)
{
    const td_product *p = j->o->p;
    j->row_step = step_for(p->m, p->m > 2048 ? pieces(p->m, 1024) : 2, 48);
    j->col_step = step_for(p->n, p->n > 4096 ? pieces(p->n, 2048) : 2, 48);
    j->cols = (p->n + j->col_step - 1) / j->col_step;
    td_blas_parallel((p->m + j->row_step - 1) / j->row_step * j->cols, 1, run_blas, j);
}

/* ---- sums in float32 that become bfloat16 ---- */
typedef struct rounding {
    const td_product *p;
    const float *sums; /* rows of p->n */
    char *c;
} rounding;

static void round_rows(void *context, int64_t begin, int64_t end)
{
    const rounding *r = context;
    const td_product *p = r->p;
    td_loop loop = TD_PICK(td_convert_kernels)->real[TD_BF16][TD_F32];
    bool dense = p->c_row == p->n;
    int64_t rows = dense ? 1 : end - begin, n = dense ? (end - begin) * p->n : p->n;
    for (int64_t i = begin; i < begin + rows; i++) {
        char *data[] = {r->c + i * p->c_row * 2, (char *)(r->sums + i * p->n)};
        loop(data, (const int64_t[]){2, 4}, n, NULL);
    }
}

static int64_t sums_bytes(const td_product *p) { return (p->m * p->n * 4 + 63) / 64 * 64; }

static bool makes_bf16(const one *o)
{
    const td_gemm_kernel *kernel = kernel_for(o->p);
    td_gemm g = real_gemm(o);
    return kernel->fits && kernel->fits(&g);
}

static td_status run_one(const one *o);

static td_status run_rounded(const one *o)
{
    td_product p = *o->p;
    int64_t bytes = sums_bytes(&p);
    float *sums = td_alloc(bytes);
    if (!sums)
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of sums", (long long)bytes);
    rounding r = {o->p, sums, o->c};
    one inner = {&p, o->a, o->b, (char *)sums};
    p.rounds = false;
    p.c_row = p.n;
    td_status status = run_one(&inner);
    if (status == TD_OK) td_parallel(p.m, 1 + (1 << 15) / p.n, round_rows, &r);
    td_free(sums, bytes);
    return status;
}

static td_status run_one(const one *o)
{
    if (o->p->rounds && !makes_bf16(o)) return run_rounded(o);
    blas_job job = {.o = o};
    const td_product *p = o->p;
    if (td_is_floating(p->dtype) || td_is_complex(p->dtype))
        if (blas_wants(o, &job)) {
            blas_run(&job);
            return TD_OK;
        }
    if (!is_real(p->dtype)) {
        td_any_gemm g = any_gemm(o);
        return td_any_run(p->dtype, &g);
    }
    if (!is_zero(&p->beta) && !is_one(&p->beta)) scale_rows(p, o->c);
    td_gemm g = real_gemm(o);
    g.rounds = p->rounds;
    return run_kernel(kernel_for(p), &g, p->rounds ? 2 : td_itemsize(p->dtype), factor_item(p));
}

/* ---- batches ---- */
typedef struct batch {
    const td_product *p;
    const td_gemm_kernel *kernel; /* float and double, else NULL */
    td_gemm like;                 /* float and double: any of the products */
    int64_t sums;                 /* bytes of float32 that become bfloat16; 0: C is made as it is */
    td_scratch scratch;
} batch;

static one item_of(const td_product *p, int64_t index)
{
    int64_t a = 0, b = 0, c = 0, factors = factor_item(p);
    int64_t item = p->rounds ? 2 : td_itemsize(p->dtype);
    for (int d = p->batch_dims - 1; d >= 0; d--) {
        int64_t at = index % p->batch[d];
        index /= p->batch[d];
        a += at * p->a_batch[d];
        b += at * p->b_batch[d];
        c += at * p->c_batch[d];
    }
    return (one){p, p->a + a * factors, p->b + b * factors, p->c + c * item};
}

static void run_items(void *context, int64_t begin, int64_t end)
{
    batch *t = context;
    const td_product *p = t->p;
    void *work = td_scratch_take(&t->scratch);
    td_gemm g = t->like;
    char *sums = work;
    for (int64_t i = begin; i < end; i++) {
        one o = item_of(p, i);
        rounding r = {p, (float *)sums, o.c};
        if (g.add && !is_one(&p->beta)) scale_rows(p, o.c);
        g.a = t->like.a == p->a ? o.a : o.b;
        g.b = t->like.a == p->a ? o.b : o.a;
        g.c = t->sums ? sums : o.c;
        t->kernel->run(&g, sums + t->sums);
        if (t->sums) round_rows(&r, 0, p->m);
    }
    td_scratch_give(&t->scratch, work);
}

static td_status run_batch(const td_product *p, int64_t count)
{
    one first = {p, p->a, p->b, p->c};
    batch t = {p, kernel_for(p), real_gemm(&first), 0, {0}};
    t.like.rounds = p->rounds && makes_bf16(&first);
    t.sums = p->rounds && !t.like.rounds ? sums_bytes(p) : 0;
    if (t.sums && t.like.c_row == p->c_row) t.like.c_row = p->n;
    t.like.way = t.kernel->plan(&t.like);
    double each = td_gemm_cost(p->m, p->n, p->k);
    TD_TRY(td_scratch_begin(&t.scratch, t.sums + t.kernel->work(&t.like)));
    double grain = ceil(PARALLEL_NS / 4 / each);
    td_parallel(count, grain < 1 ? 1 : (int64_t)grain, run_items, &t);
    td_scratch_end(&t.scratch);
    return TD_OK;
}

td_status td_cpu_product(const td_product *p, td_device device) { return td_product_run(p); }

td_status td_product_run(const td_product *p)
{
    int64_t count = 1;
    for (int d = 0; d < p->batch_dims; d++) count *= p->batch[d];
    if (count == 0 || p->m == 0 || p->n == 0) return TD_OK;
    bool many = count >= 2 * td_num_threads() || td_gemm_cost(p->m, p->n, p->k) < PARALLEL_NS;
    if (is_real(p->dtype) && count > 1 && many && flops_of(p->m, p->n, p->k) < BLAS_FLOPS)
        return run_batch(p, count);
    for (int64_t i = 0; i < count; i++) {
        one o = item_of(p, i);
        TD_TRY(run_one(&o));
    }
    return TD_OK;
}
