/* fft_run.c - which lines go together into the lanes of a kernel call, and who computes them.
 *
 * Work memory is taken before the loops, a block a thread. `line` is what the lines in flight need, `work` is what one call
 * of the kernel needs; a loop inside another one's body runs serially, so a thread holds one of each at most. */
#include "ops/fft_run.h"
#include <string.h>
#include "ops/scratch.h"

#define POINT_NS 1.5
#define GRAIN_POINTS 8192
#define SHORT_LINE 128 /* points up to which a line is not worth folding, when there are others */

typedef struct lines {
    const td_fft_kernel *kernel;
    const td_fft_job *job;
    td_scratch line, work;
    int64_t item;            /* bytes of a real number */
    int64_t in_row, out_row; /* bytes of a line */
    int64_t together;        /* lines of one kernel call */
} lines;

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t grain_of(int64_t points) { return points < GRAIN_POINTS ? GRAIN_POINTS / larger(points, 1) : 1; }

/* ---- how much memory ---- */

static int64_t folded_bytes(const td_fft_plan *p)
{
    int64_t lanes = td_fft_kernel_of(p)->lanes;
    if (!p->rows) return 0;
    return (p->columns->n + lanes - 1) / lanes * lanes * p->rows->n * 2 * td_fft_itemsize(p);
}

static int64_t work_bytes(const td_fft_plan *p)
{
    int64_t points = p->whole ? p->whole->n : 0;
    if (p->wide) return work_bytes(p->wide);
    if (p->rows) points = larger(points, larger(p->columns->n, p->rows->n));
    return 2 * points * 2 * td_fft_kernel_of(p)->lanes * td_fft_itemsize(p);
}

static int64_t line_bytes(const td_fft_plan *p)
{
    return p->wide ? p->wide->n * 2 * td_fft_itemsize(p) + line_bytes(p->wide) : folded_bytes(p);
}

/* ---- lanes ---- */

/* Split memory that a last pass writes: the half that the pass before did not. */
static td_fft_end result_end(const td_fft_kernel *k, const td_fft_stages *s, void *work, int64_t item)
{
    int64_t half = (s->count - 1) % 2 * s->n * 2 * k->lanes * item;
    return (td_fft_end){(char *)work + half, 2 * k->lanes, false, 1, 1};
}

/* Lines from any end to any end; those that do not fill the lanes by way of split memory. */
static void through(const td_fft_kernel *k, const td_fft_stages *s, const td_fft_end *in, const td_fft_end *out, int64_t lanes,
                    void *work, int64_t item)
{
    bool part = lanes < k->lanes;
    td_fft_end first = {(char *)work + s->n * 2 * k->lanes * item, 2 * k->lanes, false, 1, 1}, last = result_end(k, s, work, item);
    if (part && in->pairs) k->load(first.data, in, s->n, lanes);
    k->stages(s, part && in->pairs ? &first : in, part && out->pairs ? &last : out, work);
    if (part && out->pairs) k->store(last.data, out, s->n, lanes);
}

static void in_lanes(const lines *l, const td_fft_plan *p, const td_fft_rows *in, const td_fft_rows *out)
{
    void *work = td_scratch_take(&l->work);
    const td_fft_stages *s = p->whole;
    td_fft_end first = {(char *)work + s->n * 2 * l->kernel->lanes * l->item, 2 * l->kernel->lanes, false, 1, 1};
    td_fft_end last = result_end(l->kernel, s, work, l->item);
    l->kernel->gather(first.data, in, s->n);
    l->kernel->stages(s, &first, &last, work);
    l->kernel->scatter(last.data, out, s->n);
    td_scratch_give(&l->work, work);
}

/* ---- folded ---- */

typedef struct folded {
    const lines *l;
    const td_fft_plan *plan;
    const char *in;
    char *out, *u;
    double sign, re, im;
} folded;

static void fold_columns(void *context, int64_t begin, int64_t end)
{
    const folded *f = context;
    const td_fft_kernel *k = f->l->kernel;
    int64_t n1 = f->plan->columns->n, n2 = f->plan->rows->n, item = f->l->item;
    void *work = td_scratch_take(&f->l->work);
    for (int64_t b = begin; b < end; b++) {
        int64_t column = b * k->lanes, lanes = n2 - column < k->lanes ? n2 - column : k->lanes;
        td_fft_end in = {(char *)f->in + column * 2 * item, 2 * n2, true, 1, f->sign};
        td_fft_end out = result_end(k, f->plan->columns, work, item);
        through(k, f->plan->columns, &in, &out, lanes, work, item);
        k->turn(out.data, f->plan->fine, (char *)f->plan->coarse + b * n1 * 2 * item, n1, f->u, n2, column, lanes);
    }
    td_scratch_give(&f->l->work, work);
}

static void fold_rows(void *context, int64_t begin, int64_t end)
{
    const folded *f = context;
    const td_fft_kernel *k = f->l->kernel;
    int64_t n1 = f->plan->columns->n, n2 = f->plan->rows->n, item = f->l->item;
    void *work = td_scratch_take(&f->l->work);
    for (int64_t b = begin; b < end; b++) {
        int64_t first = b * k->lanes, lanes = n1 - first < k->lanes ? n1 - first : k->lanes;
        td_fft_end in = {f->u + first * n2 * 2 * item, 2 * k->lanes, false, 1, 1};
        td_fft_end out = {f->out + first * 2 * item, 2 * n1, true, f->re, f->im};
        through(k, f->plan->rows, &in, &out, lanes, work, item);
    }
    td_scratch_give(&f->l->work, work);
}

static void fold_line(const lines *l, const td_fft_plan *p, const td_fft_rows *in, const td_fft_rows *out, void *u)
{
    folded f = {l, p, in->data, out->data, u, in->im, out->re, out->im};
    int64_t n1 = p->columns->n, n2 = p->rows->n, lanes = l->kernel->lanes;
    td_parallel((n2 + lanes - 1) / lanes, grain_of(n1 * lanes), fold_columns, &f);
    td_parallel((n1 + lanes - 1) / lanes, grain_of(n2 * lanes), fold_rows, &f);
}

/* ---- chirp ---- */

static void complex_line(const lines *l, const td_fft_plan *p, const td_fft_rows *in, const td_fft_rows *out, char *line)
{
    if (!p->wide) {
        if (p->rows) fold_line(l, p, in, out, line);
        else in_lanes(l, p, in, out);
        return;
    }
    int64_t m = p->wide->n, n = p->n, bytes = 2 * l->item;
    td_fft_rows wide = {line, 0, 1, 1, 1};
    l->kernel->multiply(line, in->data, p->chirp, n, in->im, 1, 1);
    memset(line + n * bytes, 0, (size_t)((m - n) * bytes));
    complex_line(l, p->wide, &wide, &wide, line + m * bytes);
    l->kernel->multiply(line, line, p->spectrum, m, 1, 1, -1); /* and back, by the conjugate */
    complex_line(l, p->wide, &wide, &wide, line + m * bytes);
    l->kernel->multiply(out->data, line, p->chirp, n, -1, out->re, out->im);
}

/* ---- lines of a job ---- */

static void complex_lines(const lines *l, td_fft_rows in, td_fft_rows out, char *line)
{
    const td_fft_plan *p = l->job->plan;
    if (l->together > 1) {
        in_lanes(l, p, &in, &out);
        return;
    }
    for (int64_t i = 0; i < in.count; i++) {
        complex_line(l, p, &in, &out, line);
        in.data = (char *)in.data + in.stride * l->item;
        out.data = (char *)out.data + out.stride * l->item;
    }
}

static void real_to_complex(const lines *l, const char *in, char *out, int64_t count, char *line)
{
    const td_fft_job *j = l->job;
    const td_fft_plan *p = j->plan;
    int64_t in_stride = l->in_row / l->item, out_stride = l->out_row / l->item;
    td_fft_rows from = {(void *)in, in_stride, count, 1, 1}, to = {out, out_stride, count, j->scale, j->scale};
    if (j->points % 2) { /* as complex lines, in work memory, of which a half is kept */
        for (int64_t i = 0; i < count; i++)
            l->kernel->widen(line + i * j->points * 2 * l->item, in + i * l->in_row, j->points);
        from = (td_fft_rows){line, 2 * j->points, count, 1, 1}, to = from;
        to.re = to.im = j->scale;
        complex_lines(l, from, to, line + count * j->points * 2 * l->item);
        for (int64_t i = 0; i < count; i++) memcpy(out + i * l->out_row, line + i * j->points * 2 * l->item, (size_t)l->out_row);
        return;
    }
    complex_lines(l, from, to, line);
    for (int64_t i = 0; i < count; i++, out += l->out_row) {
        l->kernel->unfold(out, p->n, p->half_fine, p->half_coarse);
        if (j->whole) l->kernel->mirror(out, j->points);
    }
}

static void complex_to_real(const lines *l, const char *in, char *out, int64_t count, char *line)
{
    const td_fft_job *j = l->job;
    const td_fft_plan *p = j->plan;
    int64_t out_stride = l->out_row / l->item, each = j->points * 2 * l->item;
    if (j->points % 2) {
        for (int64_t i = 0; i < count; i++) {
            memcpy(line + i * each, in + i * l->in_row, (size_t)l->in_row);
            memset(line + i * each + l->item, 0, (size_t)l->item); /* the sum of real points is real */
            l->kernel->mirror(line + i * each, j->points);
        }
        td_fft_rows from = {line, 2 * j->points, count, 1, -1}, to = {line, 2 * j->points, count, j->scale, -j->scale};
        complex_lines(l, from, to, line + count * each);
        for (int64_t i = 0; i < count; i++) l->kernel->narrow(out + i * l->out_row, line + i * each, j->points);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        l->kernel->fold(out + i * l->out_row, in + i * l->in_row, p->n, p->half_fine, p->half_coarse);
    complex_lines(l, (td_fft_rows){out, out_stride, count, 1, -1}, (td_fft_rows){out, out_stride, count, j->scale, -j->scale}, line);
}

static void run_lines(void *context, int64_t begin, int64_t end)
{
    const lines *l = context;
    const td_fft_job *j = l->job;
    char *line = td_scratch_take(&l->line);
    for (int64_t b = begin; b < end; b++) {
        int64_t first = b * l->together, left = j->count - first, count = left < l->together ? left : l->together;
        const char *in = (const char *)j->in + first * l->in_row;
        char *out = (char *)j->out + first * l->out_row;
        if (j->kind == TD_FFT_R2C) real_to_complex(l, in, out, count, line);
        else if (j->kind == TD_FFT_C2R) complex_to_real(l, in, out, count, line);
        else
            complex_lines(l, (td_fft_rows){(void *)in, l->in_row / l->item, count, 1, j->sign},
                          (td_fft_rows){out, l->out_row / l->item, count, j->scale, j->scale * j->sign}, line);
    }
    td_scratch_give(&l->line, line);
}

/* Short lines go together where there are enough of them to be worth a vector. */
static int64_t lines_together(const td_fft_plan *p, int64_t count)
{
    int64_t lanes = td_fft_kernel_of(p)->lanes;
    return p->whole && (!p->rows || (p->n <= SHORT_LINE && 2 * count >= lanes)) ? lanes : 1;
}

/* Lines are divided among the threads, unless there are few and long ones. */
td_status td_fft_run(const td_fft_job *j)
{
    lines l = {td_fft_kernel_of(j->plan), j, .item = td_fft_itemsize(j->plan)};
    int64_t half = (j->whole ? j->points : j->points / 2 + 1) * 2 * l.item, real = j->points * l.item;
    l.in_row = j->kind == TD_FFT_C2C ? 2 * real : j->kind == TD_FFT_R2C ? real : half;
    l.out_row = j->kind == TD_FFT_C2C ? 2 * real : j->kind == TD_FFT_R2C ? half : real;
    l.together = lines_together(j->plan, j->count);
    int64_t blocks = (j->count + l.together - 1) / l.together, grain = grain_of(j->points * l.together);
    bool apart = blocks / grain >= td_num_threads() || j->points < GRAIN_POINTS;
    int threads = td_in_parallel() ? 1 : td_num_threads();
    int64_t odd = j->kind != TD_FFT_C2C && j->points % 2 ? l.together * j->points * 2 * l.item : 0;
    TD_TRY(td_scratch_begin_some(&l.line, apart ? threads : 1, line_bytes(j->plan) + odd + 64));
    td_status status = td_scratch_begin_some(&l.work, threads, work_bytes(j->plan));
    if (status == TD_OK) {
        void *token = td_heavy_begin((double)j->count * (double)j->points * POINT_NS);
        if (apart) td_parallel(blocks, grain, run_lines, &l);
        else run_lines(&l, 0, blocks);
        td_heavy_end(token);
        td_scratch_end(&l.work);
    }
    td_scratch_end(&l.line);
    return status;
}

/* ---- columns ---- */

typedef struct columns {
    const td_fft_plan *plan;
    const char *in;
    char *out;
    int64_t inner, blocks;
    double sign, re, im;
    td_scratch work;
} columns;

static void run_columns(void *context, int64_t begin, int64_t end)
{
    const columns *c = context;
    const td_fft_kernel *k = td_fft_kernel_of(c->plan);
    int64_t item = td_fft_itemsize(c->plan);
    void *work = td_scratch_take(&c->work);
    for (int64_t b = begin; b < end; b++) {
        int64_t first = b % c->blocks * k->lanes, lanes = c->inner - first < k->lanes ? c->inner - first : k->lanes;
        int64_t at = (b / c->blocks * c->plan->n * c->inner + first) * 2 * item;
        td_fft_end in = {(char *)c->in + at, 2 * c->inner, true, 1, c->sign};
        td_fft_end out = {c->out + at, 2 * c->inner, true, c->re, c->im};
        through(k, c->plan->whole, &in, &out, lanes, work, item);
    }
    td_scratch_give(&c->work, work);
}

td_status td_fft_columns(const td_fft_plan *plan, const void *in, void *out, int64_t outer, int64_t inner, int sign, double scale)
{
    int64_t lanes = td_fft_kernel_of(plan)->lanes, blocks = (inner + lanes - 1) / lanes;
    columns c = {plan, in, out, inner, blocks, sign, scale, scale * sign};
    TD_TRY(td_scratch_begin(&c.work, work_bytes(plan)));
    void *token = td_heavy_begin((double)outer * (double)plan->n * (double)inner * POINT_NS);
    td_parallel(outer * blocks, grain_of(plan->n * lanes), run_columns, &c);
    td_heavy_end(token);
    td_scratch_end(&c.work);
    return TD_OK;
}
