/* int8_conv_run.c - convolutions of integers, channels last. The windows of some places at a time
 * become rows, which the panels multiply while they are near. */
#include <string.h>
#include "cpu/quantization/int8_prepare_run.h"
#include "cpu/quantization/int8_panels_run.h"
#include "runtime/pool.h"
#include "runtime/scratch.h"

#define NEAR (1 << 16)   /* bytes of windows that are gathered at a time */
#define MOST 128         /* of them, at most */
#define SERIAL (1 << 20) /* multiplications below which waking a thread costs more */

typedef struct job {
    const td_int8_prepared *p;
    const td_int8_windows *g;
    const uint8_t *x;
    bool with_sign, floats;
    char *out;
    int64_t k, row, groups, n; /* numbers of a window, bytes of its row; groups and channels */
    int64_t block, places;     /* windows of a task; of all samples */
    td_scratch scratch;
} job;

/* ---- one window ---- */

/* the channels of one row of places, `x` being its first; what is beside it is the zero point */
static void gather_line(const job *j, const uint8_t *x, int64_t at, uint8_t *to)
{
    const td_int8_windows *g = j->g;
    int64_t own = g->channels / j->groups;
    for (int64_t q = 0; q < g->kernel[2]; q++, to += own) {
        int64_t column = at + q * g->dilation[2];
        if (column < 0 || column >= g->in[2]) memset(to, (int)j->p->zero, (size_t)own);
        else td_int8_copy(to, x + column * g->channels, own, j->with_sign);
    }
}

/* the same where all places lie side by side within it */
static void copy_line(const job *j, const uint8_t *x, int64_t at, uint8_t *to)
{
    td_int8_copy(to, x + at * j->g->channels, j->g->kernel[2] * j->g->channels, j->with_sign);
}

static bool adjoins(const job *j, int64_t at)
{
    const td_int8_windows *g = j->g;
    return j->groups == 1 && g->dilation[2] == 1 && at >= 0 && at + g->kernel[2] <= g->in[2];
}

static void gather(const job *j, int64_t place, int64_t group, uint8_t *to)
{
    const td_int8_windows *g = j->g;
    td_int8_corner corner = td_int8_corner_of(g, place);
    int64_t own = g->channels / j->groups, bytes = g->kernel[2] * own;
    uint8_t *begin = to;
    for (int64_t a = 0; a < g->kernel[0]; a++)
        for (int64_t b = 0; b < g->kernel[1]; b++, to += bytes) {
            int64_t line = td_int8_line(g, &corner, a, b);
            if (line < 0) memset(to, (int)j->p->zero, (size_t)bytes);
            else if (adjoins(j, corner.x)) copy_line(j, j->x + line, corner.x, to);
            else gather_line(j, j->x + line + group * own, corner.x, to);
        }
    memset(to, 0, (size_t)(j->row - (to - begin)));
}

/* ---- some of them ---- */

static void run_group(const job *j, int64_t place, int64_t m, int64_t group, uint8_t *rows,
                      int32_t *sums)
{
    td_int8_product p = td_int8_of_group(j->p, group);
    int64_t size = j->floats ? sizeof(float) : 1, at = place * j->n + group * p.n;
    for (int64_t i = 0; i < m; i++) gather(j, place + i, group, rows + i * j->row);
    if (p.weight_zero) td_int8_row_sums(rows, m, j->row, j->k, j->p->zero, sums);
    td_int8_rows r = {rows, m, j->row, p.weight_zero ? sums : NULL, j->out + at * size, j->n};
    td_int8_kernels_of_panels()->run(&p, &r, 0, (p.n + TD_PANEL - 1) / TD_PANEL);
}

static void run_blocks(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    char *work = td_scratch_take(&j->scratch);
    uint8_t *rows = (uint8_t *)work + MOST * sizeof(int32_t);
    for (int64_t i = begin; i < end; i++) {
        int64_t place = i * j->block,
                m = j->places - place < j->block ? j->places - place : j->block;
        for (int64_t group = 0; group < j->groups; group++)
            run_group(j, place, m, group, rows, (int32_t *)work);
    }
    td_scratch_give(&j->scratch, work);
}

static int64_t product3(const int64_t n[3]) { return n[0] * n[1] * n[2]; }

static td_status run(job *j, double cost)
{
    int64_t block = NEAR / j->row / 8 * 8;
    j->block = block < 8 ? 8 : block > MOST ? MOST : block;
    int64_t blocks = (j->places + j->block - 1) / j->block;
    TD_TRY(td_scratch_begin(&j->scratch, j->block * j->row + MOST * (int64_t)sizeof(int32_t)));
    void *token = td_heavy_begin(cost / 60);
    td_parallel(blocks, cost < SERIAL ? blocks : 1, run_blocks, j);
    td_heavy_end(token);
    td_scratch_end(&j->scratch);
    return TD_OK;
}

td_status td_int8_conv(const td_int8_matrix *w, const td_int8_numbers *x, const td_int8_windows *g,
                       const td_int8_results *out)
{
    td_int8_prepared p;
    int64_t places = g->samples * product3(g->out),
            numbers = g->samples * product3(g->in) * g->channels;
    bool narrow = td_int8_narrow(x, numbers) && x->zero + (x->with_sign ? 128 : 0) <= 128;
    TD_TRY(td_int8_prepare(&p, w, x, narrow, out));
    job j = {.p = &p,
             .g = g,
             .x = x->data,
             .with_sign = x->with_sign,
             .floats = out->floats,
             .out = out->to.data,
             .k = w->k,
             .row = (w->k + TD_WORD - 1) / TD_WORD * TD_WORD,
             .groups = w->groups,
             .n = w->n,
             .places = places};
    td_status status = run(&j, (double)places * (double)w->n * (double)w->k);
    td_int8_prepare_end(&p);
    return status;
}
