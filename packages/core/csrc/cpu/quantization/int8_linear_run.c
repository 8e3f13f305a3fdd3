/* int8_linear_run.c - linear layers of integers. A task is a block of rows of x and some panels:
 * many rows are shared out by blocks, few by panels. */
#include <string.h>
#include "cpu/quantization/int8_prepare_run.h"
#include "cpu/quantization/int8_panels_run.h"
#include "cpu/quantization/steps_run.h"
#include "runtime/alloc.h"
#include "runtime/pool.h"

#define NEAR (1 << 17)   /* bytes of x that stay in a cache while panels go by */
#define SERIAL (1 << 20) /* multiplications below which waking a thread costs more */

typedef struct job {
    td_int8_product p;
    td_int8_rows r;
    int64_t block, blocks, panels, step, parts; /* rows and panels of a task, and their number */
} job;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void run_tasks(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    int64_t size = j->p.to_bytes ? 1 : sizeof(float);
    for (int64_t i = begin; i < end; i++) {
        int64_t row = i / j->parts * j->block, panel = i % j->parts * j->step;
        td_int8_rows r = j->r;
        r.m = least(j->r.m - row, j->block);
        r.x += row * r.row;
        r.out = (char *)r.out + row * r.out_row * size;
        if (r.sums) r.sums += row;
        td_int8_kernels_of_panels()->run(&j->p, &r, panel, least(panel + j->step, j->panels));
    }
}

static void multiply(const td_int8_product *p, const td_int8_rows *r)
{
    double cost = (double)r->m * (double)p->n * (double)p->words * TD_WORD;
    int threads = cost < SERIAL ? 1 : td_num_threads();
    job j = {.p = *p, .r = *r, .panels = (p->n + TD_PANEL - 1) / TD_PANEL};
    int64_t block = NEAR / r->row / 8 * 8;
    j.block = block < 8 ? 8 : block;
    j.blocks = (r->m + j.block - 1) / j.block;
    int64_t parts = j.blocks >= 4 * threads ? 1 : threads == 1 ? 1 : 2 * threads;
    j.step = (j.panels + parts - 1) / parts;
    j.step += j.step % 2; /* panels go in twos where vectors are wide */
    j.parts = (j.panels + j.step - 1) / j.step;
    void *token = td_heavy_begin(cost / 60);
    td_parallel(j.blocks * j.parts, threads == 1 ? j.blocks * j.parts : 1, run_tasks, &j);
    td_heavy_end(token);
}

/* rows of u8 at multiples of 4 bytes, and their sums where they are asked for */
static td_status run(const td_int8_matrix *w, const td_int8_numbers *x, const uint8_t *rows,
                     int64_t m, int64_t row, const td_int8_results *out)
{
    td_int8_prepared p;
    td_int8_numbers seen = {(void *)rows, 0, 0, false};
    int64_t bytes = w->zeros ? m * (int64_t)sizeof(int32_t) : 0;
    int32_t *sums = NULL;
    TD_TRY(td_int8_prepare(&p, w, x, td_int8_narrow(&seen, m * row), out));
    if (bytes) {
        sums = td_alloc(bytes);
        if (!sums) {
            td_int8_prepare_end(&p);
            return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of work space",
                           (long long)bytes);
        }
        td_int8_row_sums(rows, m, row, w->k, p.zero, sums);
    }
    td_int8_rows r = {rows, m, row, sums, out->to.data, w->n};
    multiply(&p.first, &r);
    td_free(sums, bytes);
    td_int8_prepare_end(&p);
    return TD_OK;
}

/* Memory for rows of x at multiples of 4 bytes; what is behind their numbers is 0. */
static td_status make_rows(uint8_t **rows, int64_t m, int64_t k, int64_t *row)
{
    *row = (k + TD_WORD - 1) / TD_WORD * TD_WORD;
    *rows = td_alloc(m * *row);
    if (!*rows)
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of work space",
                       (long long)(m * *row));
    for (int64_t i = 0; i < m && *row > k; i++) memset(*rows + i * *row + k, 0, (size_t)(*row - k));
    return TD_OK;
}

td_status td_int8_linear(const td_int8_matrix *w, const td_int8_numbers *x, int64_t m,
                         const td_int8_results *out)
{
    uint8_t *rows;
    int64_t row;
    if (!x->with_sign && w->k % TD_WORD == 0) return run(w, x, x->data, m, w->k, out);
    TD_TRY(make_rows(&rows, m, w->k, &row));
    for (int64_t i = 0; i < m; i++)
        td_int8_copy(rows + i * row, (const uint8_t *)x->data + i * w->k, w->k, x->with_sign);
    td_status status = run(w, x, rows, m, row, out);
    td_free(rows, m * row);
    return status;
}

td_status td_int8_linear_floats(const td_int8_matrix *w, const float *x, float scale, int64_t zero,
                                int64_t m, const td_int8_results *out)
{
    uint8_t *rows;
    int64_t row;
    td_steps steps = td_steps_of(scale, zero, false);
    td_int8_numbers numbers = {NULL, scale, zero, false};
    TD_TRY(make_rows(&rows, m, w->k, &row));
    td_steps_quantize_rows(&steps, x, m, w->k, rows, row);
    td_status status = run(w, &numbers, rows, m, row, out);
    td_free(rows, m * row);
    return status;
}
