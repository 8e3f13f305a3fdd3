/* int8_depthwise_run.c - convolutions of integers whose channels are groups of their own, over
 * threads. Windows are not gathered: kernels read the taps where they lie. */
#include <string.h>
#include "cpu/quantization/int8_depthwise.h"
#include "cpu/quantization/int8_prepare_run.h"
#include "runtime/pool.h"
#include "runtime/scratch.h"

#define NEAR (1 << 14)   /* bytes of pointers that are made at a time */
#define MOST 64          /* windows of them, at most */
#define LEAST 4          /* at least: as many as a kernel takes together */
#define SERIAL (1 << 20) /* multiplications below which waking a thread costs more */

typedef struct job {
    const td_int8_prepared *p;
    const td_int8_windows *g;
    const uint8_t *x, *outside; /* outside: the zero point for every channel */
    uint8_t flip;
    bool floats;
    char *out;
    int64_t taps, block, windows; /* pointers of a window; windows of a task, and of all samples */
    td_scratch scratch;
} job;

static void point(const job *j, const td_int8_window *window, const uint8_t **to)
{
    const td_int8_windows *g = j->g;
    td_int8_corner corner = td_int8_corner_of(g, window);
    const uint8_t **end = to + j->taps;
    for (int64_t a = 0; a < g->kernel[0]; a++)
        for (int64_t b = 0; b < g->kernel[1]; b++) {
            int64_t line = td_int8_line(g, &corner, a, b), at = corner.x;
            for (int64_t c = 0; c < g->kernel[2]; c++, at += g->dilation[2])
                *to++ = line < 0 || at < 0 || at >= g->in[2] ? j->outside
                                                             : j->x + line + at * g->channels;
        }
    while (to < end) *to++ = j->outside;
}

static void run_blocks(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    const td_int8_product *p = &j->p->first;
    const uint8_t **taps = td_scratch_take(&j->scratch);
    int64_t size = j->floats ? sizeof(float) : 1;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i * j->block, room = j->windows - first,
                m = room < j->block ? room : j->block;
        td_int8_window at = td_int8_window_of(j->g, first);
        for (int64_t w = 0; w < m; w++, td_int8_next(j->g, &at)) point(j, &at, taps + w * j->taps);
        td_int8_taps t = {taps, m, j->flip, j->out + first * p->n * size, p->n};
        TD_PICK_QUADS(td_int8_depthwise_kernels)->run(p, &t);
    }
    td_scratch_give(&j->scratch, taps);
}

static td_status run(job *j)
{
    int64_t bytes = j->taps * (int64_t)sizeof(void *), block = NEAR / bytes / LEAST * LEAST;
    double cost = (double)j->windows * (double)j->p->first.n * (double)j->taps;
    j->block = block < LEAST ? LEAST : block > MOST ? MOST : block;
    int64_t blocks = (j->windows + j->block - 1) / j->block;
    TD_TRY(td_scratch_begin(&j->scratch, j->block * bytes));
    void *token = td_heavy_begin(cost / 20);
    td_parallel(blocks, cost < SERIAL ? blocks : 1, run_blocks, j);
    td_heavy_end(token);
    td_scratch_end(&j->scratch);
    return TD_OK;
}

/* with a line of zero points beside the input */
static td_status run_outside(job *j, int64_t zero)
{
    int64_t bytes = j->g->channels;
    void *outside = td_alloc(bytes);
    if (!outside)
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of work space", (long long)bytes);
    j->outside = memset(outside, (int)(zero & 0xff), (size_t)bytes);
    td_status status = run(j);
    td_free(outside, bytes);
    return status;
}

td_status td_int8_depthwise(const td_int8_matrix *w, const td_int8_numbers *x,
                            const td_int8_windows *g, const td_int8_results *out)
{
    td_int8_prepared p;
    TD_TRY(td_int8_prepare(&p, w, x, false, out));
    job j = {.p = &p,
             .g = g,
             .x = x->data,
             .flip = x->with_sign ? 0x80 : 0,
             .floats = out->floats,
             .out = out->to.data,
             .taps = p.first.words * TD_WORD,
             .windows = g->samples * g->out[0] * g->out[1] * g->out[2]};
    td_status status = run_outside(&j, x->zero);
    td_int8_prepare_end(&p);
    return status;
}
