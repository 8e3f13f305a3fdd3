/* conv_run.c - the forward algorithms for float and double.
 *
 *   3x3 of stride 1, enough of it   Winograd
 *   depthwise                       plane by plane
 *   1x1                             a product of weights and pixels
 *   small maps                      one product over the pixels of all images, then put in place
 *   bfloat16                        the rest of this list over pairs of channels
 *   else                            a product per image whose right side is made while it is packed,
 *                                   after a copy with its padding if every number is read often
 */
#include "cpu/conv/conv_run.h"
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include "cpu/conv/conv.h"
#include "cpu/conv/winograd.h"
#include "cpu/matmul/gemm_run.h"
#include "runtime/scratch.h"

int td_conv_winograd = 1;
int64_t td_conv_columns_bytes = (int64_t)1 << 30;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- threads ---- */
typedef struct even {
    int64_t n, parts;
    td_range_fn fn;
    void *context;
} even;

static void run_part(void *context, int64_t begin, int64_t end)
{
    const even *e = context;
    for (int64_t i = begin; i < end; i++)
        e->fn(e->context, e->n * i / e->parts, e->n * (i + 1) / e->parts);
}

void td_parallel_even(int64_t n, td_range_fn fn, void *context)
{
    int64_t threads = td_num_threads(), parts = n % (2 * threads) == 0 ? 2 * threads : 3 * threads;
    even e = {n, least(n, parts), fn, context};
    td_parallel(e.parts, 1, run_part, &e);
}

/* ---- patches as the right side of a product ---- */
td_patches td_conv_patches(const td_conv *c)
{
    td_patches p = {.x = c->x,
                    .channel = td_volume(c->in),
                    .taps = c->taps,
                    .tap = (const int64_t(*)[3])c->tap};
    p.image = p.channel * c->channels * c->groups;
    memcpy(p.in, c->in, sizeof p.in);
    memcpy(p.out, c->out, sizeof p.out);
    memcpy(p.stride, c->stride, sizeof p.stride);
    for (int d = 0; d < 3; d++) {
        p.low[d] = p.high[d] = c->taps ? c->tap[0].at[d] : 0;
        for (int64_t t = 1; t < c->taps; t++) {
            if (c->tap[t].at[d] < p.low[d]) p.low[d] = c->tap[t].at[d];
            if (c->tap[t].at[d] > p.high[d]) p.high[d] = c->tap[t].at[d];
        }
    }
    return p;
}

bool td_conv_pointwise(const td_conv *c)
{
    if (c->taps != 1) return false;
    for (int d = 0; d < 3; d++)
        if (c->stride[d] != 1 || c->tap[0].at[d] != 0 || c->in[d] != c->out[d]) return false;
    return true;
}

typedef struct job {
    const td_conv *c;
    td_patches patches;
    const td_conv_kernel *conv;
    const td_gemm_kernel *gemm;
    int64_t item, factor;        /* bytes of a number of y, and of x and w */
    int64_t pixels, step, steps; /* an image's pixels in `steps` blocks of `step` */
    bool pointwise;
    td_gemm_way way;
    td_scratch scratch;
} job;

/* the product for pixels [first, first + n) of one image and group */
static td_gemm block_product(const job *j, td_patches *patches, int64_t image, int64_t group,
                             int64_t first, int64_t n)
{
    const td_conv *c = j->c;
    int64_t depth = c->channels * c->taps, plane = td_volume(c->in),
            along = c->factors == TD_FACTORS_PAIRS ? 2 * depth : depth;
    const char *x = c->x + (image * c->groups + group) * c->channels * plane * j->factor;
    td_gemm g = {.m = c->outputs,
                 .n = n,
                 .k = along,
                 .a = c->w + group * c->outputs * depth * j->factor,
                 .a_row = along,
                 .a_col = 1,
                 .c = c->y +
                      ((image * c->groups + group) * c->outputs * j->pixels + first) * j->item,
                 .c_row = j->pixels,
                 .alpha = 1,
                 .row_bias = c->bias ? c->bias + group * c->outputs * j->item : NULL};
    if (j->pointwise) {
        g.b = x + first * j->factor;
        g.b_row = plane;
        g.b_col = 1;
    } else {
        *patches = j->patches;
        patches->x = x;
        g.pack = j->conv->patches;
        g.pack_context = patches;
        g.pack_work = j->conv->patches_work(patches);
        g.first_col = first;
    }
    g.way = j->way;
    return g;
}

/* The way of a whole image: were it chosen block by block, the bits would depend on how many
 * threads there are. */
static td_gemm_way way_of_image(const job *j)
{
    td_patches patches;
    td_gemm whole = block_product(j, &patches, 0, 0, 0, j->pixels);
    return j->gemm->plan(&whole);
}

static void run_blocks(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    void *work = td_scratch_take(&j->scratch);
    for (int64_t i = begin; i < end; i++) {
        td_patches patches;
        int64_t first = i % j->steps * j->step, which = i / j->steps;
        td_gemm g = block_product(j, &patches, which / j->c->groups, which % j->c->groups, first,
                                  least(j->step, j->pixels - first));
        j->gemm->run(&g, work);
    }
    td_scratch_give(&j->scratch, work);
}

static job job_of(const td_conv *c)
{
    int is_double = c->dtype == TD_F64;
    return (job){.c = c,
                 .patches = td_conv_patches(c),
                 .conv = &TD_PICK(td_conv_kernels)->real[is_double],
                 .gemm = c->factors ? td_gemm_bf16() : td_gemm_kernel_of(is_double),
                 .item = td_itemsize(c->dtype),
                 .factor = td_factor_bytes(c),
                 .pixels = td_volume(c->out),
                 .pointwise = c->factors != TD_FACTORS_PAIRS && td_conv_pointwise(c)};
}

#define BLOCK_PIXELS 1568 /* patches of a block stay in the caches */

static td_status run_per_image(const td_conv *c)
{
    job j = job_of(c);
    int64_t products = c->images * c->groups, threads = td_num_threads(), nr = j.gemm->nr;
    int64_t parts = products >= 2 * threads ? 1 : threads;
    int64_t blocks = (j.pixels + BLOCK_PIXELS - 1) / BLOCK_PIXELS;
    if (blocks > parts) parts = blocks;
    j.step = ((j.pixels + parts - 1) / parts + nr - 1) / nr * nr;
    j.steps = (j.pixels + j.step - 1) / j.step;
    j.way = way_of_image(&j);
    td_patches patches;
    /* Blocks differ in columns only, and what a block wants grows with its columns. */
    td_gemm largest = block_product(&j, &patches, 0, 0, 0, least(j.step, j.pixels));
    TD_TRY(td_scratch_begin(&j.scratch, j.gemm->work(&largest)));
    td_parallel_even(products * j.steps, run_blocks, &j);
    td_scratch_end(&j.scratch);
    return TD_OK;
}

/* ---- small maps: [outputs][images * pixels], then [images][outputs][pixels] ---- */
typedef struct placing {
    char *y;
    const char *from;
    int64_t images, outputs, bytes; /* of a plane */
} placing;

static void place_planes(void *context, int64_t begin, int64_t end)
{
    const placing *p = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t image = i / p->outputs, output = i % p->outputs;
        memcpy(p->y + i * p->bytes, p->from + (output * p->images + image) * p->bytes,
               (size_t)p->bytes);
    }
}

static td_status run_all_images(const td_conv *c)
{
    job j = job_of(c);
    int64_t bytes = c->outputs * c->images * j.pixels * j.item,
            depth = c->channels * c->taps * (c->factors == TD_FACTORS_PAIRS ? 2 : 1);
    char *sums = td_alloc(bytes);
    if (!sums)
        return td_fail(TD_MEMORY_ERROR, "convolution: no memory for %lld bytes", (long long)bytes);
    td_gemm g = {.m = c->outputs,
                 .n = c->images * j.pixels,
                 .k = depth,
                 .a = c->w,
                 .a_row = depth,
                 .a_col = 1,
                 .c = sums,
                 .c_row = c->images * j.pixels,
                 .alpha = 1,
                 .row_bias = c->bias,
                 .pack = j.conv->patches,
                 .pack_context = &j.patches,
                 .pack_work = j.conv->patches_work(&j.patches)};
    td_status status = c->factors ? td_gemm_run_bf16(&g) : td_gemm_run(c->dtype == TD_F64, &g);
    placing p = {c->y, sums, c->images, c->outputs, j.pixels * j.item};
    if (status == TD_OK) td_parallel(c->images * c->outputs, 1 + 65536 / p.bytes, place_planes, &p);
    td_free(sums, bytes);
    return status;
}

/* ---- depthwise ---- */
static void run_planes(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    const td_conv *c = j->c;
    int64_t plane = td_volume(c->in) * j->item;
    void *work = td_scratch_take(&j->scratch);
    for (int64_t i = begin; i < end; i++) {
        int64_t output = i % (c->groups * c->outputs);
        double bias = !c->bias             ? 0
                      : c->dtype == TD_F64 ? ((const double *)c->bias)[output]
                                           : ((const float *)c->bias)[output];
        j->conv->plane(&j->patches, c->x + i / c->outputs * plane,
                       c->w + output * c->taps * j->item, bias, c->y + i * j->pixels * j->item,
                       work);
    }
    td_scratch_give(&j->scratch, work);
}

bool td_conv_wants_planes(const td_conv *c)
{
    if (c->groups == 1 || c->channels != 1 || c->outputs > 4 || c->factors) return false;
    td_patches p = td_conv_patches(c);
    return TD_PICK(td_conv_kernels)->real[c->dtype == TD_F64].plane_work(&p) >= 0;
}

static td_status run_depthwise(const td_conv *c)
{
    job j = job_of(c);
    TD_TRY(td_scratch_begin(&j.scratch, j.conv->plane_work(&j.patches)));
    td_parallel_even(c->images * c->groups * c->outputs, run_planes, &j);
    td_scratch_end(&j.scratch);
    return TD_OK;
}

/* ---- Winograd ---- */
bool td_conv_winograd_fits(const td_conv *c)
{
    if (!td_conv_winograd || c->dtype != TD_F32 || c->factors || c->groups != 1 ||
        c->channels < 16 || c->outputs < 16)
        return false;
    if (c->in[0] != 1 || c->out[0] != 1 || c->kernel[0] != 1 || c->kernel[1] != 3 ||
        c->kernel[2] != 3)
        return false;
    for (int d = 1; d < 3; d++)
        if (c->stride[d] != 1 || c->dilation[d] != 1 || c->padding[d] < 0 || c->padding[d] > 2)
            return false;
    return true;
}

/* Where it is asked for, images take the same way in any batch: that of a large one. */
static int64_t images_that_count(const td_conv *c) { return td_batch_invariant ? 16 : c->images; }

bool td_conv_wants_winograd(const td_conv *c)
{
    int64_t images = images_that_count(c);
    int64_t tiles = (c->out[1] + 3) / 4 * ((c->out[2] + 3) / 4) * images,
            side = least(c->out[1], c->out[2]);
    return td_conv_winograd_fits(c) && tiles >= 64 && (side >= 14 || (images >= 16 && side >= 8));
}

typedef struct weight_job {
    const td_conv *c;
    const td_winograd_kernel *kernel;
    float *to;
    _Atomic uint32_t most[9]; /* bits of the largest magnitude of each tap */
} weight_job;

static void run_weights(void *context, int64_t begin, int64_t end)
{
    weight_job *j = context;
    float most[9];
    j->kernel->weights(j->to, (const float *)j->c->w, j->c->outputs, j->c->channels, begin, end,
                       most);
    for (int tap = 0; tap < 9; tap++) {
        uint32_t bits, old = atomic_load(&j->most[tap]);
        memcpy(&bits, &most[tap], 4);
        while (old < bits && !atomic_compare_exchange_weak(&j->most[tap], &old, bits)) {}
    }
}

#define TAPS_SPREAD 4096.f
#define GROWTH 4096.f /* bounds what the transformations of input, weights and sums multiply */

/* The largest input that stays in float's range, or NaN where taps are infinite, NaN, or so unlike
 * that an output at the edge, which sees some of them, would get errors of the largest. Taps of
 * zeros, of masked kernels, are no measure. */
static float input_limit(const weight_job *w)
{
    float most = 0, least = INFINITY;
    for (int tap = 0; tap < 9; tap++) {
        float size;
        uint32_t bits = atomic_load(&w->most[tap]);
        memcpy(&size, &bits, 4);
        if (!isfinite(size)) return NAN;
        if (size > most) most = size;
        if (size > 0 && size < least) least = size;
    }
    if (most > TAPS_SPREAD * least) return NAN;
    return fminf(1e36f, FLT_MAX / GROWTH / ((float)w->c->channels * fmaxf(most, FLT_MIN)));
}

typedef struct tile_job {
    const td_winograd *p;
    const td_winograd_kernel *kernel;
    const td_winograd_plain *plain;
    td_scratch scratch;
} tile_job;

static void run_tiles(void *context, int64_t begin, int64_t end)
{
    tile_job *j = context;
    void *work = td_scratch_take(&j->scratch);
    j->kernel->run(j->p, begin, end, work);
    td_scratch_give(&j->scratch, work);
}

static void mend_tiles(void *context, int64_t begin, int64_t end)
{
    tile_job *j = context;
    void *work = td_scratch_take(&j->scratch);
    j->plain->mend(j->p, begin, end, work);
    td_scratch_give(&j->scratch, work);
}

td_winograd td_conv_winograd_of(const td_conv *c, const float *weights)
{
    td_winograd p = {.channels = c->channels,
                     .outputs = c->outputs,
                     .x = (const float *)c->x,
                     .y = (float *)c->y,
                     .bias = (const float *)c->bias,
                     .weights = weights,
                     .plain = (const float *)c->w,
                     .x_channel = td_volume(c->in),
                     .y_channel = td_volume(c->out)};
    p.x_image = p.x_channel * c->channels;
    p.y_image = p.y_channel * c->outputs;
    for (int d = 0; d < 2; d++) {
        p.in[d] = c->in[d + 1];
        p.out[d] = c->out[d + 1];
        p.pad[d] = c->padding[d + 1];
        p.tiles[d] = (p.out[d] + 3) / 4;
    }
    p.all_tiles = p.tiles[0] * p.tiles[1] * c->images;
    return p;
}

static td_status run_all_tiles(const td_winograd *p, int64_t images)
{
    tile_job t = {
        .p = p, .kernel = TD_PICK(td_winograd_kernel), .plain = TD_PICK(td_winograd_plain)};
    int64_t work = t.kernel->work(p), plain = t.plain->work(p);
    TD_TRY(td_scratch_begin(&t.scratch, work > plain ? work : plain));
    td_parallel_even((p->all_tiles + t.kernel->block - 1) / t.kernel->block, run_tiles, &t);
    td_parallel_even(images * p->tiles[0], mend_tiles, &t);
    td_scratch_end(&t.scratch);
    return TD_OK;
}

/* `done` is false, and y not written, where the weights want plain sums. */
static td_status run_winograd(const td_conv *c, bool *done)
{
    td_winograd p = td_conv_winograd_of(c, NULL);
    int64_t numbers = 36 * c->outputs * c->channels,
            bytes = (numbers + 2 * p.all_tiles) * (int64_t)sizeof(float);
    float *weights = td_alloc(bytes);
    if (!weights)
        return td_fail(TD_MEMORY_ERROR, "convolution: no memory for %lld bytes", (long long)bytes);
    weight_job w = {c, TD_PICK(td_winograd_kernel), weights};
    td_parallel(c->channels, 1 + 4096 / c->outputs, run_weights, &w);
    p.weights = weights;
    p.sizes = (td_tile_sizes){weights + numbers, weights + numbers + p.all_tiles};
    p.limit = input_limit(&w);
    *done = p.limit > 0;
    td_status status = *done ? run_all_tiles(&p, c->images) : TD_OK;
    td_free(weights, bytes);
    return status;
}

bool td_conv_per_image(const td_conv *c)
{
    return c->groups > 1 || images_that_count(c) <= 1 || td_volume(c->out) > 256;
}

td_status td_conv_forward(const td_conv *c)
{
    int64_t pixels = td_volume(c->out);
    if (c->images == 0 || c->groups == 0 || c->outputs == 0 || pixels == 0) return TD_OK;
    if (!td_conv_is_real(c->dtype)) return td_conv_columns_forward(c);
    if (td_conv_wants_winograd(c)) {
        bool done;
        TD_TRY(run_winograd(c, &done));
        if (done) return TD_OK;
    }
    if (c->factors == TD_FACTORS_BF16 && !(td_conv_pointwise(c) && td_conv_per_image(c)))
        return td_conv_over_pairs(c, td_conv_forward);
    if (td_conv_wants_planes(c)) return run_depthwise(c);
    td_status (*run)(const td_conv *) = td_conv_per_image(c) ? run_per_image : run_all_images;
    return td_conv_wants_padding(c) ? td_conv_over_padded(c, run) : run(c);
}
