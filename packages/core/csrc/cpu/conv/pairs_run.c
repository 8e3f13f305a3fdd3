/* pairs_run.c - convolutions of bfloat16 through the instruction that multiplies pairs.
 *
 * Two planes become one of words, and all that moves numbers about (patches, padding, turning)
 * moves words as it moves float32 numbers. Which two: neighbouring channels where a sum runs over
 * channels, neighbouring images where it runs over images; the last of an odd number has zeros
 * beside it.
 *
 *     channels  a a a  ┐                      x: ab ab ab      k of the product: a0*w0 + b0*w1 ..
 *               b b b  ┘ one plane of words
 */
#include "cpu/conv/conv_run.h"
#include <string.h>
#include "cpu/matmul/gemm_run.h"
#include "runtime/alloc.h"
#include "runtime/pool.h"

/* [outer][planes][n] numbers to [outer][half of planes][n] words, planes in parts of `step` */
typedef struct pairing {
    const uint16_t *from;
    uint32_t *to;
    int64_t planes, pairs, n, step, parts;
} pairing;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t half(int64_t n) { return (n + 1) / 2; }

/* parts of one long plane of words each */
static void pair_parts(void *context, int64_t begin, int64_t end)
{
    const pairing *p = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t word = i / p->parts, at = i % p->parts * p->step, pair = word % p->pairs;
        const uint16_t *from = p->from + (word / p->pairs * p->planes + 2 * pair) * p->n + at;
        TD_PICK(td_conv_kernels)
            ->pair(from, p->to + word * p->n + at, p->n, least(p->n - at, p->step), 1,
                   2 * pair + 1 == p->planes);
    }
}

/* short planes, all of those of some outer places */
static void pair_places(void *context, int64_t begin, int64_t end)
{
    const pairing *p = context;
    const td_conv_kernels *kernels = TD_PICK(td_conv_kernels);
    int64_t whole = p->planes / 2, places = end - begin;
    const uint16_t *from = p->from + begin * p->planes * p->n;
    uint32_t *to = p->to + begin * p->pairs * p->n;
    if (whole == p->pairs) {
        kernels->pair(from, to, p->n, p->n, places * whole, false);
        return;
    }
    for (; places > 0; places--, from += p->planes * p->n, to += p->pairs * p->n) {
        kernels->pair(from, to, p->n, p->n, whole, false);
        kernels->pair(from + 2 * whole * p->n, to + whole * p->n, p->n, p->n, 1, true);
    }
}

#define STEP 16384 /* words that a thread makes at a time, about */

/* outer * half(planes) * n words; NULL: no memory. Give them back by unpair. */
static char *paired(const char *from, int64_t outer, int64_t planes, int64_t n)
{
    if (n == 1 && planes % 2 == 0) return (char *)(uintptr_t)from; /* they are words already */
    uint32_t *to = td_alloc(outer * half(planes) * n * 4);
    if (!to || n == 0) return (char *)to;
    pairing p = {(const uint16_t *)from, to, planes, half(planes), n, STEP, (n + STEP - 1) / STEP};
    int64_t each = p.pairs * n;
    if (each <= 2 * STEP) td_parallel(outer, 1 + STEP / each, pair_places, &p);
    else td_parallel(outer * p.pairs * p.parts, 1 + STEP / least(n, STEP), pair_parts, &p);
    return (char *)to;
}

static void unpair(char *words, const char *from, int64_t count)
{
    if (words != from) td_free(words, count * 4);
}

static td_status no_memory(int64_t words)
{
    return td_fail(TD_MEMORY_ERROR, "convolution: no memory for %lld bytes",
                   (long long)(4 * words));
}

td_status td_conv_over_pairs(const td_conv *c, td_status (*run)(const td_conv *c))
{
    td_conv over = *c;
    int64_t plane = td_volume(c->in), pairs = half(c->channels);
    int64_t numbers = c->images * c->groups * pairs * plane,
            weights = c->groups * c->outputs * pairs * c->taps;
    char *x = paired(c->x, c->images * c->groups, c->channels, plane);
    char *w = paired(c->w, c->groups * c->outputs, c->channels, c->taps);
    over.factors = TD_FACTORS_PAIRS;
    over.channels = pairs;
    over.x = x;
    over.w = w;
    td_status status = x && w ? run(&over) : no_memory(numbers + weights);
    unpair(x, c->x, numbers);
    unpair(w, c->w, weights);
    return status;
}

td_status td_conv_data_over_pairs(const td_conv *c, const char *y, char *x, const char *bias)
{
    td_conv over = *c;
    int64_t plane = td_volume(c->out), pairs = half(c->outputs), row = c->channels * c->taps;
    int64_t numbers = c->images * c->groups * pairs * plane, weights = c->groups * pairs * row;
    char *from = paired(y, c->images * c->groups, c->outputs, plane);
    char *w = paired(c->w, c->groups, c->outputs, row);
    over.factors = TD_FACTORS_PAIRS;
    over.outputs = pairs;
    over.w = w;
    td_status status =
        from && w ? td_conv_data(&over, from, x, bias) : no_memory(numbers + weights);
    unpair(from, y, numbers);
    unpair(w, c->w, weights);
    return status;
}

td_status td_conv_weight_over_pairs(const td_conv *c, const char *g, char *dw)
{
    td_conv over = *c;
    int64_t image = c->groups * c->channels * td_volume(c->in),
            result = c->groups * c->outputs * td_volume(c->out), pairs = half(c->images);
    char *x = paired(c->x, 1, c->images, image), *y = paired(g, 1, c->images, result);
    over.factors = TD_FACTORS_PAIRS;
    over.images = pairs;
    over.x = x;
    td_status status = x && y ? td_conv_weight(&over, y, dw) : no_memory(pairs * (image + result));
    unpair(x, c->x, pairs * image);
    unpair(y, g, pairs * result);
    return status;
}

/* ---- is it worth it (taps are not made yet) ---- */
static bool is_pointwise(const td_conv *c)
{
    bool still = td_volume(c->kernel) == 1 && td_volume(c->stride) == 1;
    return still && !c->padding[0] && !c->padding[1] && !c->padding[2];
}

static bool enough_channels(int64_t channels, int64_t outputs)
{
    return channels > 1 && outputs >= 8;
}

/* Winograd's products of float32 are a quarter of the direct ones: as fast on large maps. */
#define LARGE_MAP 512

static bool wants_winograd(const td_conv *c)
{
    return td_volume(c->out) >= LARGE_MAP && td_conv_wants_winograd(c);
}

bool td_conv_pairs_forward(const td_conv *c)
{
    return td_multiplies_bf16() && enough_channels(c->channels, c->outputs) && !wants_winograd(c);
}

bool td_conv_pairs_data(const td_conv *c)
{
    td_conv turned = *c; /* what runs: from y to x */
    turned.channels = c->outputs;
    turned.outputs = c->channels;
    memcpy(turned.in, c->out, sizeof turned.in);
    memcpy(turned.out, c->in, sizeof turned.out);
    return td_conv_pairs_forward(&turned);
}

/* An image without another beside it costs as much as two. */
bool td_conv_pairs_weight(const td_conv *c)
{
    bool lonely = c->images % 2 && c->images < (td_conv_winograd_fits(c) ? 8 : 2);
    return td_multiplies_bf16() && enough_channels(c->channels, c->outputs) &&
           (!lonely || is_pointwise(c));
}
