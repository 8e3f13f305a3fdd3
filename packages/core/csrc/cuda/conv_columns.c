/* conv_columns.c - convolutions as products of matrices. The second factor holds what every pixel
 * sees through every tap: its columns, which are made for a part of the pixels at a time, so that
 * they lie in the cache of the device when they are read.
 *
 *   forward   y = W . columns of x      W [outputs, channels taps]
 *   data      x = W'. columns of y      W turned to [channels, outputs taps]
 *   weight    W = y . columns of x'     sums over the pixels of all images
 *
 * Where pixels see nothing but themselves (1x1), the planes are the columns. */
#include "cuda/conv_call.h"
#include "cuda/device.h"
#include "cpu/matmul/gemm_run.h"

#define COLUMNS_BYTES ((int64_t)32 << 20) /* of products over pixels: below the cache of a card */

typedef struct scratch {
    void *block;
    char *data;
    int64_t bytes;
} scratch;

static td_status take(scratch *s, int64_t elements, td_dtype dtype, int ordinal)
{
    s->bytes = elements * td_itemsize(dtype);
    return td_cuda_alloc(&s->data, s->bytes, td_device_of(TD_CUDA, ordinal), &s->block);
}
/* What was queued on the stream still comes before the next use of this memory. */
static void give(scratch *s)
{
    if (s->data) td_cuda_release(s->block, s->data, s->bytes);
}

static bool sees_itself(const td_conv *v)
{
    for (int d = 0; d < 3; d++)
        if (v->kernel[d] != 1 || v->stride[d] != 1 || v->padding[d]) return false;
    return true;
}

/* ---- a part of the work: images and pixels of each ---- */
typedef struct part {
    int64_t image, images, pixel, pixels;
} part;

/* Whole images where some fit into `bytes`, else pixels of one. */
static part first_part(int64_t images, int64_t pixels, int64_t pixel_bytes, int64_t bytes)
{
    int64_t fit = bytes / pixel_bytes;
    if (fit >= pixels) return (part){0, fit / pixels < images ? fit / pixels : images, 0, pixels};
    fit = fit < 64 ? 64 : fit / 64 * 64;
    return (part){0, 1, 0, fit < pixels ? fit : pixels};
}

static bool next_part(part *p, const part *first, int64_t images, int64_t pixels)
{
    p->pixel += p->pixels;
    if (p->pixel >= pixels) {
        p->pixel = 0;
        p->image += p->images;
    }
    if (p->image >= images) return false;
    int64_t rest = images - p->image, left = pixels - p->pixel;
    p->images = first->images < rest ? first->images : rest;
    p->pixels = first->pixels < left ? first->pixels : left;
    return true;
}

/* Dense planes [sets, groups, channels] of a size in another order: columns of pixels that see
 * themselves. */
static td_status move_planes(const char *from, char *to, td_dtype dtype, int ordinal,
                             const int64_t planes[3], const int64_t steps[3], const int64_t size[3])
{
    int64_t pixels = td_volume(size);
    td_cuda_conv_call c = {.x = from,
                           .to = to,
                           .n = planes[0] * planes[1] * planes[2] * pixels,
                           .images = planes[0],
                           .groups = planes[1],
                           .channels = planes[2],
                           .in = {(int32_t)size[0], (int32_t)size[1], (int32_t)size[2]},
                           .out = {(int32_t)size[0], (int32_t)size[1], (int32_t)size[2]},
                           .stride = {1, 1, 1},
                           .kernel = {1, 1, 1},
                           .dilation = {1, 1, 1},
                           .pixels = pixels,
                           .by_image = steps[0],
                           .by_group = steps[1],
                           .by_channel = steps[2],
                           .by_tap = pixels};
    return td_cuda_conv_launch(TD_CUDA_CONV_COLUMNS, dtype, ordinal, &c);
}

/* ---- forward and data ---- */
typedef struct over_pixels {
    const td_conv_job *job;
    int ordinal;
    bool back;                     /* from y to x */
    int64_t rows, channels, depth; /* of a group: results, what is read, and with its taps */
    int64_t pixels, places;        /* of a plane of results, and of one that is read */
    const char *w, *from;
    int64_t w_row, w_col;
} over_pixels;

static td_status columns(const over_pixels *o, const part *p, char *to)
{
    const td_conv *v = o->job->conv;
    td_cuda_conv_call c = td_cuda_conv_call_of(o->job);
    const char *from =
        o->from + p->image * v->groups * o->channels * o->places * td_itemsize(v->dtype);
    c.x = c.y = from;
    c.to = to;
    c.channels = o->channels;
    c.n = p->images * v->groups * o->channels * p->pixels;
    c.first = p->pixel;
    c.pixels = p->pixels;
    c.by_tap = p->pixels;
    c.by_channel = td_volume(v->kernel) * p->pixels;
    c.by_group = o->depth * p->pixels;
    c.by_image = v->groups * c.by_group;
    return td_cuda_conv_launch(o->back ? TD_CUDA_CONV_SEEN : TD_CUDA_CONV_COLUMNS, v->dtype,
                               o->ordinal, &c);
}

/* `b`: columns of the part, or the planes themselves */
static td_status multiply(const over_pixels *o, const part *p, const char *b, int64_t row)
{
    const td_conv *v = o->job->conv;
    int64_t plane = o->rows * o->pixels, item = td_itemsize(v->dtype);
    td_product product = {
        .dtype = v->dtype,
        .m = o->rows,
        .n = p->pixels,
        .k = o->depth,
        .a = o->w,
        .b = b,
        .c = o->job->to + (p->image * v->groups * plane + p->pixel) * item,
        .a_row = o->w_row,
        .a_col = o->w_col,
        .b_row = row,
        .b_col = 1,
        .c_row = o->pixels,
        .alpha = td_scalar_int(1),
        .beta = td_scalar_int(o->job->bias != NULL),
        .batch_dims = 2,
        .batch = {p->images, v->groups},
        .a_batch = {0, o->rows * o->depth},
        .b_batch = {v->groups * o->depth * row, o->depth * row},
        .c_batch = {v->groups * plane, plane},
    };
    return td_cuda_product(&product, td_device_of(TD_CUDA, o->ordinal));
}

static td_status all_parts(const over_pixels *o)
{
    const td_conv *v = o->job->conv;
    scratch s = {0};
    int64_t pixel_bytes = v->groups * o->depth * td_itemsize(v->dtype);
    part first = first_part(v->images, o->pixels, pixel_bytes, COLUMNS_BYTES), p = first;
    td_status status =
        take(&s, first.images * v->groups * o->depth * first.pixels, v->dtype, o->ordinal);
    for (bool more = status == TD_OK; more && status == TD_OK;
         more = next_part(&p, &first, v->images, o->pixels)) {
        status = columns(o, &p, s.data);
        if (status == TD_OK) status = multiply(o, &p, s.data, p.pixels);
    }
    give(&s);
    return status;
}

/* results that start as the bias, to which products are added */
static td_status start_with_bias(const over_pixels *o)
{
    const td_conv *v = o->job->conv;
    td_cuda_conv_call c = {.bias = o->job->bias,
                           .to = o->job->to,
                           .n = o->job->n,
                           .channels = v->groups * o->rows,
                           .pixels = o->pixels};
    return c.bias ? td_cuda_conv_launch(TD_CUDA_CONV_BIAS, v->dtype, o->ordinal, &c) : TD_OK;
}

static td_status run_pixels(over_pixels *o)
{
    const td_conv *v = o->job->conv;
    part all = {0, v->images, 0, o->pixels};
    TD_TRY(start_with_bias(o));
    return sees_itself(v) ? multiply(o, &all, o->from, o->pixels) : all_parts(o);
}

static td_status forward(const td_conv_job *j, int ordinal)
{
    const td_conv *v = j->conv;
    int64_t depth = v->channels * td_volume(v->kernel);
    over_pixels o = {
        j,    ordinal, false, v->outputs, v->channels, depth, td_volume(v->out), td_volume(v->in),
        v->w, v->x,    depth, 1};
    return run_pixels(&o);
}

/* The factor of weights: as they are where a filter has one tap, else with outputs inside. */
static td_status data(const td_conv_job *j, int ordinal)
{
    const td_conv *v = j->conv;
    scratch s = {0};
    int64_t taps = td_volume(v->kernel), depth = v->outputs * taps;
    over_pixels o = {
        j,    ordinal, true, v->channels, v->outputs, depth, td_volume(v->in), td_volume(v->out),
        v->w, j->y,    1,    v->channels};
    if (taps == 1) return run_pixels(&o);
    const int64_t planes[] = {v->groups, v->outputs, v->channels};
    const int64_t steps[] = {v->channels * depth, taps, depth};
    TD_TRY(take(&s, v->groups * v->channels * depth, v->dtype, ordinal));
    td_status status = move_planes(v->w, s.data, v->dtype, ordinal, planes, steps, v->kernel);
    o.w = s.data;
    o.w_row = depth;
    o.w_col = 1;
    if (status == TD_OK) status = run_pixels(&o);
    give(&s);
    return status;
}

/* ---- weight: sums over the pixels of a part's images ---- */
typedef struct over_images {
    const td_conv_job *job;
    int ordinal;
    int64_t depth, pixels, places;
    scratch x, y;
} over_images;

static const char *of_image(const char *data, int64_t image, int64_t size, td_dtype dtype)
{
    return data + image * size * td_itemsize(dtype);
}

/* Of a part: what x shows, with all images side by side: [groups, depth, images pixels]. */
static td_status image_columns(over_images *o, const part *p, const char **b, int64_t *row)
{
    const td_conv *v = o->job->conv;
    td_cuda_conv_call c = td_cuda_conv_call_of(o->job);
    *row = p->images * p->pixels;
    c.x = of_image(v->x, p->image, v->groups * v->channels * o->places, v->dtype);
    if (sees_itself(v) && p->images == 1) {
        *b = of_image(c.x, p->pixel, 1, v->dtype);
        *row = o->pixels;
        return TD_OK;
    }
    *b = c.to = o->x.data;
    c.n = p->images * v->groups * v->channels * p->pixels;
    c.first = p->pixel;
    c.pixels = p->pixels;
    c.by_image = p->pixels;
    c.by_tap = *row;
    c.by_channel = td_volume(v->kernel) * *row;
    c.by_group = o->depth * *row;
    return td_cuda_conv_launch(TD_CUDA_CONV_COLUMNS, v->dtype, o->ordinal, &c);
}

/* ... and y: [groups, outputs, images pixels] */
static td_status image_rows(over_images *o, const part *p, const char **a, int64_t *row)
{
    const td_conv *v = o->job->conv;
    *a = of_image(o->job->y, p->image, v->groups * v->outputs * o->pixels, v->dtype);
    *row = o->pixels;
    if (p->images == 1) {
        *a = of_image(*a, p->pixel, 1, v->dtype);
        return TD_OK;
    }
    const char *from = *a;
    *a = o->y.data;
    *row = p->images * p->pixels; /* some images: all of their pixels */
    const int64_t planes[] = {p->images, v->groups, v->outputs};
    const int64_t steps[] = {p->pixels, v->outputs * *row, *row};
    return move_planes(from, o->y.data, v->dtype, o->ordinal, planes, steps, v->out);
}

static td_status add_part(over_images *o, const part *p)
{
    const td_conv *v = o->job->conv;
    const char *a, *b;
    int64_t a_row, b_row;
    TD_TRY(image_rows(o, p, &a, &a_row));
    TD_TRY(image_columns(o, p, &b, &b_row));
    td_product product = {
        .dtype = v->dtype,
        .m = v->outputs,
        .n = o->depth,
        .k = p->images * p->pixels,
        .a = a,
        .b = b,
        .c = o->job->to,
        .a_row = a_row,
        .a_col = 1,
        .b_row = 1,
        .b_col = b_row,
        .c_row = o->depth,
        .alpha = td_scalar_int(1),
        .beta = td_scalar_int(p->image || p->pixel),
        .batch_dims = 1,
        .batch = {v->groups},
        .a_batch = {v->outputs * a_row},
        .b_batch = {o->depth * b_row},
        .c_batch = {v->outputs * o->depth},
    };
    return td_cuda_product(&product, td_device_of(TD_CUDA, o->ordinal));
}

static td_status weight(const td_conv_job *j, int ordinal)
{
    const td_conv *v = j->conv;
    over_images o = {.job = j,
                     .ordinal = ordinal,
                     .depth = v->channels * td_volume(v->kernel),
                     .pixels = td_volume(v->out),
                     .places = td_volume(v->in)};
    int64_t seen = v->groups * o.depth, item = td_itemsize(v->dtype);
    part first = first_part(v->images, o.pixels, seen * item, td_conv_columns_bytes), p = first;
    int64_t together = first.images * first.pixels;
    td_status status = TD_OK;
    if (!sees_itself(v) || first.images > 1)
        status = take(&o.x, seen * together, v->dtype, ordinal);
    if (status == TD_OK && first.images > 1)
        status = take(&o.y, v->groups * v->outputs * together, v->dtype, ordinal);
    for (bool more = status == TD_OK; more && status == TD_OK;
         more = next_part(&p, &first, v->images, o.pixels))
        status = add_part(&o, &p);
    give(&o.y);
    give(&o.x);
    return status;
}

td_status td_cuda_conv_products(const td_conv_job *j, int ordinal)
{
    switch (j->what) {
        case TD_CONV_FORWARD: return forward(j, ordinal);
        case TD_CONV_DATA: return data(j, ordinal);
        default: return weight(j, ordinal);
    }
}
