/* pixels.h - pooling where the channels of a pixel lie side by side (channels_last): a window's
 * number is a vector of channels, and the loops run along them. rows.h includes this once for each
 * type, whose words it uses. Numbers are taken in the order of rows.h, so both layouts give the
 * same bits (but for adaptive averages of whole rows, whose lanes have an order of their own).
 *
 * A row is one of a sample's outputs: `plane` of its place is the sample. Backward loops take
 * blocks of channels, PIXEL_BLOCKS(p) a sample. */

#ifndef TD_POOLING_PIXELS
#define TD_POOLING_PIXELS
#define PIXEL_BLOCKS(p) (((p)->channels + BLOCK - 1) / BLOCK)
#endif

/* ---- max ---- */

/* As max_block, of n channels of one window. */
static inline void NAME(pixel_tops)(const td_pool *p, const TYPE *from, int64_t od, int64_t oh,
                                    int64_t ow, int64_t n, ACC *restrict best,
                                    int32_t *restrict place)
{
    int64_t d0 = od * p->stride[0] - p->pad[0], h0 = oh * p->stride[1] - p->pad[1],
            w0 = ow * p->stride[2] - p->pad[2];
    int64_t kd0 = first_place(d0, p->dilation[0]), kh0 = first_place(h0, p->dilation[1]),
            kw0 = first_place(w0, p->dilation[2]);
    int64_t kd1 = end_place(d0, p->dilation[0], p->window[0], p->in[0]),
            kh1 = end_place(h0, p->dilation[1], p->window[1], p->in[1]),
            kw1 = end_place(w0, p->dilation[2], p->window[2], p->in[2]);
    int32_t first = (int32_t)((kd0 * p->window[1] + kh0) * p->window[2] + kw0);
    for (int64_t c = 0; c < n; c++) best[c] = LOWEST;
    for (int64_t c = 0; place && c < n; c++) place[c] = first;
    for (int64_t kd = kd0; kd < kd1; kd++)
        for (int64_t kh = kh0; kh < kh1; kh++)
            for (int64_t kw = kw0; kw < kw1; kw++) {
                int64_t d = d0 + kd * p->dilation[0], h = h0 + kh * p->dilation[1],
                        w = w0 + kw * p->dilation[2];
                const TYPE *x = from + ((d * p->in[1] + h) * p->in[2] + w) * p->channels;
                int32_t k = (int32_t)((kd * p->window[1] + kh) * p->window[2] + kw);
                if (!place) {
                    for (int64_t c = 0; c < n; c++)
                        best[c] = x[c] > best[c] || IS_NAN(x[c]) ? x[c] : best[c];
                    continue;
                }
                for (int64_t c = 0; c < n; c++) {
                    bool better = x[c] > best[c] || IS_NAN(x[c]);
                    best[c] = better ? x[c] : best[c];
                    place[c] = better ? k : place[c];
                }
            }
}

static void NAME(pixel_max)(const td_pool *p, const char *in, char *out, int64_t *where,
                            int64_t begin, int64_t end)
{
    ACC best[BLOCK];
    int32_t place[BLOCK];
    row_at at = locate(p, begin);
    for (int64_t r = begin; r < end; r++, next_row(p, &at)) {
        const TYPE *sample = (const TYPE *)in + at.plane * plane_size(p->in) * p->channels;
        for (int64_t w = 0; w < p->out[2]; w++)
            for (int64_t c = 0; c < p->channels; c += BLOCK) {
                int64_t n = least(BLOCK, p->channels - c),
                        to = (r * p->out[2] + w) * p->channels + c;
                NAME(pixel_tops)(p, sample + c, at.d, at.h, w, n, best, where ? place : NULL);
                for (int64_t i = 0; i < n; i++) ((TYPE *)out)[to + i] = (TYPE)best[i];
                if (!where) continue;
                int64_t corner = NAME(window_first)(p, at.d, at.h, w);
                for (int64_t i = 0; i < n; i++) where[to + i] = NAME(in_plane)(p, corner, place[i]);
            }
    }
}

static void NAME(pixel_clear)(const td_pool *p, TYPE *block, int64_t n)
{
    for (int64_t i = 0; i < plane_size(p->in); i++)
        memset(block + i * p->channels, 0, (size_t)n * sizeof(TYPE));
}

/* Gradients g of n channels go to the places of their largest numbers: for each place of the window
 * those whose place it is, the others get 0 more, which changes none of their bits. */
static inline void NAME(pixel_give)(const td_pool *p, TYPE *to, int64_t od, int64_t oh, int64_t ow,
                                    const int32_t *restrict place, const TYPE *restrict g,
                                    int64_t n)
{
    int64_t d0 = od * p->stride[0] - p->pad[0], h0 = oh * p->stride[1] - p->pad[1],
            w0 = ow * p->stride[2] - p->pad[2];
    int64_t kd0 = first_place(d0, p->dilation[0]), kh0 = first_place(h0, p->dilation[1]),
            kw0 = first_place(w0, p->dilation[2]);
    int64_t kd1 = end_place(d0, p->dilation[0], p->window[0], p->in[0]),
            kh1 = end_place(h0, p->dilation[1], p->window[1], p->in[1]),
            kw1 = end_place(w0, p->dilation[2], p->window[2], p->in[2]);
    bool given = false;
    for (int64_t kd = kd0; kd < kd1; kd++)
        for (int64_t kh = kh0; kh < kh1; kh++)
            for (int64_t kw = kw0; kw < kw1; kw++) {
                int64_t d = d0 + kd * p->dilation[0], h = h0 + kh * p->dilation[1],
                        w = w0 + kw * p->dilation[2];
                TYPE *restrict x = to + ((d * p->in[1] + h) * p->in[2] + w) * p->channels;
                int32_t k = (int32_t)((kd * p->window[1] + kh) * p->window[2] + kw);
                given = true;
                for (int64_t c = 0; c < n; c++)
                    x[c] = (TYPE)(PLUS(x[c], (ACC)(place[c] == k ? g[c] : 0)));
            }
    for (int64_t c = 0; !given && c < n; c++) /* all padding: as rows.h does (in_plane) */
        to[c] = (TYPE)(PLUS(to[c], (ACC)g[c]));
}

static void NAME(pixel_max_backward)(const td_pool *p, const char *in, const char *grad,
                                     char *grad_in, int64_t begin, int64_t end)
{
    ACC best[BLOCK];
    int32_t place[BLOCK];
    int64_t rows = p->out[0] * p->out[1], blocks = PIXEL_BLOCKS(p);
    for (int64_t b = begin; b < end; b++) {
        int64_t sample = b / blocks, c = b % blocks * BLOCK, n = least(BLOCK, p->channels - c),
                at_in = sample * plane_size(p->in) * p->channels + c;
        const TYPE *from = (const TYPE *)in + at_in;
        TYPE *to = (TYPE *)grad_in + at_in;
        row_at at = {sample, 0, 0};
        NAME(pixel_clear)(p, to, n);
        for (int64_t r = sample * rows; r < (sample + 1) * rows; r++, next_row(p, &at))
            for (int64_t w = 0; w < p->out[2]; w++) {
                const TYPE *g = (const TYPE *)grad + (r * p->out[2] + w) * p->channels + c;
                NAME(pixel_tops)(p, from, at.d, at.h, w, n, best, place);
                NAME(pixel_give)(p, to, at.d, at.h, w, place, g, n);
            }
    }
}

/* A plane has fewer than 2^31 places (ops/pooling.c). */
static void NAME(pixel_adaptive_max)(const td_pool *p, const char *in, char *out, int64_t *where,
                                     int64_t begin, int64_t end)
{
    ACC best[BLOCK];
    int32_t place[BLOCK];
    row_at at = locate(p, begin);
    for (int64_t r = begin; r < end; r++, next_row(p, &at))
        for (int64_t ow = 0; ow < p->out[2]; ow++)
            for (int64_t c0 = 0; c0 < p->channels; c0 += BLOCK) {
                int64_t n = least(BLOCK, p->channels - c0);
                const TYPE *from =
                    (const TYPE *)in + at.plane * plane_size(p->in) * p->channels + c0;
                int64_t d0 = td_adaptive_begin(at.d, p->in[0], p->out[0]),
                        d1 = td_adaptive_end(at.d, p->in[0], p->out[0]),
                        h0 = td_adaptive_begin(at.h, p->in[1], p->out[1]),
                        h1 = td_adaptive_end(at.h, p->in[1], p->out[1]),
                        w0 = td_adaptive_begin(ow, p->in[2], p->out[2]),
                        w1 = td_adaptive_end(ow, p->in[2], p->out[2]);
                for (int64_t c = 0; c < n; c++) best[c] = LOWEST;
                for (int64_t c = 0; c < n; c++)
                    place[c] = (int32_t)((d0 * p->in[1] + h0) * p->in[2] + w0);
                for (int64_t d = d0; d < d1; d++)
                    for (int64_t h = h0; h < h1; h++)
                        for (int64_t w = w0; w < w1; w++) {
                            int64_t here = (d * p->in[1] + h) * p->in[2] + w;
                            const TYPE *x = from + here * p->channels;
                            for (int64_t c = 0; c < n; c++) {
                                bool better = x[c] > best[c] || IS_NAN(x[c]);
                                best[c] = better ? x[c] : best[c];
                                place[c] = better ? (int32_t)here : place[c];
                            }
                        }
                int64_t to = (r * p->out[2] + ow) * p->channels + c0;
                for (int64_t c = 0; c < n; c++) ((TYPE *)out)[to + c] = (TYPE)best[c];
                for (int64_t c = 0; c < n; c++) where[to + c] = place[c];
            }
}

#ifdef AVERAGE
/* ---- average ---- */

static void NAME(pixel_average)(const td_pool *p, const char *in, char *out, int64_t *where,
                                int64_t begin, int64_t end)
{
    ACC sum[BLOCK];
    (void)where;
    row_at at = locate(p, begin);
    for (int64_t r = begin; r < end; r++, next_row(p, &at)) {
        const TYPE *sample = (const TYPE *)in + at.plane * plane_size(p->in) * p->channels;
        int64_t d0 = at.d * p->stride[0] - p->pad[0], h0 = at.h * p->stride[1] - p->pad[1];
        for (int64_t ow = 0; ow < p->out[2]; ow++) {
            int64_t by, w0 = ow * p->stride[2] - p->pad[2];
            divisors(p, at.d, at.h, ow, 1, &by);
            for (int64_t c0 = 0; c0 < p->channels; c0 += BLOCK) {
                int64_t n = least(BLOCK, p->channels - c0);
                for (int64_t c = 0; c < n; c++) sum[c] = 0;
                for (int64_t d = d0 > 0 ? d0 : 0; d < least(d0 + p->window[0], p->in[0]); d++)
                    for (int64_t h = h0 > 0 ? h0 : 0; h < least(h0 + p->window[1], p->in[1]); h++)
                        for (int64_t w = w0 > 0 ? w0 : 0; w < least(w0 + p->window[2], p->in[2]);
                             w++) {
                            const TYPE *x =
                                sample + ((d * p->in[1] + h) * p->in[2] + w) * p->channels + c0;
                            for (int64_t c = 0; c < n; c++) sum[c] = PLUS(sum[c], x[c]);
                        }
                TYPE *to = (TYPE *)out + (r * p->out[2] + ow) * p->channels + c0;
                for (int64_t c = 0; c < n; c++) to[c] = (TYPE)(QUOTIENT(sum[c], (ACC)by));
            }
        }
    }
}

/* part[c] is added to n channels of the pixels [from, to) of a block. */
static inline void NAME(pixel_spread)(const td_pool *p, TYPE *block, const int64_t *from,
                                      const int64_t *to, const ACC *restrict part, int64_t n)
{
    for (int64_t d = from[0]; d < to[0]; d++)
        for (int64_t h = from[1]; h < to[1]; h++)
            for (int64_t w = from[2]; w < to[2]; w++) {
                TYPE *restrict x = block + ((d * p->in[1] + h) * p->in[2] + w) * p->channels;
                for (int64_t c = 0; c < n; c++) x[c] = (TYPE)(PLUS(x[c], part[c]));
            }
}

/* Where windows begin and end: of constant size, or parts of nearly equal size. */
typedef void (*NAME(window_span))(const td_pool *p, const int64_t *at, int64_t *from, int64_t *to,
                                  int64_t *by);

static void NAME(pixel_average_span)(const td_pool *p, const int64_t *at, int64_t *from,
                                     int64_t *to, int64_t *by)
{
    for (int k = 0; k < 3; k++) {
        int64_t first = at[k] * p->stride[k] - p->pad[k];
        from[k] = first > 0 ? first : 0;
        to[k] = least(first + p->window[k], p->in[k]);
    }
    divisors(p, at[0], at[1], at[2], 1, by);
}
static void NAME(pixel_adaptive_span)(const td_pool *p, const int64_t *at, int64_t *from,
                                      int64_t *to, int64_t *by)
{
    *by = 1;
    for (int k = 0; k < 3; k++) {
        from[k] = td_adaptive_begin(at[k], p->in[k], p->out[k]);
        to[k] = td_adaptive_end(at[k], p->in[k], p->out[k]);
        *by *= to[k] - from[k];
    }
}

/* `back`: the windows of a block of columns from the last to the first, as rows.h has them. */
static void NAME(pixel_spread_all)(const td_pool *p, const char *grad, char *grad_in, int64_t begin,
                                   int64_t end, NAME(window_span) span, bool back)
{
    ACC part[BLOCK];
    int64_t rows = p->out[0] * p->out[1], blocks = PIXEL_BLOCKS(p), from[3], to[3], by;
    for (int64_t b = begin; b < end; b++) {
        int64_t sample = b / blocks, c0 = b % blocks * BLOCK, n = least(BLOCK, p->channels - c0);
        TYPE *block = (TYPE *)grad_in + sample * plane_size(p->in) * p->channels + c0;
        row_at at = {sample, 0, 0};
        NAME(pixel_clear)(p, block, n);
        for (int64_t r = sample * rows; r < (sample + 1) * rows; r++, next_row(p, &at))
            for (int64_t i = 0; i < p->out[2]; i++) {
                int64_t first = i / BLOCK * BLOCK, last = least(first + BLOCK, p->out[2]) - 1,
                        w = back ? first + last - i : i;
                const TYPE *g = (const TYPE *)grad + (r * p->out[2] + w) * p->channels + c0;
                span(p, (const int64_t[]){at.d, at.h, w}, from, to, &by);
                for (int64_t c = 0; c < n; c++) part[c] = QUOTIENT(g[c], (ACC)by);
                NAME(pixel_spread)(p, block, from, to, part, n);
            }
    }
}

static void NAME(pixel_average_backward)(const td_pool *p, const char *in, const char *grad,
                                         char *grad_in, int64_t begin, int64_t end)
{
    (void)in;
    NAME(pixel_spread_all)(p, grad, grad_in, begin, end, NAME(pixel_average_span), true);
}
static void NAME(pixel_adaptive_average_backward)(const td_pool *p, const char *in,
                                                  const char *grad, char *grad_in, int64_t begin,
                                                  int64_t end)
{
    (void)in;
    NAME(pixel_spread_all)(p, grad, grad_in, begin, end, NAME(pixel_adaptive_span), false);
}

static void NAME(pixel_adaptive_average)(const td_pool *p, const char *in, char *out,
                                         int64_t *where, int64_t begin, int64_t end)
{
    ACC sum[BLOCK], column[BLOCK];
    int64_t from[3], to[3], by;
    (void)where;
    row_at at = locate(p, begin);
    for (int64_t r = begin; r < end; r++, next_row(p, &at))
        for (int64_t ow = 0; ow < p->out[2]; ow++)
            for (int64_t c0 = 0; c0 < p->channels; c0 += BLOCK) {
                int64_t n = least(BLOCK, p->channels - c0);
                const TYPE *x = (const TYPE *)in + at.plane * plane_size(p->in) * p->channels + c0;
                NAME(pixel_adaptive_span)(p, (const int64_t[]){at.d, at.h, ow}, from, to, &by);
                for (int64_t c = 0; c < n; c++) sum[c] = 0;
                for (int64_t w = from[2]; w < to[2]; w++) {
                    for (int64_t c = 0; c < n; c++) column[c] = 0;
                    for (int64_t d = from[0]; d < to[0]; d++)
                        for (int64_t h = from[1]; h < to[1]; h++) {
                            const TYPE *pixel =
                                x + ((d * p->in[1] + h) * p->in[2] + w) * p->channels;
                            for (int64_t c = 0; c < n; c++) column[c] = PLUS(column[c], pixel[c]);
                        }
                    for (int64_t c = 0; c < n; c++) sum[c] = PLUS(sum[c], column[c]);
                }
                TYPE *o = (TYPE *)out + (r * p->out[2] + ow) * p->channels + c0;
                for (int64_t c = 0; c < n; c++) o[c] = (TYPE)(sum[c] / (ACC)by);
            }
}
#endif
