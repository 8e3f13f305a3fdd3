/* grad_input_run.c - the gradient of a convolution with respect to its input.
 *
 * A convolution of stride s is s * s ... convolutions of stride 1 here:
 * inputs whose positions agree modulo the stride see the same taps. Each such phase runs the
 * forward algorithms on the output's gradient, with the weights of its taps, and its results are
 * spread over the input. */
#include "cpu/conv/conv_run.h"
#include <string.h>
#include "cpu/conv/conv.h"
#include "cpu/conv/winograd.h"
#include "cpu/matmul/gemm_run.h"
#include "runtime/scratch.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

td_status td_conv_make_taps(td_conv *c, td_tap **taps)
{
    c->taps = td_volume(c->kernel);
    td_tap *made = td_alloc(td_taps_bytes(c->taps));
    if (!made)
        return td_fail(TD_MEMORY_ERROR, "convolution: no memory for a kernel of %lld elements",
                       (long long)c->taps);
    for (int64_t t = 0; t < c->taps; t++) {
        int64_t rest = t;
        for (int d = 2; d >= 0; d--) {
            made[t].at[d] = rest % c->kernel[d] * c->dilation[d] - c->padding[d];
            rest /= c->kernel[d];
        }
    }
    c->tap = *taps = made;
    return TD_OK;
}

/* ---- phases ---- */
typedef struct phase {
    int64_t at[3], stride[3]; /* inputs at + stride * i */
    td_conv conv;             /* from the output's gradient to those inputs */
    td_tap *taps;
    int64_t *source; /* which tap of the forward convolution each one was */
    char *weights;
} phase;

static int64_t ceil_div(int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : 0; }

/* Does an input at phase `at` meet tap t? Then where it looks at the output's gradient: (at - tap)
 * / stride. */
static bool meets(const td_conv *c, const int64_t *at, int64_t t, td_tap *look)
{
    for (int d = 0; d < 3; d++) {
        int64_t distance = at[d] - c->tap[t].at[d];
        if (distance % c->stride[d]) return false;
        look->at[d] = distance / c->stride[d];
    }
    return true;
}

static void collect_taps(const td_conv *c, phase *p)
{
    td_tap look;
    p->conv.taps = 0;
    for (int64_t t = c->taps - 1; t >= 0; t--) /* backwards: a regular grid stays one */
        if (meets(c, p->at, t, &look)) {
            p->taps[p->conv.taps] = look;
            p->source[p->conv.taps++] = t;
        }
    p->conv.tap = p->taps;
}

/* [group][channel][output][tap] from [group][output][channel][tap], CHANNELS of a group at a time.
 * What is read lies pages apart, what is written in CHANNELS streams, and the processor foresees
 * neither: asking for both ahead halves the time. */
#define CHANNELS 16
#define AHEAD 256 /* bytes of a stream */
#define OUTPUTS_AHEAD 4
#define LINE 64
typedef struct turning {
    const td_conv *c;
    const phase *p;
    int64_t item, blocks; /* of a group */
} turning;

static void turn_taps(char *to, const char *from, const int64_t *source, int64_t taps, int64_t item)
{
    if (item == 2)
        for (int64_t k = 0; k < taps; k++) memcpy(to + 2 * k, from + 2 * source[k], 2);
    else if (item == 4)
        for (int64_t k = 0; k < taps; k++) memcpy(to + 4 * k, from + 4 * source[k], 4);
    else if (item == 8)
        for (int64_t k = 0; k < taps; k++) memcpy(to + 8 * k, from + 8 * source[k], 8);
    else
        for (int64_t k = 0; k < taps; k++)
            memcpy(to + item * k, from + item * source[k], (size_t)item);
}

static void ask_ahead(const char *from, int64_t bytes)
{
    for (int64_t line = 0; line < bytes; line += LINE) __builtin_prefetch(from + line);
}

static void turn_weights(void *context, int64_t begin, int64_t end)
{
    const turning *t = context;
    const td_conv *c = t->c;
    int64_t taps = t->p->conv.taps, item = t->item;
    for (int64_t i = begin; i < end; i++) {
        int64_t group = i / t->blocks, first = i % t->blocks * CHANNELS,
                last = least(first + CHANNELS, c->channels);
        const char *from = c->w + group * c->outputs * c->channels * c->taps * item;
        char *to = t->p->weights + group * c->channels * c->outputs * taps * item;
        for (int64_t o = 0; o < c->outputs; o++) {
            ask_ahead(from + ((o + OUTPUTS_AHEAD) * c->channels + first) * c->taps * item,
                      (last - first) * c->taps * item);
            for (int64_t channel = first; channel < last; channel++) {
                char *place = to + (channel * c->outputs + o) * taps * item;
                if (taps > 2) __builtin_prefetch(place + AHEAD, 1);
                turn_taps(place, from + (o * c->channels + channel) * c->taps * item, t->p->source,
                          taps, item);
            }
        }
    }
}

static void turn_all_weights(const td_conv *c, const phase *p)
{
    turning t = {c, p, td_factor_bytes(c), (c->channels + CHANNELS - 1) / CHANNELS};
    td_parallel(c->groups * t.blocks, 1 + 512 / (c->outputs * p->conv.taps + 1), turn_weights, &t);
}

/* one phase with taps: its weights, then the forward algorithms; results go to conv.y */
static td_status run_phase(const td_conv *c, phase *p, const char *bias)
{
    int64_t bytes = c->groups * c->channels * c->outputs * p->conv.taps * td_factor_bytes(c);
    p->weights = td_alloc(bytes);
    if (!p->weights)
        return td_fail(TD_MEMORY_ERROR, "convolution: no memory for %lld bytes", (long long)bytes);
    turn_all_weights(c, p);
    p->conv.w = p->weights;
    p->conv.bias = bias;
    td_status status = td_conv_forward(&p->conv);
    td_free(p->weights, bytes);
    return status;
}

static void start_phase(const td_conv *c, phase *p, int64_t number, const char *y)
{
    p->conv = (td_conv){.dtype = c->dtype,
                        .factors = c->factors,
                        .images = c->images,
                        .groups = c->groups,
                        .channels = c->outputs,
                        .outputs = c->channels,
                        .x = y,
                        .stride = {1, 1, 1}};
    for (int d = 2; d >= 0; d--) {
        int64_t phases = least(c->stride[d], c->in[d] > 0 ? c->in[d] : 1);
        p->at[d] = number % phases;
        number /= phases;
        p->stride[d] = phases == 1 ? 1 : c->stride[d];
        p->conv.in[d] = c->out[d];
        p->conv.out[d] = ceil_div(c->in[d] - p->at[d], p->stride[d]);
    }
    collect_taps(c, p);
    if (td_volume(c->stride) != 1 || !c->kernel[0]) return;
    /* the taps backwards are those of a convolution with another padding */
    for (int d = 0; d < 3; d++) {
        p->conv.kernel[d] = c->kernel[d];
        p->conv.dilation[d] = c->dilation[d];
        p->conv.padding[d] = c->dilation[d] * (c->kernel[d] - 1) - c->padding[d];
    }
}

/* ---- spreading: the phases of one row, side by side in memory, woven into the input's rows ----
 */
typedef struct weaving {
    const td_conv *c;
    const phase *p;            /* the last of them: they differ in the last dimension only */
    int64_t item, lanes, rows; /* rows of a plane */
    const char *results, *bias;
    char *x;
    const bool *empty; /* lanes without taps hold the bias alone */
} weaving;

static void weave_pair(char *to, const char *a, const char *b, int64_t n, int64_t item)
{
    if (item == 4)
        for (int64_t i = 0; i < n; i++) {
            memcpy(to + 8 * i, a + 4 * i, 4);
            memcpy(to + 8 * i + 4, b + 4 * i, 4);
        }
    else
        for (int64_t i = 0; i < n; i++) {
            memcpy(to + 2 * item * i, a + item * i, (size_t)item);
            memcpy(to + item * (2 * i + 1), b + item * i, (size_t)item);
        }
}

static void weave_lane(char *to, const char *from, int64_t n, int64_t step, int64_t item,
                       int64_t from_step)
{
    for (int64_t i = 0; i < n; i++, to += step * item, from += from_step * item) {
        if (item == 4) memcpy(to, from, 4);
        else if (item == 8) memcpy(to, from, 8);
        else memcpy(to, from, (size_t)item);
    }
}

static int64_t lane_width(const weaving *w, int64_t lane)
{
    return ceil_div(w->c->in[2] - lane, w->p->stride[2]);
}

static void weave_row(const weaving *w, char *to, int64_t plane, int64_t row)
{
    static const char zero[16];
    int64_t planes = w->c->images * w->c->groups * w->c->channels, item = w->item,
            at = plane * w->rows + row;
    const char *lane_start = w->results,
               *bias = w->bias ? w->bias + plane % (w->c->groups * w->c->channels) * item : zero;
    if (w->lanes == 2 && !w->empty[0] && !w->empty[1]) {
        int64_t wide = lane_width(w, 0), narrow = lane_width(w, 1);
        const char *a = lane_start + at * wide * item,
                   *b = lane_start + (planes * w->rows * wide + at * narrow) * item;
        weave_pair(to, a, b, narrow, item);
        if (wide > narrow) memcpy(to + 2 * narrow * item, a + narrow * item, (size_t)item);
        return;
    }
    for (int64_t lane = 0; lane < w->lanes; lane++) {
        int64_t n = lane_width(w, lane);
        if (w->empty[lane]) weave_lane(to + lane * item, bias, n, w->p->stride[2], item, 0);
        else weave_lane(to + lane * item, lane_start + at * n * item, n, w->p->stride[2], item, 1);
        lane_start += planes * w->rows * n * item;
    }
}

static void weave_planes(void *context, int64_t begin, int64_t end)
{
    const weaving *w = context;
    const td_conv *c = w->c;
    const phase *p = w->p;
    for (int64_t i = begin; i < end; i++)
        for (int64_t row = 0; row < w->rows; row++) {
            int64_t z = p->at[0] + row / p->conv.out[1] * p->stride[0],
                    y = p->at[1] + row % p->conv.out[1] * p->stride[1];
            weave_row(w, w->x + ((i * c->in[0] + z) * c->in[1] + y) * c->in[2] * w->item, i, row);
        }
}

/* all phases of the rows at (z, y) modulo the strides; `first` is the number of the first of them
 */
static td_status run_rows(const td_conv *c, phase *p, int64_t first, int64_t lanes, const char *y,
                          char *x, const char *bias)
{
    int64_t item = td_itemsize(c->dtype), planes = c->images * c->groups * c->channels, bytes = 0;
    bool direct =
        lanes == 1 && least(c->stride[0], c->in[0]) == 1 && least(c->stride[1], c->in[1]) == 1;
    weaving w = {.c = c, .p = p, .item = item, .lanes = lanes, .bias = bias, .x = x};
    start_phase(c, p, first, y);
    w.rows = p->conv.out[0] * p->conv.out[1];
    bytes = direct ? 0 : planes * w.rows * c->in[2] * item;
    char *results = td_alloc(bytes + lanes), *next = results;
    bool *empty = (bool *)(results + bytes);
    td_status status = results ? TD_OK
                               : td_fail(TD_MEMORY_ERROR, "convolution: no memory for %lld bytes",
                                         (long long)bytes);
    for (int64_t lane = 0; lane < lanes && status == TD_OK; lane++) {
        start_phase(c, p, first + lane, y);
        empty[lane] = !(p->conv.taps && td_volume(p->conv.in) && c->outputs);
        p->conv.y = direct && !empty[lane] ? x : next;
        next += planes * w.rows * p->conv.out[2] * item;
        if (!empty[lane]) status = run_phase(c, p, bias);
    }
    w.results = results;
    w.empty = empty;
    if (status == TD_OK && !(direct && !empty[0]))
        td_parallel(planes, 1 + 16384 / (w.rows * c->in[2] + 1), weave_planes, &w);
    if (results) td_free(results, bytes + lanes);
    return status;
}

td_status td_conv_data(const td_conv *c, const char *y, char *x, const char *bias)
{
    if (c->factors == TD_FACTORS_BF16 && !(td_conv_pointwise(c) && td_conv_per_image(c)))
        return td_conv_data_over_pairs(c, y, x, bias);
    int64_t each = (int64_t)sizeof(td_tap) + (int64_t)sizeof(int64_t),
            lanes = least(c->stride[2], c->in[2]);
    int64_t phases = least(c->stride[0], c->in[0]) * least(c->stride[1], c->in[1]) * lanes;
    phase p = {.taps = td_alloc(c->taps * each)};
    if (!p.taps)
        return td_fail(TD_MEMORY_ERROR, "convolution: no memory for a kernel of %lld elements",
                       (long long)c->taps);
    p.source = (int64_t *)(p.taps + c->taps);
    td_status status = TD_OK;
    if (c->images && c->groups && c->channels)
        for (int64_t i = 0; i < phases && status == TD_OK; i += lanes)
            status = run_rows(c, &p, i, lanes, y, x, bias);
    td_free(p.taps, c->taps * each);
    return status;
}
