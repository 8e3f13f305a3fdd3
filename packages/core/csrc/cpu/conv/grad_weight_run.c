/* grad_weight_run.c - the gradient of a convolution with respect to its weights.
 *
 * A weight's gradient is a sum over all places where it was used: for few channels plane by plane,
 * else one matrix product of the output's gradient and the input's patches, an image after the
 * other or all at once, or Winograd's tiles of both. */
#include "cpu/conv/conv_run.h"
#include <float.h>
#include <math.h>
#include <string.h>
#include "cpu/conv/conv.h"
#include "cpu/conv/winograd.h"
#include "cpu/matmul/gemm_run.h"
#include "runtime/scratch.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

typedef struct weight_job {
    const td_conv *c;
    const td_conv_kernel *conv;
    const td_gemm_kernel *gemm;
    const char *g;
    char *dw;
    int64_t item, factor; /* bytes of a number of dw, and of x and g */
    int64_t pixels;
    td_patches patches;
    td_scratch scratch;
} weight_job;

static weight_job weight_job_of(const td_conv *c, const char *g, char *dw)
{
    int is_double = c->dtype == TD_F64;
    weight_job j = {.c = c,
                    .conv = &TD_PICK(td_conv_kernels)->real[is_double],
                    .gemm = c->factors ? td_gemm_bf16() : td_gemm_kernel_of(is_double),
                    .g = g,
                    .dw = dw,
                    .item = td_itemsize(c->dtype),
                    .factor = td_factor_bytes(c),
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
    int64_t columns = c->channels * c->taps, each = c->factors == TD_FACTORS_PAIRS ? 2 : 1;
    const char *x =
        c->x + (first * j->patches.image + group * c->channels * j->patches.channel) * j->factor;
    td_gemm product = {.m = c->outputs,
                       .n = columns,
                       .k = count * j->pixels * each,
                       .a = g,
                       .a_row = g_row * each,
                       .a_col = 1,
                       .c = j->dw + group * c->outputs * columns * j->item,
                       .c_row = columns,
                       .alpha = 1,
                       .add = first > 0};
    if (count == 1 && each == 1 && td_conv_pointwise(c)) {
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
    const char *g = j->g + (image * c->groups + group) * c->outputs * j->pixels * j->factor;
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

static td_status run_product(const td_conv *c, td_gemm *product)
{
    return c->factors ? td_gemm_run_bf16(product) : td_gemm_run(c->dtype == TD_F64, product);
}

/* Small maps: one product over the pixels of all images, because each pass over dw costs. */
static td_status weight_all_images(weight_job *j)
{
    const td_conv *c = j->c;
    int64_t row = c->images * j->pixels, bytes = c->outputs * row * j->factor;
    char *g = td_alloc(bytes);
    if (!g)
        return td_fail(TD_MEMORY_ERROR, "convolution: no memory for %lld bytes", (long long)bytes);
    gathering p = {j->g, g, c->images, c->outputs, j->pixels * j->factor};
    td_parallel(c->images * c->outputs, 1 + 65536 / p.bytes, gather_planes, &p);
    td_patches patches;
    td_gemm product = weight_product(j, &patches, g, row, 0, c->images, 0);
    td_status status = run_product(c, &product);
    td_free(g, bytes);
    return status;
}

/* ---- Winograd: blocks of outputs and channels. The sums of a weight run over the tiles in one
 * order, whatever the blocks. ---- */
typedef struct winograd_job {
    td_winograd p;
    const td_winograd_kernel *kernel;
    float *dw;
    int64_t outputs, channels, across, down; /* of a block; blocks side by side, and below */
    float *sizes;                            /* [across + down][2][tiles] */
    td_scratch scratch;
} winograd_job;

static td_tile_sizes sizes_at(const winograd_job *j, int64_t block)
{
    float *most = j->sizes + 2 * block * j->p.all_tiles;
    return (td_tile_sizes){most, most + j->p.all_tiles};
}

static void run_winograd_blocks(void *context, int64_t begin, int64_t end)
{
    winograd_job *j = context;
    void *work = td_scratch_take(&j->scratch);
    for (int64_t i = begin; i < end; i++) {
        int64_t row = i / j->across, col = i % j->across, output = row * j->outputs,
                channel = col * j->channels;
        td_tile_sizes none = {NULL, NULL};
        j->kernel->gradient(&j->p, output, least(j->outputs, j->p.outputs - output), channel,
                            least(j->channels, j->p.channels - channel), j->dw,
                            row == 0 ? sizes_at(j, col) : none,
                            col == 0 ? sizes_at(j, j->across + row) : none, work);
    }
    td_scratch_give(&j->scratch, work);
}

/* The larger magnitude; NaN if one is: for positive numbers the order of bits. */
static float wider(float a, float b) { return a > b || isnan(a) ? a : b; }

/* all blocks of channels [block, end) into the first of them */
static td_tile_sizes join_blocks(const winograd_job *j, int64_t block, int64_t end)
{
    td_tile_sizes all = sizes_at(j, block);
    for (int64_t b = block + 1; b < end; b++) {
        const float *more = sizes_at(j, b).most;
        for (int64_t t = 0; t < j->p.all_tiles; t++) all.most[t] = wider(all.most[t], more[t]);
    }
    return all;
}

/* the widest of a tile and its neighbours in its image, whose numbers it reads */
static float widest_around(const td_winograd *p, const float *most, int64_t tile)
{
    int64_t across = p->tiles[1], x = tile % across, y = tile / across % p->tiles[0];
    float widest = 0;
    for (int64_t down = y > 0 ? -1 : 0; down <= (y + 1 < p->tiles[0]); down++)
        for (int64_t right = x > 0 ? -1 : 0; right <= (x + 1 < across); right++)
            widest = wider(widest, most[tile + down * across + right]);
    return widest;
}

#define WEIGHT_SPREAD 16. /* ordinary inputs have 5 with the fewest tiles, and less with more */
#define GROWTH 4096.      /* bounds what the transformations of both and of the sums multiply */

static bool at_edge(const td_winograd *p, int64_t tile)
{
    int64_t x = tile % p->tiles[1], y = tile / p->tiles[1] % p->tiles[0];
    return x == 0 || y == 0 || x == p->tiles[1] - 1 || y == p->tiles[0] - 1;
}

/* Every weight of a tile gets errors of the largest input times the largest gradient of that tile.
 * Where it sees both, that is its share of rounding. It does not at an edge, and where inputs
 * differ in size: the sum of the squares of these errors. */
static double unseen_errors(const td_winograd *p, td_tile_sizes x, td_tile_sizes y)
{
    double squares = 0;
    for (int64_t t = 0; t < p->all_tiles; t++) {
        float most = widest_around(p, x.most, t);
        double error = (double)most * y.most[t];
        if (at_edge(p, t) || most > TD_WINOGRAD_SPREAD * x.least[t]) squares += error * error;
    }
    return squares;
}

static bool sizes_are_even(const winograd_job *j)
{
    const td_winograd *p = &j->p;
    td_tile_sizes x = join_blocks(j, 0, j->across),
                  y = join_blocks(j, j->across, j->across + j->down);
    double sum = 0, all = 0, squares = 0;
    float most_x = 0, most_y = 0;
    for (int64_t t = 0; t < p->all_tiles; t++) {
        most_x = wider(most_x, x.most[t]);
        most_y = wider(most_y, y.most[t]);
        sum += (double)x.least[t] * y.least[t];
        all += y.most[t];
        squares += (double)y.most[t] * y.most[t];
    }
    if (!(most_x < 1e36f && most_y < 1e36f)) return false;
    if (most_x * all >= FLT_MAX / GROWTH) return false;
    double bound = WEIGHT_SPREAD * sum;
    return most_x * sqrt(squares) <= bound || sqrt(unseen_errors(p, x, y)) <= bound;
}

static int64_t winograd_tiles(const td_conv *c)
{
    return (c->out[1] + 3) / 4 * ((c->out[2] + 3) / 4) * c->images;
}

static int64_t pieces(int64_t n, int64_t each) { return (n + each - 1) / each; }

/* `done` is false where the sizes of the numbers want plain sums. */
static td_status winograd_weight(const td_conv *c, const char *g, char *dw, bool *done)
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
    j.down = pieces(c->outputs, j.outputs);
    int64_t bytes = 2 * (j.across + j.down) * j.p.all_tiles * (int64_t)sizeof(float);
    j.sizes = td_alloc(bytes);
    if (!j.sizes)
        return td_fail(TD_MEMORY_ERROR, "convolution: no memory for %lld bytes", (long long)bytes);
    td_status status = td_scratch_begin(&j.scratch, j.kernel->gradient_work(j.outputs, j.channels));
    if (status == TD_OK) {
        td_parallel_even(j.down * j.across, run_winograd_blocks, &j);
        td_scratch_end(&j.scratch);
        *done = sizes_are_even(&j);
    }
    td_free(j.sizes, bytes);
    return status;
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
    bool together = c->groups == 1 && c->images > 1 && j.pixels < 512;
    if (c->factors == TD_FACTORS_BF16 && (together || !td_conv_pointwise(c)))
        return td_conv_weight_over_pairs(c, g, dw);
    if (td_conv_winograd_fits(c) && winograd_tiles(c) >= 16) {
        bool done = false;
        TD_TRY(winograd_weight(c, g, dw, &done));
        if (done) return TD_OK;
    }
    if (td_conv_wants_planes(c)) return depthwise_weight(c, g, dw);
    if (c->groups > 1) return grouped_weight(&j);
    if (together) return weight_all_images(&j);
    for (int64_t n = 0; n < c->images; n++) {
        td_patches patches;
        td_gemm product = image_product(&j, &patches, n, 0);
        TD_TRY(run_product(c, &product));
    }
    return TD_OK;
}
