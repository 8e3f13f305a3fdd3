/* int8_conv_run.c - convolutions of integers, channels last. The windows of some places at a time
 * become rows, which the panels multiply while they are near. Windows of one place, side by side,
 * are rows already. */
#include <string.h>
#include "cpu/quantization/int8_prepare_run.h"
#include "cpu/quantization/int8_panels_run.h"
#include "runtime/pool.h"
#include "runtime/scratch.h"

#define NEAR (1 << 16)   /* bytes of windows that are gathered at a time */
#define MOST 128         /* of them, at most */
#define SERIAL (1 << 20) /* multiplications below which waking a thread costs more */
#define LINE 64          /* bytes of a line of the cache: longer rows begin at one */
#define SHORT 256        /* bytes that are copied without a call */

typedef struct job {
    const td_int8_prepared *p;
    const td_int8_windows *g;
    const uint8_t *x;
    bool with_sign, floats;
    char *out;
    int64_t k, row, groups, n; /* numbers of a window, bytes of its row; groups and channels */
    bool rows;                 /* the input holds its windows as rows, which lie `row` apart */
    int64_t block, places;     /* windows of a task; of all samples */
    td_scratch scratch;
} job;

/* ---- one window ---- */

/* n bytes, of which there are few: a call would take longer than the copy */
static inline void copy_few(uint8_t *to, const uint8_t *from, int64_t n)
{
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) memcpy(to + i, from + i, 16);
    if (i == n) return;
    if (n >= 16) memcpy(to + n - 16, from + n - 16, 16);
    else if (n >= 8) memcpy(to, from, 8), memcpy(to + n - 8, from + n - 8, 8);
    else
        for (; i < n; i++) to[i] = from[i];
}

static inline void copy(const job *j, uint8_t *to, const uint8_t *from, int64_t n)
{
    if (!j->with_sign && n <= SHORT) copy_few(to, from, n);
    else td_int8_copy(to, from, n, j->with_sign);
}

/* the channels of one row of places, `x` being its first; what is beside it is the zero point */
static void gather_line(const job *j, const uint8_t *x, int64_t at, uint8_t *to)
{
    const td_int8_windows *g = j->g;
    int64_t own = g->channels / j->groups;
    for (int64_t q = 0; q < g->kernel[2]; q++, to += own) {
        int64_t column = at + q * g->dilation[2];
        if (column < 0 || column >= g->in[2]) memset(to, (int)j->p->zero, (size_t)own);
        else copy(j, to, x + column * g->channels, own);
    }
}

/* the same where all places lie side by side: some may be beyond its ends */
static void clip_line(const job *j, const uint8_t *x, int64_t at, uint8_t *to)
{
    const td_int8_windows *g = j->g;
    int64_t c = g->channels, n = g->kernel[2], end = at + n - g->in[2];
    int64_t before = at >= 0 ? 0 : -at < n ? -at : n, after = end <= 0 ? 0 : end < n ? end : n;
    if (before) memset(to, (int)j->p->zero, (size_t)(before * c));
    copy(j, to + before * c, x + (at + before) * c, (n - before - after) * c);
    if (after) memset(to + (n - after) * c, (int)j->p->zero, (size_t)(after * c));
}

/* ---- windows side by side ---- */

/* as many lines of n bytes, `apart` from each other, into rows */
static void copy_lines(const job *j, const uint8_t *x, int64_t apart, int64_t n, int64_t lines,
                       uint8_t *to)
{
    if (j->with_sign || n > SHORT)
        for (int64_t i = 0; i < lines; i++) copy(j, to + i * j->row, x + i * apart, n);
    else
        for (int64_t i = 0; i < lines; i++) copy_few(to + i * j->row, x + i * apart, n);
}

static int64_t within(int64_t i, int64_t most) { return i < 0 ? 0 : i < most ? i : most; }

/* one line of `count` windows: those at both ends may have places beyond it */
static void lines_of(const job *j, const uint8_t *x, int64_t at, int64_t count, uint8_t *to)
{
    const td_int8_windows *g = j->g;
    int64_t step = g->stride[2], last = g->in[2] - g->kernel[2] - at;
    int64_t first = within((step - 1 - at) / step, count);
    int64_t end = last < 0 ? first : within(last / step + 1, count);
    for (int64_t i = 0; i < first; i++) clip_line(j, x, at + i * step, to + i * j->row);
    if (end > first)
        copy_lines(j, x + (at + first * step) * g->channels, step * g->channels,
                   g->kernel[2] * g->channels, end - first, to + first * j->row);
    else end = first;
    for (int64_t i = end; i < count; i++) clip_line(j, x, at + i * step, to + i * j->row);
}

/* the taps (a, b, ...) of `count` windows that follow each other in a line of places */
static void gather_taps(const job *j, const td_int8_corner *corner, int64_t line, int64_t count,
                        int64_t group, uint8_t *to)
{
    const td_int8_windows *g = j->g;
    int64_t own = g->channels / j->groups;
    const uint8_t *x = j->x + (line < 0 ? 0 : line + group * own);
    if (line < 0)
        for (int64_t i = 0; i < count; i++)
            memset(to + i * j->row, (int)j->p->zero, (size_t)(g->kernel[2] * own));
    else if (j->groups == 1 && g->dilation[2] == 1) lines_of(j, x, corner->x, count, to);
    else
        for (int64_t i = 0; i < count; i++)
            gather_line(j, x, corner->x + i * g->stride[2], to + i * j->row);
}

static void gather(const job *j, const td_int8_window *window, int64_t count, int64_t group,
                   uint8_t *rows)
{
    const td_int8_windows *g = j->g;
    td_int8_corner corner = td_int8_corner_of(g, window);
    int64_t bytes = g->kernel[2] * (g->channels / j->groups), at = 0;
    for (int64_t a = 0; a < g->kernel[0]; a++)
        for (int64_t b = 0; b < g->kernel[1]; b++, at += bytes)
            gather_taps(j, &corner, td_int8_line(g, &corner, a, b), count, group, rows + at);
    for (; at % TD_WORD; at++)
        for (int64_t i = 0; i < count; i++) rows[i * j->row + at] = 0;
}

/* ---- some of them ---- */

static const uint8_t *gathered(const job *j, int64_t place, int64_t m, int64_t group, uint8_t *rows)
{
    if (j->rows) return j->x + place * j->row;
    for (int64_t i = 0, count; i < m; i += count) {
        td_int8_window at = td_int8_window_of(j->g, place + i);
        count = j->g->out[2] - at.x < m - i ? j->g->out[2] - at.x : m - i;
        gather(j, &at, count, group, rows + i * j->row);
    }
    return rows;
}

static void run_group(const job *j, int64_t place, int64_t m, int64_t group, uint8_t *room,
                      int32_t *sums)
{
    td_int8_product p = td_int8_of_group(j->p, group);
    int64_t size = j->floats ? sizeof(float) : 1, at = place * j->n + group * p.n;
    const uint8_t *rows = gathered(j, place, m, group, room);
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

static int64_t up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* each window is one place of the input, and all follow each other as places do */
static bool are_rows(const td_int8_windows *g, int64_t k, int64_t groups, bool with_sign)
{
    bool same = true;
    for (int i = 0; i < 3; i++)
        same = same && g->kernel[i] == 1 && g->stride[i] == 1 && g->padding[i] == 0;
    return same && groups == 1 && k % TD_WORD == 0 && !with_sign;
}

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
    bool rows = are_rows(g, w->k, w->groups, x->with_sign);
    int64_t row = up(w->k, TD_WORD);
    job j = {.p = &p,
             .g = g,
             .rows = rows,
             .x = x->data,
             .with_sign = x->with_sign,
             .floats = out->floats,
             .out = out->to.data,
             .k = w->k,
             .row = rows || row < LINE ? row : up(row, LINE),
             .groups = w->groups,
             .n = w->n,
             .places = places};
    td_status status = run(&j, (double)places * (double)w->n * (double)w->k);
    td_int8_prepare_end(&p);
    return status;
}
