/* grad_run.c - the two gradients of convolutions.
 *
 * With respect to the input, a convolution of stride s is s * s ... convolutions of stride 1:
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
    if (item == 4)
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
    turning t = {c, p, td_itemsize(c->dtype), (c->channels + CHANNELS - 1) / CHANNELS};
    td_parallel(c->groups * t.blocks, 1 + 512 / (c->outputs * p->conv.taps + 1), turn_weights, &t);
}

/* one phase with taps: its weights, then the forward algorithms; results go to conv.y */
static td_status run_phase(const td_conv *c, phase *p, const char *bias)
{
    int64_t bytes = c->groups * c->channels * c->outputs * p->conv.taps * td_itemsize(c->dtype);
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

/* ---- weights ---- */
typedef struct weight_job {
    const td_conv *c;
    const td_conv_kernel *conv;
    const td_gemm_kernel *gemm;
    const char *g;
    char *dw;
    int64_t item, pixels;
    td_patches patches;
    td_scratch scratch;
} weight_job;

static weight_job weight_job_of(const td_conv *c, const char *g, char *dw)
{
    int is_double = c->dtype == TD_F64;
    weight_job j = {.c = c,
                    .conv = &TD_PICK(td_conv_kernels)->real[is_double],
                    .gemm = td_gemm_kernel_of(is_double),
                    .g = g,
                    .dw = dw,
                    .item = td_itemsize(c->dtype),
                    .pixels = td_volume(c->out)};
    j.patches = td_conv_patches(c);
    return j;
}

static void run_plane_weights(void *context, int64_t begin, int64_t end)
{
    const weight_job *j = context;
    const td_conv *c = j->c;
    int64_t outputs = c->groups * c->outputs, plane = td_volume(c->in) * j->item;
    double *sums = td_scratch_take(&j->scratch);
    void *work = sums + c->taps;
    for (int64_t o = begin; o < end; o++) {
        memset(sums, 0, (size_t)c->taps * sizeof(double));
        for (int64_t n = 0; n < c->images; n++)
            j->conv->plane_weight(&j->patches, c->x + (n * c->groups + o / c->outputs) * plane,
                                  j->g + (n * outputs + o) * j->pixels * j->item, sums, work);
        for (int64_t t = 0; t < c->taps; t++)
            if (c->dtype == TD_F64) ((double *)j->dw)[o * c->taps + t] = sums[t];
            else ((float *)j->dw)[o * c->taps + t] = (float)sums[t];
    }
    td_scratch_give(&j->scratch, sums);
}

static td_status depthwise_weight(const td_conv *c, const char *g, char *dw)
{
    weight_job j = weight_job_of(c, g, dw);
    TD_TRY(td_scratch_begin(&j.scratch,
                            c->taps * (int64_t)sizeof(double) + j.conv->plane_work(&j.patches)));
    td_parallel_even(c->groups * c->outputs, run_plane_weights, &j);
    td_scratch_end(&j.scratch);
    return TD_OK;
}

/* dw of one group from images [first, first + count): rows of g are `g_row` apart, pixels of the
 * images follow each other */
static td_gemm weight_product(const weight_job *j, td_patches *patches, const char *g,
                              int64_t g_row, int64_t first, int64_t count, int64_t group)
{
    const td_conv *c = j->c;
    int64_t columns = c->channels * c->taps;
    const char *x =
        c->x + (first * j->patches.image + group * c->channels * j->patches.channel) * j->item;
    td_gemm product = {.m = c->outputs,
                       .n = columns,
                       .k = count * j->pixels,
                       .a = g,
                       .a_row = g_row,
                       .a_col = 1,
                       .c = j->dw + group * c->outputs * columns * j->item,
                       .c_row = columns,
                       .alpha = 1,
                       .add = first > 0};
    if (count == 1 && td_conv_pointwise(c)) {
        product.b = x;
        product.b_row = 1;
        product.b_col = j->pixels;
        return product;
    }
    *patches = j->patches;
    patches->x = x;
    product.pack = j->conv->turned;
    product.pack_context = patches;
    product.pack_work = j->conv->turned_work(patches);
    return product;
}

static td_gemm image_product(const weight_job *j, td_patches *patches, int64_t image, int64_t group)
{
    const td_conv *c = j->c;
    const char *g = j->g + (image * c->groups + group) * c->outputs * j->pixels * j->item;
    return weight_product(j, patches, g, j->pixels, image, 1, group);
}

static void run_groups(void *context, int64_t begin, int64_t end)
{
    const weight_job *j = context;
    void *work = td_scratch_take(&j->scratch);
    for (int64_t group = begin; group < end; group++)
        for (int64_t n = 0; n < j->c->images; n++) {
            td_patches patches;
            td_gemm g = image_product(j, &patches, n, group);
            g.way = j->gemm->plan(&g);
            j->gemm->run(&g, work);
        }
    td_scratch_give(&j->scratch, work);
}

static td_status grouped_weight(weight_job *j)
{
    td_patches patches;
    td_gemm like = image_product(j, &patches, 0, 0);
    like.way = j->gemm->plan(&like);
    TD_TRY(td_scratch_begin(&j->scratch, j->gemm->work(&like)));
    td_parallel_even(j->c->groups, run_groups, j);
    td_scratch_end(&j->scratch);
    return TD_OK;
}

/* [outputs][images][pixels] from [images][outputs][pixels] */
typedef struct gathering {
    const char *from;
    char *to;
    int64_t images, outputs, bytes;
} gathering;

static void gather_planes(void *context, int64_t begin, int64_t end)
{
    const gathering *p = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t output = i / p->images, image = i % p->images;
        memcpy(p->to + i * p->bytes, p->from + (image * p->outputs + output) * p->bytes,
               (size_t)p->bytes);
    }
}

/* Small maps: one product over the pixels of all images, because each pass over dw costs. */
static td_status weight_all_images(weight_job *j)
{
    const td_conv *c = j->c;
    int64_t row = c->images * j->pixels, bytes = c->outputs * row * j->item;
    char *g = td_alloc(bytes);
    if (!g)
        return td_fail(TD_MEMORY_ERROR, "convolution: no memory for %lld bytes", (long long)bytes);
    gathering p = {j->g, g, c->images, c->outputs, j->pixels * j->item};
    td_parallel(c->images * c->outputs, 1 + 65536 / p.bytes, gather_planes, &p);
    td_patches patches;
    td_gemm product = weight_product(j, &patches, g, row, 0, c->images, 0);
    td_status status = td_gemm_run(c->dtype == TD_F64, &product);
    td_free(g, bytes);
    return status;
}

/* ---- Winograd: blocks of outputs and channels. The sums of a weight run over the tiles in one
 * order, whatever the blocks. ---- */
typedef struct winograd_job {
    td_winograd p;
    const td_winograd_kernel *kernel;
    float *dw;
    int64_t outputs, channels, across; /* of a block; blocks side by side */
    td_scratch scratch;
} winograd_job;

static void run_winograd_blocks(void *context, int64_t begin, int64_t end)
{
    winograd_job *j = context;
    void *work = td_scratch_take(&j->scratch);
    for (int64_t i = begin; i < end; i++) {
        int64_t output = i / j->across * j->outputs, channel = i % j->across * j->channels;
        j->kernel->gradient(&j->p, output, least(j->outputs, j->p.outputs - output), channel,
                            least(j->channels, j->p.channels - channel), j->dw, work);
    }
    td_scratch_give(&j->scratch, work);
}

static int64_t winograd_tiles(const td_conv *c)
{
    return (c->out[1] + 3) / 4 * ((c->out[2] + 3) / 4) * c->images;
}

static int64_t pieces(int64_t n, int64_t each) { return (n + each - 1) / each; }

static td_status winograd_weight(const td_conv *c, const char *g, char *dw)
{
    winograd_job j = {.p = td_conv_winograd_of(c, NULL),
                      .kernel = TD_PICK(td_winograd_kernel),
                      .dw = (float *)dw,
                      .outputs = 64,
                      .channels = 64};
    j.p.y = (float *)(uintptr_t)g; /* only read */
    while (j.channels > 16 &&
           pieces(c->outputs, j.outputs) * pieces(c->channels, j.channels) < 2 * td_num_threads())
        j.channels /= 2;
    j.across = pieces(c->channels, j.channels);
    TD_TRY(td_scratch_begin(&j.scratch, j.kernel->gradient_work(j.outputs, j.channels)));
    td_parallel_even(pieces(c->outputs, j.outputs) * j.across, run_winograd_blocks, &j);
    td_scratch_end(&j.scratch);
    return TD_OK;
}

td_status td_conv_weight(const td_conv *c, const char *g, char *dw)
{
    int64_t elements = c->groups * c->outputs * c->channels * c->taps;
    if (elements == 0) return TD_OK;
    weight_job j = weight_job_of(c, g, dw);
    if (c->images == 0 || j.pixels == 0 || td_volume(c->in) == 0) {
        memset(dw, 0, (size_t)(elements * td_itemsize(c->dtype)));
        return TD_OK;
    }
    if (!td_conv_is_real(c->dtype)) return td_conv_columns_weight(c, g, dw);
    if (td_conv_winograd_fits(c) && winograd_tiles(c) >= 16) return winograd_weight(c, g, dw);
    if (c->groups > 1 && c->channels == 1 && c->outputs <= 4) return depthwise_weight(c, g, dw);
    if (c->groups > 1) return grouped_weight(&j);
    if (c->images > 1 && j.pixels < 512) return weight_all_images(&j);
    for (int64_t n = 0; n < c->images; n++) {
        td_patches patches;
        td_gemm product = image_product(&j, &patches, n, 0);
        TD_TRY(td_gemm_run(c->dtype == TD_F64, &product));
    }
    return TD_OK;
}
