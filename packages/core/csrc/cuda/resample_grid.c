/* resample_grid.c - _grid_sample and its gradients as launches of kernels/resample_grid.h.
 *
 * A pixel's gradient is the sum of what places of the grid give it, in their order: pairs of pixel
 * and place are sorted by pixel, a few samples at a time, and a thread a pixel adds its own. */
#include "cpu/resample_grid.h"
#include "cuda/program.h"
#include "cuda/sort.h"
#include "cuda/workers.h"

typedef struct grid_call { /* laid out as in kernels/resample_grid.h */
    const char *in, *grid, *by_out;
    char *out;
    uint64_t *keys;
    int64_t *order;
    char *weights;
    int64_t n;
    int64_t sizes[3], channels, plane, places;
    int64_t dims, padding, align, corners;
} grid_call;

enum { VALUES, BY_GRID = VALUES + 3, PAIRS = BY_GRID + 3, BY_IN = PAIRS + 3, WORKS };
static const char *names[WORKS] = {
    "values_linear", "values_nearest", "values_cubic",  "by_grid_linear", NULL,
    "by_grid_cubic", "pairs_linear",   "pairs_nearest", "pairs_cubic",    "by_in"};

static grid_call call_of(const td_grid *s)
{
    int taps = s->mode == TD_SAMPLE_NEAREST ? 1 : s->mode == TD_SAMPLE_LINEAR ? 2 : 4;
    grid_call c = {.in = s->in,
                   .grid = s->grid,
                   .by_out = s->by_out,
                   .sizes = {1, 1, 1},
                   .channels = s->channels,
                   .plane = s->plane,
                   .places = s->places,
                   .dims = s->dims,
                   .padding = s->padding,
                   .align = s->align,
                   .corners = 1};
    for (int d = 0; d < s->dims; d++) {
        c.sizes[3 - s->dims + d] = s->sizes[d];
        c.corners *= taps;
    }
    return c;
}

static td_status launch(int work, const td_grid_job *j, grid_call *c, int64_t n, int ordinal)
{
    td_cuda_work w = {.kind = "resample_grid",
                      .how = "resample_grid_alone",
                      .name = names[work],
                      .dtype = j->wide ? TD_F64 : TD_F32};
    c->n = n;
    return td_cuda_threads(&w, ordinal, n, c);
}

/* ---- the gradient of the images ---- */

#define PAIRS_AT_ONCE ((int64_t)1 << 19) /* of some samples, or of one: 40 bytes each */

/* `samples` of them from the pointers of `c` on */
static td_status by_in(const td_grid_job *j, grid_call *c, td_cuda_keys pairs, int64_t samples,
                       int ordinal)
{
    c->keys = pairs.keys[1];
    c->order = pairs.places[1];
    TD_TRY(launch(PAIRS + (int)j->grid->mode, j, c, samples * c->places, ordinal));
    TD_TRY(td_cuda_sort_keys(&pairs, samples, c->places * c->corners, ordinal));
    c->keys = pairs.keys[0];
    c->order = pairs.places[0];
    return launch(BY_IN, j, c, samples * c->channels * c->plane, ordinal);
}

static td_status by_in_in_parts(const td_grid_job *j, grid_call c, td_cuda_keys pairs,
                                int64_t at_once, int ordinal)
{
    int64_t item = j->wide ? 8 : 4;
    c.out = j->grid->by_in;
    for (int64_t begin = 0; begin < j->samples; begin += at_once) {
        int64_t samples = j->samples - begin < at_once ? j->samples - begin : at_once;
        TD_TRY(by_in(j, &c, pairs, samples, ordinal));
        c.grid += samples * c.places * c.dims * item;
        c.by_out += samples * c.channels * c.places * item;
        c.out += samples * c.channels * c.plane * item;
    }
    return TD_OK;
}

static td_status run_by_in(const td_grid_job *j, const grid_call *call, td_device device)
{
    grid_call c = *call;
    int64_t line = c.places * c.corners, fit = PAIRS_AT_ONCE / line;
    int64_t at_once = fit < 1 ? 1 : fit < j->samples ? fit : j->samples;
    int64_t numel = at_once * line, bytes = numel * 40;
    td_cuda_keys pairs;
    char *space;
    void *block;
    TD_TRY(td_cuda_alloc(&space, bytes, device, &block));
    for (int k = 0; k < 2; k++) {
        pairs.keys[k] = (uint64_t *)space + k * numel;
        pairs.places[k] = (int64_t *)space + (2 + k) * numel;
    }
    c.weights = space + 4 * 8 * numel;
    td_status status = by_in_in_parts(j, c, pairs, at_once, td_device_index(device));
    /* the next owner's work comes after, on the same stream */
    td_cuda_release(block, space, bytes);
    return status;
}

td_status td_cuda_resample_grid(const void *job, td_device device)
{
    const td_grid_job *j = job;
    const td_grid *s = j->grid;
    grid_call c = call_of(s);
    int ordinal = td_device_index(device);
    TD_TRY(td_cuda_use(ordinal));
    if (s->out) {
        c.out = s->out;
        return launch(VALUES + (int)s->mode, j, &c, j->samples * c.places, ordinal);
    }
    if (s->by_grid) {
        c.out = s->by_grid;
        TD_TRY(launch(BY_GRID + (int)s->mode, j, &c, j->samples * c.places, ordinal));
    }
    return s->by_in && c.channels ? run_by_in(j, &c, device) : TD_OK;
}
