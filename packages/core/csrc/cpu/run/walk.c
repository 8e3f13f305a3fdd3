/* walk.c - a loop over the rows of n-dimensional operands, in parallel when the work is worth it.
 */
#include "cpu/run/walk.h"
#include "runtime/loops.h"
#include "runtime/pool.h"

/* Below this much work (nanoseconds) waking a second thread costs more than it gains: 32 K
 * additions, 8 K exponentials. */
#define PARALLEL_NS 8000.0
#define GRAIN_NS 4000.0 /* least work of one chunk */
#define LINE_UNIT \
    256 /* elements; chunks of long rows begin at multiples: threads share no cache line */

typedef struct position {
    char *data[TD_MAX_OPERANDS];
    int64_t index[TD_MAX_DIMS];
} position;

static void seek(position *at, const td_nd *nd, int64_t begin)
{
    for (int k = 0; k < nd->nop; k++) at->data[k] = nd->data[k];
    for (int d = 0; d < nd->ndim; d++) {
        at->index[d] = begin % nd->sizes[d];
        begin /= nd->sizes[d];
        for (int k = 0; k < nd->nop; k++) at->data[k] += at->index[d] * nd->strides[d][k];
    }
}

/* To the start of the next row. */
static void next_row(position *at, const td_nd *nd)
{
    for (int k = 0; k < nd->nop; k++) at->data[k] -= at->index[0] * nd->strides[0][k];
    at->index[0] = 0;
    for (int d = 1; d < nd->ndim; d++) {
        for (int k = 0; k < nd->nop; k++) at->data[k] += nd->strides[d][k];
        if (++at->index[d] < nd->sizes[d]) return;
        for (int k = 0; k < nd->nop; k++) at->data[k] -= nd->sizes[d] * nd->strides[d][k];
        at->index[d] = 0;
    }
}

static void walk(const td_nd *nd, td_loop loop, const void *context, int64_t begin, int64_t end)
{
    position at;
    seek(&at, nd, begin);
    while (begin < end) {
        int64_t n = nd->sizes[0] - at.index[0];
        if (n > end - begin) n = end - begin;
        loop(at.data, nd->strides[0], n, context);
        begin += n;
        next_row(&at, nd);
    }
}

void td_nd_run_serial(const td_nd *nd, td_loop loop, const void *context)
{
    if (nd->numel == 0) return;
    if (nd->ndim == 1) loop(nd->data, nd->strides[0], nd->numel, context);
    else walk(nd, loop, context, 0, nd->numel);
}

typedef struct job {
    const td_nd *nd;
    td_loop loop;
    const void *context;
    int64_t unit; /* elements */
} job;

static void run_piece(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    end *= j->unit;
    walk(j->nd, j->loop, j->context, begin * j->unit, end < j->nd->numel ? end : j->nd->numel);
}

/* Two threads may not write one place, so an output that is broadcast (a reduction's) is walked by
 * one. */
static bool output_repeats(const td_nd *nd)
{
    for (int d = 0; d < nd->ndim; d++)
        if (nd->strides[d][0] == 0) return true;
    return false;
}

void td_nd_run(const td_nd *nd, td_loop loop, const void *context, double cost)
{
    double work = (double)nd->numel * cost;
    if (work < PARALLEL_NS) {
        td_nd_run_serial(nd, loop, context);
        return;
    }
    void *token = td_heavy_begin(work);
    if (output_repeats(nd)) {
        td_nd_run_serial(nd, loop, context);
    } else {
        int64_t unit = nd->ndim > 1 && nd->sizes[0] <= 16 * LINE_UNIT ? nd->sizes[0] : LINE_UNIT;
        job j = {nd, loop, context, unit};
        int64_t units = nd->numel / unit + (nd->numel % unit != 0);
        int64_t grain = (int64_t)(GRAIN_NS / (cost * (double)unit));
        td_parallel(units, grain > 1 ? grain : 1, run_piece, &j);
    }
    td_heavy_end(token);
}
