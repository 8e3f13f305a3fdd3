/* fft_run.c - which lines go together into the lanes of a kernel call, and who computes them.
 *
 * Either the lines are divided among the threads, or, where there are few and long ones, the parts
 * of each. Work memory is taken before the loops, a block a thread. */
#include "cpu/fft/fft_run.h"
#include <string.h>
#include "runtime/scratch.h"

#define POINT_NS 1.5
#define GRAIN_POINTS 8192
#define NEAR_BYTES (1 << 21) /* about the second cache */

typedef struct lines {
    const td_fft_kernel *kernel;
    const td_fft_job *job;
    td_scratch line, work;
    int64_t item;            /* bytes of a real number */
    int64_t in_row, out_row; /* bytes of a line */
    int64_t together;        /* lines of one kernel call */
    bool far;                /* more than a cache holds */
} lines;

/* The next lines, which are asked for while these are computed: they are read and written with
 * jumps that the processor does not foresee. A little at each step, because only so many requests
 * can be under way. */
typedef struct ahead {
    const char *in, *in_end;
    char *out, *out_end;
    int64_t step; /* bytes of each */
} ahead;

/* The memory of one thread. */
typedef struct room {
    char *line; /* what a line needs on its way */
    /* what a call of the kernel needs; NULL: each body takes its own, for the parts of a line run
     * apart */
    void *work;
    ahead *ahead; /* or NULL */
} room;

static void ask_ahead(const room *r)
{
    ahead *a = r->ahead;
    if (!a) return;
    for (const char *end = a->in + a->step; a->in < end && a->in < a->in_end; a->in += 64)
        __builtin_prefetch(a->in, 0, 2);
    for (const char *end = a->out + a->step; a->out < end && a->out < a->out_end; a->out += 64)
        __builtin_prefetch(a->out, 1, 2);
}

static void *take_work(const lines *l, const room *r)
{
    return r->work ? r->work : td_scratch_take(&l->work);
}
static void give_work(const lines *l, const room *r, void *work)
{
    if (!r->work) td_scratch_give(&l->work, work);
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t grain_of(int64_t points)
{
    return points < GRAIN_POINTS ? GRAIN_POINTS / larger(points, 1) : 1;
}

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
    /* a half spectrum has one more */
    return (2 * points + 1) * 2 * td_fft_kernel_of(p)->lanes * td_fft_itemsize(p);
}

static int64_t line_bytes(const td_fft_plan *p)
{
    return p->wide ? p->wide->n * 2 * td_fft_itemsize(p) + line_bytes(p->wide) : folded_bytes(p);
}

/* ---- lanes ---- */

/* Split memory that a last pass writes: the half that the pass before did not. */
static td_fft_end result_end(const td_fft_kernel *k, const td_fft_stages *s, void *work,
                             int64_t item)
{
    int64_t half = (s->count - 1) % 2 * s->n * 2 * k->lanes * item;
    return (td_fft_end){(char *)work + half, 2 * k->lanes, false, 1, 1};
}

/* Lines from any end to any end; those that do not fill the lanes by way of split memory. */
static void through(const td_fft_kernel *k, const td_fft_stages *s, const td_fft_end *in,
                    const td_fft_end *out, int64_t lanes, void *work, int64_t item)
{
    bool part = lanes < k->lanes;
    td_fft_end first = {(char *)work + s->n * 2 * k->lanes * item, 2 * k->lanes, false, 1, 1},
               last = result_end(k, s, work, item);
    if (part && in->pairs) k->load(first.data, in, s->n, lanes);
    k->stages(s, part && in->pairs ? &first : in, part && out->pairs ? &last : out, work);
    if (part && out->pairs) k->store(last.data, out, s->n, lanes);
}

/* Spectra of even real lines are unfolded or folded where they lie. */
static void in_lanes(const lines *l, const td_fft_plan *p, const td_fft_rows *in,
                     const td_fft_rows *out, const room *r)
{
    void *work = take_work(l, r);
    const td_fft_kernel *k = l->kernel;
    const td_fft_stages *s = p->whole;
    td_fft_kind kind = l->job->points == 2 * p->n ? l->job->kind : TD_FFT_C2C;
    td_fft_end first = {(char *)work + s->n * 2 * k->lanes * l->item, 2 * k->lanes, false, 1, 1};
    td_fft_end last = result_end(k, s, work, l->item);
    k->gather(first.data, in, s->n + (kind == TD_FFT_C2R));
    ask_ahead(r);
    if (kind == TD_FFT_C2R) k->fold_lanes(first.data, s->n, p->half_fine, p->half_coarse);
    k->stages(s, &first, &last, work);
    ask_ahead(r);
    if (kind == TD_FFT_R2C) k->unfold_lanes(last.data, s->n, p->half_fine, p->half_coarse);
    k->scatter(last.data, out, s->n + (kind == TD_FFT_R2C));
    give_work(l, r, work);
}

/* ---- folded ---- */

typedef struct folded {
    const lines *l;
    const td_fft_plan *plan;
    const room *room; /* its line is the rectangle between columns and rows */
    const char *in;
    char *out;
    double sign, re, im;
} folded;

static void fold_columns(void *context, int64_t begin, int64_t end)
{
    const folded *f = context;
    const td_fft_kernel *k = f->l->kernel;
    int64_t n1 = f->plan->columns->n, n2 = f->plan->rows->n, item = f->l->item;
    void *work = take_work(f->l, f->room);
    for (int64_t b = begin; b < end; b++) {
        int64_t column = b * k->lanes, lanes = n2 - column < k->lanes ? n2 - column : k->lanes;
        td_fft_end in = {(char *)f->in + column * 2 * item, 2 * n2, true, 1, f->sign};
        td_fft_end out = result_end(k, f->plan->columns, work, item);
        through(k, f->plan->columns, &in, &out, lanes, work, item);
        ask_ahead(f->room);
        bool near = !f->plan->coarse; /* all factors in `fine` */
        char *fine = (char *)f->plan->fine + (near ? b * n1 * 2 * k->lanes * item : 0);
        char *coarse = near || !b ? NULL : (char *)f->plan->coarse + b * n1 * 2 * item;
        k->turn(out.data, fine, coarse, n1, f->room->line, n2, column, lanes);
        ask_ahead(f->room);
    }
    give_work(f->l, f->room, work);
}

static void fold_rows(void *context, int64_t begin, int64_t end)
{
    const folded *f = context;
    const td_fft_kernel *k = f->l->kernel;
    int64_t n1 = f->plan->columns->n, n2 = f->plan->rows->n, item = f->l->item;
    void *work = take_work(f->l, f->room);
    for (int64_t b = begin; b < end; b++) {
        int64_t first = b * k->lanes, lanes = n1 - first < k->lanes ? n1 - first : k->lanes;
        td_fft_end in = {f->room->line + first * n2 * 2 * item, 2 * k->lanes, false, 1, 1};
        td_fft_end out = {f->out + first * 2 * item, 2 * n1, true, f->re, f->im};
        through(k, f->plan->rows, &in, &out, lanes, work, item);
        ask_ahead(f->room);
    }
    give_work(f->l, f->room, work);
}

static void fold_line(const lines *l, const td_fft_plan *p, const td_fft_rows *in,
                      const td_fft_rows *out, const room *r)
{
    folded f = {l, p, r, in->data, out->data, in->im, out->re, out->im};
    int64_t n1 = p->columns->n, n2 = p->rows->n, lanes = l->kernel->lanes;
    int64_t column_blocks = (n2 + lanes - 1) / lanes, row_blocks = (n1 + lanes - 1) / lanes;
    if (r->work) {
        fold_columns(&f, 0, column_blocks);
        fold_rows(&f, 0, row_blocks);
        return;
    }
    td_parallel(column_blocks, grain_of(n1 * lanes), fold_columns, &f);
    td_parallel(row_blocks, grain_of(n2 * lanes), fold_rows, &f);
}

/* ---- chirp ---- */

static void complex_line(const lines *l, const td_fft_plan *p, const td_fft_rows *in,
                         const td_fft_rows *out, const room *r);

static void chirp_line(const lines *l, const td_fft_plan *p, const td_fft_rows *in,
                       const td_fft_rows *out, const room *r)
{
    int64_t m = p->wide->n, n = p->n, bytes = 2 * l->item;
    char *line = r->line;
    td_fft_rows wide = {line, 0, 1, 1, 1};
    room rest = {line + m * bytes, r->work, NULL};
    l->kernel->multiply(line, in->data, p->chirp, n, in->im, 1, 1);
    memset(line + n * bytes, 0, (size_t)((m - n) * bytes));
    complex_line(l, p->wide, &wide, &wide, &rest);
    l->kernel->multiply(line, line, p->spectrum, m, 1, 1, -1); /* and back, by the conjugate */
    complex_line(l, p->wide, &wide, &wide, &rest);
    l->kernel->multiply(out->data, line, p->chirp, n, -1, out->re, out->im);
}

static void complex_line(const lines *l, const td_fft_plan *p, const td_fft_rows *in,
                         const td_fft_rows *out, const room *r)
{
    if (p->wide) chirp_line(l, p, in, out, r);
    else if (p->rows) fold_line(l, p, in, out, r);
    else in_lanes(l, p, in, out, r);
}

/* ---- lines of a job ---- */

/* By address, here and above: a copy of a description that was just written waits until all stores
 * before it are done. */
static void complex_lines(const lines *l, const td_fft_rows *in, const td_fft_rows *out,
                          const room *r)
{
    if (l->together > 1) in_lanes(l, l->job->plan, in, out, r);
    else complex_line(l, l->job->plan, in, out, r);
}

/* An odd number of real points: complex lines, at the beginning of the room, of which a half is
 * read or kept. */
static void odd_lines(const lines *l, int64_t count, double sign, const room *r)
{
    const td_fft_job *j = l->job;
    td_fft_rows from = {r->line, 2 * j->points, count, 1, sign},
                to = {r->line, 2 * j->points, count, j->scale, sign * j->scale};
    complex_lines(l, &from, &to, &(room){r->line + count * j->points * 2 * l->item, r->work, NULL});
}

static void odd_to_complex(const lines *l, const char *in, char *out, int64_t count, const room *r)
{
    int64_t n = l->job->points, each = n * 2 * l->item;
    for (int64_t i = 0; i < count; i++) l->kernel->widen(r->line + i * each, in + i * l->in_row, n);
    odd_lines(l, count, 1, r);
    for (int64_t i = 0; i < count; i++)
        memcpy(out + i * l->out_row, r->line + i * each, (size_t)l->out_row);
}

static void complex_to_odd(const lines *l, const char *in, char *out, int64_t count, const room *r)
{
    int64_t n = l->job->points, each = n * 2 * l->item;
    for (int64_t i = 0; i < count; i++) {
        memcpy(r->line + i * each, in + i * l->in_row, (size_t)l->in_row);
        /* the sum of real points is real */
        memset(r->line + i * each + l->item, 0, (size_t)l->item);
        l->kernel->mirror(r->line + i * each, n);
    }
    odd_lines(l, count, -1, r);
    for (int64_t i = 0; i < count; i++)
        l->kernel->narrow(out + i * l->out_row, r->line + i * each, n);
}

/* Neighbours of an even number are the parts of complex points. In lanes the kernel turns them into
 * half spectra. */
static void even_to_complex(const lines *l, const char *in, char *out, int64_t count, const room *r)
{
    const td_fft_job *j = l->job;
    const td_fft_plan *p = j->plan;
    complex_lines(l, &(td_fft_rows){(void *)in, l->in_row / l->item, count, 1, 1},
                  &(td_fft_rows){out, l->out_row / l->item, count, j->scale, j->scale}, r);
    for (int64_t i = 0; i < count; i++, out += l->out_row) {
        if (l->together == 1) l->kernel->unfold(out, p->n, p->half_fine, p->half_coarse);
        if (j->whole) l->kernel->mirror(out, j->points);
    }
}

static void complex_to_even(const lines *l, const char *in, char *out, int64_t count, const room *r)
{
    const td_fft_job *j = l->job;
    const td_fft_plan *p = j->plan;
    td_fft_rows to = {out, l->out_row / l->item, count, j->scale, -j->scale};
    if (l->together > 1) {
        complex_lines(l, &(td_fft_rows){(void *)in, l->in_row / l->item, count, 1, 1}, &to, r);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        l->kernel->fold(out + i * l->out_row, in + i * l->in_row, p->n, p->half_fine,
                        p->half_coarse);
    complex_lines(l, &(td_fft_rows){out, l->out_row / l->item, count, 1, -1}, &to, r);
}

static void some_lines(const lines *l, const char *in, char *out, int64_t count, const room *r)
{
    const td_fft_job *j = l->job;
    bool odd = j->points % 2;
    if (j->kind == TD_FFT_R2C) (odd ? odd_to_complex : even_to_complex)(l, in, out, count, r);
    else if (j->kind == TD_FFT_C2R) (odd ? complex_to_odd : complex_to_even)(l, in, out, count, r);
    else
        complex_lines(
            l, &(td_fft_rows){(void *)in, l->in_row / l->item, count, 1, j->sign},
            &(td_fft_rows){out, l->out_row / l->item, count, j->scale, j->scale * j->sign}, r);
}

static void run_lines(const lines *l, int64_t begin, int64_t end, room *r)
{
    const td_fft_job *j = l->job;
    const td_fft_plan *p = j->plan;
    int64_t lanes = l->kernel->lanes,
            steps = l->together > 1 || !p->rows ? 2 : (2 * p->rows->n + p->columns->n) / lanes + 3;
    int64_t in_step = l->together * l->in_row, out_step = l->together * l->out_row;
    for (int64_t b = begin; b < end; b++) {
        int64_t first = b * l->together, left = j->count - first,
                count = left < l->together ? left : l->together;
        const char *in = (const char *)j->in + first * l->in_row;
        char *out = (char *)j->out + first * l->out_row;
        ahead a = {in + in_step, in + 2 * in_step, out + out_step, out + 2 * out_step,
                   larger(in_step, out_step) / steps + 63};
        r->ahead = l->far && b + 1 < end ? &a : NULL;
        some_lines(l, in, out, count, r);
    }
}

static void run_apart(void *context, int64_t begin, int64_t end)
{
    const lines *l = context;
    room r = {td_scratch_take(&l->line), td_scratch_take(&l->work), NULL};
    run_lines(l, begin, end, &r);
    td_scratch_give(&l->line, r.line);
    td_scratch_give(&l->work, r.work);
}

/* One line after the other: the threads share its parts, and take work memory themselves. */
static void run_in_parts(const lines *l, int64_t blocks)
{
    room r = {td_scratch_take(&l->line), NULL, NULL};
    run_lines(l, 0, blocks, &r);
    td_scratch_give(&l->line, r.line);
}

/* Short lines go together where there are enough of them to be worth a vector. */
static int64_t lines_together(const td_fft_plan *p, int64_t count)
{
    int64_t lanes = td_fft_kernel_of(p)->lanes;
    return p->whole && (!p->rows || (p->side_by_side && 2 * count >= lanes)) ? lanes : 1;
}

/* Lines are divided among the threads, unless there are few and long ones. */
td_status td_fft_run(const td_fft_job *j)
{
    lines l = {td_fft_kernel_of(j->plan), j, .item = td_fft_itemsize(j->plan)};
    int64_t half = (j->whole ? j->points : j->points / 2 + 1) * 2 * l.item,
            real = j->points * l.item;
    l.in_row = j->kind == TD_FFT_C2C ? 2 * real : j->kind == TD_FFT_R2C ? real : half;
    l.out_row = j->kind == TD_FFT_C2C ? 2 * real : j->kind == TD_FFT_R2C ? half : real;
    l.together = lines_together(j->plan, j->count);
    l.far = (j->cold || j->count * (l.in_row + l.out_row) > NEAR_BYTES) &&
            l.together * l.in_row <= NEAR_BYTES / 32;
    int64_t blocks = (j->count + l.together - 1) / l.together,
            grain = grain_of(j->points * l.together);
    bool apart = blocks / grain >= td_num_threads() || j->points < GRAIN_POINTS;
    int threads = td_in_parallel() ? 1 : td_num_threads();
    int64_t odd = j->kind != TD_FFT_C2C && j->points % 2 ? l.together * j->points * 2 * l.item : 0;
    TD_TRY(td_scratch_begin_some(&l.line, apart ? threads : 1, line_bytes(j->plan) + odd + 64));
    td_status status = td_scratch_begin_some(&l.work, threads, work_bytes(j->plan));
    if (status == TD_OK) {
        void *token = td_heavy_begin((double)j->count * (double)j->points * POINT_NS);
        if (apart) td_parallel(blocks, grain, run_apart, &l);
        else run_in_parts(&l, blocks);
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
        int64_t first = b % c->blocks * k->lanes,
                lanes = c->inner - first < k->lanes ? c->inner - first : k->lanes;
        int64_t at = (b / c->blocks * c->plan->n * c->inner + first) * 2 * item;
        td_fft_end in = {(char *)c->in + at, 2 * c->inner, true, 1, c->sign};
        td_fft_end out = {c->out + at, 2 * c->inner, true, c->re, c->im};
        through(k, c->plan->whole, &in, &out, lanes, work, item);
    }
    td_scratch_give(&c->work, work);
}

td_status td_fft_columns(const td_fft_plan *plan, const void *in, void *out, int64_t outer,
                         int64_t inner, int sign, double scale)
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
