/* padded_run.c - a copy of x in which no tap of any pixel leaves its plane.
 *
 * Its patches are whole vectors, read without masks. At stride 2 in the last dimension the copy
 * also parts the columns, 0 2 4 .. 1 3 5 .., so that the convolution over it has stride 1 there:
 *
 *     x of stride 2     . . a b c d e f . .         copy       . a c e . | . b d f .
 *     taps -2 .. 2      └───────┘                   taps       0 1 2       5 6
 */
#include "cpu/conv/conv_run.h"
#include <string.h>
#include "runtime/alloc.h"
#include "runtime/pool.h"

typedef struct padded {
    const td_conv *c;
    int64_t low[3], range[3], size[3], half; /* half: columns of one kind, at stride 2 */
    int64_t item;
    char *to;
} padded;

static padded plan_of(const td_conv *c)
{
    padded p = {.c = c, .item = td_itemsize(c->dtype)};
    for (int d = 0; d < 3; d++) {
        int64_t high = p.low[d] = c->tap[0].at[d];
        for (int64_t t = 1; t < c->taps; t++) {
            if (c->tap[t].at[d] < p.low[d]) p.low[d] = c->tap[t].at[d];
            if (c->tap[t].at[d] > high) high = c->tap[t].at[d];
        }
        p.range[d] = high - p.low[d];
        p.size[d] = (c->out[d] - 1) * c->stride[d] + p.range[d] + 1;
    }
    p.half = c->out[2] + p.range[2] / 2;
    if (c->stride[2] == 2) p.size[2] = 2 * p.half;
    return p;
}

/* Every number of x is read `reads` times; a copy costs about as much as four of those save. Where
 * rows are shorter than a vector it saves nothing. */
bool td_conv_wants_padding(const td_conv *c)
{
    if (!td_conv_is_real(c->dtype) || c->taps < 2 || c->stride[2] > 2 || c->out[2] < 16)
        return false;
    padded p = plan_of(c);
    double reads =
        (double)c->taps / ((double)c->stride[0] * (double)c->stride[1] * (double)c->stride[2]);
    double volume = (double)p.size[0] * (double)p.size[1] * (double)p.size[2];
    return reads >= 6 && volume <= 2 * (double)td_volume(c->in) + 1024;
}

#define PART_COLUMNS(type)                                         \
    static void part_##type(type *to, const type *from, int64_t n) \
    {                                                              \
        for (int64_t i = 0; i < n; i++) to[i] = from[2 * i];       \
    }
PART_COLUMNS(uint32_t)
PART_COLUMNS(uint64_t)

/* `size` places at `to` for columns first, first + step .. of a row of n numbers, zeros where it
 * has none */
static void copy_columns(const padded *p, char *to, int64_t size, const char *row, int64_t first,
                         int64_t step, int64_t n)
{
    int64_t before = first < 0 ? (-first + step - 1) / step : 0,
            end = first < n ? (n - first + step - 1) / step : 0;
    if (end > size) end = size;
    if (before > end) before = end;
    const char *from = row + (first + before * step) * p->item;
    char *place = to + before * p->item;
    memset(to, 0, (size_t)(before * p->item));
    if (step == 1) memcpy(place, from, (size_t)((end - before) * p->item));
    else if (p->item == 4) part_uint32_t((uint32_t *)place, (const uint32_t *)from, end - before);
    else part_uint64_t((uint64_t *)place, (const uint64_t *)from, end - before);
    memset(to + end * p->item, 0, (size_t)((size - end) * p->item));
}

static void copy_row(const padded *p, char *to, const char *row)
{
    const td_conv *c = p->c;
    if (c->stride[2] == 1) {
        copy_columns(p, to, p->size[2], row, p->low[2], 1, c->in[2]);
        return;
    }
    copy_columns(p, to, p->half, row, p->low[2], 2, c->in[2]);
    copy_columns(p, to + p->half * p->item, p->half, row, p->low[2] + 1, 2, c->in[2]);
}

static void copy_planes(void *context, int64_t begin, int64_t end)
{
    const padded *p = context;
    const int64_t *in = p->c->in, *size = p->size, row = size[2] * p->item;
    for (int64_t i = begin; i < end; i++)
        for (int64_t r = 0; r < size[0] * size[1]; r++) {
            int64_t z = r / size[1] + p->low[0], y = r % size[1] + p->low[1];
            char *to = p->to + (i * size[0] * size[1] + r) * row;
            bool exists = z >= 0 && z < in[0] && y >= 0 && y < in[1];
            if (exists)
                copy_row(p, to, p->c->x + (((i * in[0] + z) * in[1] + y) * in[2]) * p->item);
            else memset(to, 0, (size_t)row);
        }
}

static void shift_taps(const padded *p, td_tap *to)
{
    for (int64_t t = 0; t < p->c->taps; t++)
        for (int d = 0; d < 3; d++) {
            int64_t at = p->c->tap[t].at[d] - p->low[d];
            to[t].at[d] = d == 2 && p->c->stride[2] == 2 ? at % 2 * p->half + at / 2 : at;
        }
}

td_status td_conv_over_padded(const td_conv *c, td_status (*run)(const td_conv *c))
{
    padded p = plan_of(c);
    td_conv over = *c;
    int64_t planes = c->images * c->groups * c->channels,
            bytes = planes * td_volume(p.size) * p.item;
    td_tap *taps = td_alloc(td_taps_bytes(c->taps));
    p.to = td_alloc(bytes);
    td_status status = TD_OK;
    if (!taps || !p.to)
        status =
            td_fail(TD_MEMORY_ERROR, "convolution: no memory for %lld bytes", (long long)bytes);
    else {
        td_parallel(planes, 1 + 32768 / td_volume(p.size), copy_planes, &p);
        shift_taps(&p, taps);
        memcpy(over.in, p.size, sizeof over.in);
        over.stride[2] = 1;
        over.x = p.to;
        over.tap = taps;
        status = run(&over);
    }
    td_free(taps, td_taps_bytes(c->taps));
    td_free(p.to, bytes);
    return status;
}
