/* packed_run.c - few rows go through the packed kernels, which read the matrix once; many rows
 * multiply panels of it that became float32, or bfloat16 beside x in bfloat16 where the processor
 * multiplies that. A number of the result is one thread's. */
#include "cpu/quantization/packed_run.h"
#include "cpu/convert.h"
#include "cpu/matmul/gemm_run.h"
#include "runtime/pool.h"
#include "runtime/scratch.h"

#define FEW 16          /* rows of x that go through the packed kernels */
#define NEAR (1 << 18)  /* bytes of the matrix that stay in a cache while x has several rows */
#define GRAIN (1 << 17) /* numbers of the matrix for a thread, at least */
#define PANEL_NUMBERS (1 << 19) /* of float32 at a time */

static const td_packed_kernels *kernels(void) { return TD_PICK_QUADS(td_packed_kernels); }

static int64_t work_bytes(const td_packed *w)
{
    return TD_PACKED_WORK(w->pieces) * (int64_t)sizeof(float);
}

static int64_t grain(const td_packed *w) { return 1 + GRAIN / (w->pieces * TD_PIECE); }

/* ---- many rows ---- */

typedef struct expansion {
    const td_packed *w;
    float *to;
    int64_t first; /* row of the matrix that comes to `to` */
    td_scratch scratch;
} expansion;

static void expand_rows(void *context, int64_t begin, int64_t end)
{
    expansion *e = context;
    float *work = td_scratch_take(&e->scratch);
    kernels()->expand(e->w, e->to + begin * e->w->pieces * TD_PIECE, e->first + begin,
                      e->first + end, work);
    td_scratch_give(&e->scratch, work);
}

static td_status expand(const td_packed *w, float *to, int64_t first, int64_t rows)
{
    expansion e = {.w = w, .to = to, .first = first};
    TD_TRY(td_scratch_begin(&e.scratch, work_bytes(w)));
    void *token = td_heavy_begin((double)rows * (double)w->pieces * 8);
    td_parallel(rows, grain(w), expand_rows, &e);
    td_heavy_end(token);
    td_scratch_end(&e.scratch);
    return TD_OK;
}

td_status td_packed_expand(const td_packed *w, float *to) { return expand(w, to, 0, w->rows); }

typedef struct rounding {
    const float *from;
    uint16_t *to;
} rounding;

/* float32 as bfloat16 */
static void round_numbers(void *context, int64_t begin, int64_t end)
{
    const rounding *r = context;
    char *data[] = {(char *)r->to + begin * 2, (char *)r->from + begin * 4};
    TD_PICK(td_convert_kernels)->real[TD_BF16][TD_F32](data, (int64_t[]){2, 4}, end - begin, NULL);
}

/* x: float32, or bfloat16 where `narrow`, whose panels are bfloat16 as well */
static td_status by_panels(const td_packed *w, const void *x, bool narrow, int64_t m,
                           const float *bias, float *out)
{
    int64_t k = w->pieces * TD_PIECE, most = PANEL_NUMBERS / k > 16 ? PANEL_NUMBERS / k : 16;
    int64_t width = w->rows < most ? w->rows : most, numbers = width * k,
            bytes = numbers * (narrow ? 6 : 4);
    td_status status = TD_OK;
    float *panel = td_alloc(bytes);
    if (!panel)
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of work space", (long long)bytes);
    rounding r = {panel, (uint16_t *)(panel + numbers)};
    for (int64_t j = 0; j < w->rows && status == TD_OK; j += width) {
        td_product p = {.dtype = TD_F32,
                        .m = m,
                        .n = w->rows - j < width ? w->rows - j : width,
                        .k = k,
                        .a = (const char *)x,
                        .a_row = k,
                        .a_col = 1,
                        .b = narrow ? (const char *)r.to : (const char *)panel,
                        .narrow = narrow,
                        .b_row = 1,
                        .b_col = k,
                        .c = (char *)(out + j),
                        .c_row = w->rows,
                        .alpha = td_scalar_int(1),
                        .beta = td_scalar_int(0),
                        .col_bias = bias ? bias + j : NULL};
        status = expand(w, panel, j, p.n);
        if (narrow) td_parallel(p.n * k, 1 << 15, round_numbers, &r);
        if (status == TD_OK) status = td_product_run(&p);
    }
    td_free(panel, bytes);
    return status;
}

/* ---- few rows ---- */

typedef struct job {
    const td_packed *w;
    const float *bias;
    float *out;
    int64_t m;
    td_digits x[FEW];
    bool small[FEW];
    td_scratch scratch;
} job;

static void run_row(const job *j, int64_t i, int64_t begin, int64_t end, float *work)
{
    float *out = j->out + i * j->w->rows;
    kernels()->rows(j->w, &j->x[i], out, begin, end, work);
    for (int64_t n = begin; j->bias && n < end; n++) out[n] += j->bias[n];
}

static void run_rows(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    float *work = td_scratch_take(&j->scratch);
    int64_t step = 1 + NEAR / j->w->row_bytes;
    for (int64_t n = begin; n < end; n += step)
        for (int64_t i = 0; i < j->m; i++)
            if (j->small[i]) run_row(j, i, n, n + step < end ? n + step : end, work);
    td_scratch_give(&j->scratch, work);
}

/* memory for the digits of m rows of x */
static char *make_digits(job *j, const float *x, int64_t *bytes)
{
    int64_t pieces = TD_PIECES_UP(j->w->pieces), steps = pieces * (int64_t)sizeof(float),
            each = pieces * TD_DIGIT_BYTES + 2 * steps;
    *bytes = j->m * each;
    char *memory = td_alloc(*bytes);
    for (int64_t i = 0; memory && i < j->m; i++) {
        char *at = memory + i * each;
        j->x[i] = (td_digits){at, (float *)(at + pieces * TD_DIGIT_BYTES),
                              (float *)(at + pieces * TD_DIGIT_BYTES + steps)};
        j->small[i] = kernels()->digits(x + i * j->w->pieces * TD_PIECE, j->w->pieces, &j->x[i]);
    }
    return memory;
}

static td_status by_digits(const td_packed *w, const float *x, int64_t m, const float *bias,
                           float *out)
{
    job j = {.w = w, .bias = bias, .out = out, .m = m};
    int64_t bytes, k = w->pieces * TD_PIECE;
    TD_TRY(td_scratch_begin(&j.scratch, work_bytes(w)));
    char *memory = make_digits(&j, x, &bytes);
    td_status status = memory ? TD_OK
                              : td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of work space",
                                        (long long)bytes);
    if (memory) {
        void *token = td_heavy_begin((double)m * (double)w->rows * (double)w->pieces * 2);
        td_parallel(w->rows, grain(w), run_rows, &j);
        td_heavy_end(token);
        td_free(memory, bytes);
    }
    td_scratch_end(&j.scratch);
    /* infinity, NaN and what is near them have no integers */
    for (int64_t i = 0; i < m && status == TD_OK; i++)
        if (!j.small[i]) status = by_panels(w, x + i * k, false, 1, bias, out + i * w->rows);
    return status;
}

bool td_packed_takes_bf16(int64_t m)
{
    return m > FEW && !td_batch_invariant && td_multiplies_bf16();
}

td_status td_packed_times_bf16(const td_packed *w, const void *x, int64_t m, const float *bias,
                               float *out)
{
    return by_panels(w, x, true, m, bias, out);
}

td_status td_packed_times(const td_packed *w, const float *x, int64_t m, const float *bias,
                          float *out)
{
    int64_t k = w->pieces * TD_PIECE;
    if (m > FEW && !td_batch_invariant) return by_panels(w, x, false, m, bias, out);
    for (int64_t i = 0; i < m; i += FEW)
        TD_TRY(by_digits(w, x + i * k, m - i < FEW ? m - i : FEW, bias, out + i * w->rows));
    return TD_OK;
}
