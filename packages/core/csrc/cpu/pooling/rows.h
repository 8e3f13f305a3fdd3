/* rows.h - the loops of pooling for one element type; pooling.c includes this once per type with
 *   NAME(x)  the suffix          TYPE  the stored type        ACC  the type to compute in
 *   LOWEST  what every number is at least; may use td_pool *p
 *   IS_NAN(x)                    AVERAGE  defined if the type has averages
 *   PLUS(a, b), QUOTIENT(a, b)  of two ACC, if that is not a + b and a / b
 *   VECTOR, WIDTH, V(f)  if the type has vectors: quarters.h has it, too
 * Rows are made in blocks of BLOCK outputs, so that a block's numbers stay in registers or the
 * first cache. */

/* ---- geometry ---- */

#ifndef PLUS
#define PLUS(a, b) ((a) + (b))
#define QUOTIENT(a, b) ((a) / (b))
#endif
#ifndef TD_POOLING_ROWS
#define TD_POOLING_ROWS
#define BLOCK TD_POOL_BLOCK
#define LANES 32
#define COLUMNS 256

/* Output columns [*lo, *hi) within [0, n) for which column * stride + offset lies within [0, size).
 */
static inline void columns(int64_t offset, int64_t stride, int64_t size, int64_t n, int64_t *lo,
                           int64_t *hi)
{
    *lo = 0;
    *hi = n;
    /* the usual case, without divisions */
    if (offset >= 0 && offset + (n - 1) * stride < size) return;
    *lo = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    *hi = offset >= size ? 0 : (size - 1 - offset) / stride + 1;
    if (*hi > n) *hi = n;
    if (*lo > *hi) *lo = *hi;
}

/* First place of a window that is not padding. */
static inline int64_t first_place(int64_t start, int64_t dilation)
{
    return start >= 0 ? 0 : (-start + dilation - 1) / dilation;
}

/* Behind the last place of a window that is not padding. */
static inline int64_t end_place(int64_t start, int64_t dilation, int64_t window, int64_t size)
{
    if (start + (window - 1) * dilation < size) return window;
    return start < size ? (size - 1 - start) / dilation + 1 : 0;
}

/* The places along a row that are padding for some of the windows c0 to c0 + n, but not for all:
 * loops over the others would take time in proportion to the padding. */
static inline void row_places(const td_pool *p, int64_t c0, int64_t n, int64_t *from, int64_t *to)
{
    int64_t first = c0 * p->stride[2] - p->pad[2], last = first + (n - 1) * p->stride[2];
    *from = first_place(last, p->dilation[2]);
    *to = end_place(first, p->dilation[2], p->window[2], p->in[2]);
}

/* The place of an output row, and the step to the next. */
typedef struct row_at {
    int64_t plane, d, h;
} row_at;
static inline row_at locate(const td_pool *p, int64_t row)
{
    return (row_at){row / (p->out[0] * p->out[1]), row / p->out[1] % p->out[0], row % p->out[1]};
}
static inline void next_row(const td_pool *p, row_at *at)
{
    if (++at->h < p->out[1]) return;
    at->h = 0;
    if (++at->d < p->out[0]) return;
    at->d = 0;
    at->plane++;
}
static inline int64_t plane_size(const int64_t *size) { return size[0] * size[1] * size[2]; }
static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* How far the windows at place `at` reach along dimension k: with padding, and within the input. */
static inline int64_t reach(const td_pool *p, int k, int64_t at, int64_t *inside)
{
    int64_t from = at * p->stride[k] - p->pad[k];
    int64_t to = least(from + p->window[k], p->in[k] + p->pad[k]);
    *inside = least(to, p->in[k]) - (from > 0 ? from : 0);
    return to - from;
}

/* What the sums of windows c0 to c0 + n of a row are divided by. The choice stands outside of the
 * loops, so that these become vectors. */
static void divisors(const td_pool *p, int64_t od, int64_t oh, int64_t c0, int64_t n, int64_t *by)
{
    int64_t in_d, in_h, in_w, padded = reach(p, 0, od, &in_d) * reach(p, 1, oh, &in_h);
    int64_t inside = in_d * in_h;
    if (p->divisor) {
        for (int64_t c = 0; c < n; c++) by[c] = p->divisor;
    } else if (p->include_pad) {
        for (int64_t c = 0; c < n; c++) by[c] = padded * reach(p, 2, c0 + c, &in_w);
    } else {
        for (int64_t c = 0; c < n; c++) {
            reach(p, 2, c0 + c, &in_w);
            by[c] = inside * in_w > 0 ? inside * in_w : 1;
        }
    }
}

/* Constant strides let the compiler use shuffles instead of single loads. */
#define BY_STRIDE(stride, loop) \
    if ((stride) == 1) {        \
        loop(1)                 \
    } else if ((stride) == 2) { \
        loop(2)                 \
    } else {                    \
        loop(stride)            \
    }
#endif

/* ---- max ---- */

#ifdef VECTOR
#include "cpu/pooling/windows.h"
#endif

/* max_block by whole columns: `best` and `place` (if given) begin with LOWEST and the first place
 * of each window that is no padding. Once a type, for it is long. */
static __attribute__((noinline)) void NAME(max_columns)(const td_pool *p, const TYPE *plane,
                                                        int64_t od, int64_t oh, int64_t c0,
                                                        int64_t n, ACC *restrict best,
                                                        int32_t *restrict place)
{
    int64_t d0 = od * p->stride[0] - p->pad[0], h0 = oh * p->stride[1] - p->pad[1],
            sw = p->stride[2], kw0, kw1;
    int64_t kd0 = first_place(d0, p->dilation[0]), kh0 = first_place(h0, p->dilation[1]);
    row_places(p, c0, n, &kw0, &kw1);
    for (int64_t kd = kd0; kd < p->window[0] && d0 + kd * p->dilation[0] < p->in[0]; kd++)
        for (int64_t kh = kh0; kh < p->window[1] && h0 + kh * p->dilation[1] < p->in[1]; kh++) {
            const TYPE *row =
                plane +
                ((d0 + kd * p->dilation[0]) * p->in[1] + h0 + kh * p->dilation[1]) * p->in[2];
            for (int64_t kw = kw0; kw < kw1; kw++) {
                int64_t offset = c0 * sw - p->pad[2] + kw * p->dilation[2], lo, hi;
                int32_t k = (int32_t)((kd * p->window[1] + kh) * p->window[2] + kw);
                columns(offset, sw, p->in[2], n, &lo, &hi);
                const TYPE *at = row + offset;
#define VALUES(s)                                         \
    for (int64_t c = lo; c < hi; c++) {                   \
        ACC v = at[c * (s)];                              \
        best[c] = v > best[c] || IS_NAN(v) ? v : best[c]; \
    }
#define PLACES(s)                               \
    for (int64_t c = lo; c < hi; c++) {         \
        ACC v = at[c * (s)];                    \
        bool better = v > best[c] || IS_NAN(v); \
        best[c] = better ? v : best[c];         \
        place[c] = better ? k : place[c];       \
    }
                if (place) {
                    BY_STRIDE(sw, PLACES)
                } else {
                    BY_STRIDE(sw, VALUES)
                }
#undef VALUES
#undef PLACES
            }
        }
}

/* Largest number of the windows of n output columns from c0 on, and its place in the window (if
 * `place`): the first of equal ones, a NaN before all. */
static inline __attribute__((always_inline)) void
NAME(max_block)(const td_pool *p, const TYPE *plane, int64_t od, int64_t oh, int64_t c0, int64_t n,
                ACC *restrict best, int32_t *restrict place)
{
    int64_t kd0 = first_place(od * p->stride[0] - p->pad[0], p->dilation[0]),
            kh0 = first_place(oh * p->stride[1] - p->pad[1], p->dilation[1]);
    for (int64_t c = 0; c < n; c++) best[c] = LOWEST;
    for (int64_t c = 0; place && c < n; c++)
        place[c] = (int32_t)((kd0 * p->window[1] + kh0) * p->window[2] +
                             first_place((c0 + c) * p->stride[2] - p->pad[2], p->dilation[2]));
#ifdef VECTOR
    if (has_vectors(p)) {
        NAME(window_block)(p, plane, od, oh, c0, n, best, place);
        return;
    }
#endif
    NAME(max_columns)(p, plane, od, oh, c0, n, best, place);
}

#ifdef VECTOR /* long: once each, where inline there would be one more in max_backward */
#define BLOCK_CALL static __attribute__((noinline))
#else
#define BLOCK_CALL static inline __attribute__((always_inline))
#endif
BLOCK_CALL void NAME(max_values)(const td_pool *p, const TYPE *plane, int64_t od, int64_t oh,
                                 int64_t c0, int64_t n, ACC *restrict best)
{
    NAME(max_block)(p, plane, od, oh, c0, n, best, NULL);
}
BLOCK_CALL void NAME(max_places)(const td_pool *p, const TYPE *plane, int64_t od, int64_t oh,
                                 int64_t c0, int64_t n, ACC *restrict best, int32_t *restrict place)
{
    NAME(max_block)(p, plane, od, oh, c0, n, best, place);
}
#undef BLOCK_CALL

/* Where the first place of a window lies in the plane, or would without padding. */
static inline int64_t NAME(window_first)(const td_pool *p, int64_t od, int64_t oh, int64_t ow)
{
    return td_pool_offset(p, od * p->stride[0] - p->pad[0], oh * p->stride[1] - p->pad[1],
                          ow * p->stride[2] - p->pad[2]);
}
/* A window's place to a place in the plane. A window may lie in the padding altogether, if dilation
 * steps over the input. */
static inline int64_t NAME(in_plane)(const td_pool *p, int64_t first, int32_t place)
{
    if (place >= p->window[0] * p->window[1] * p->window[2]) return 0;
    int64_t step = p->places ? p->places[place] : td_pool_step(p, place),
            at = (int64_t)((uint64_t)first + (uint64_t)step);
    return at < 0 || at >= plane_size(p->in) ? 0 : at;
}

/* Windows of 2 x 2 side by side, the usual case: their largest numbers; each gradient goes to one
 * of four places, the others become 0. Float and double have vector code. */
static inline bool NAME(is_quartered)(const td_pool *p)
{
    const int64_t *k = p->window, *s = p->stride;
    return p->in[0] == 1 && k[0] == 1 && k[1] == 2 && k[2] == 2 && s[1] == 2 && s[2] == 2 &&
           p->pad[0] + p->pad[1] + p->pad[2] == 0 && p->dilation[1] == 1 && p->dilation[2] == 1 &&
           p->out[1] == p->in[1] / 2 && p->out[2] == p->in[2] / 2;
}

#ifndef VECTOR
static void NAME(quarter_max)(const TYPE *top, const TYPE *low, TYPE *restrict out, int64_t n)
{
    for (int64_t c = 0; c < n; c++) {
        ACC best = top[2 * c], b = top[2 * c + 1], v = low[2 * c], w = low[2 * c + 1];
        best = b > best || IS_NAN(b) ? b : best;
        best = v > best || IS_NAN(v) ? v : best;
        best = w > best || IS_NAN(w) ? w : best;
        out[c] = (TYPE)best;
    }
}

static void NAME(quarter_row)(const TYPE *restrict top, const TYPE *restrict low,
                              const TYPE *restrict g, TYPE *restrict to_top, TYPE *restrict to_low,
                              int64_t n)
{
    const TYPE zero = 0; /* the bits of 0 in every format */
    for (int64_t c = 0; c < n; c++) {
        ACC best = top[2 * c], b = top[2 * c + 1], v = low[2 * c], w = low[2 * c + 1];
        int32_t place = 0;
        place = b > best || IS_NAN(b) ? 1 : place;
        best = b > best || IS_NAN(b) ? b : best;
        place = v > best || IS_NAN(v) ? 2 : place;
        best = v > best || IS_NAN(v) ? v : best;
        place = w > best || IS_NAN(w) ? 3 : place;
        to_top[2 * c] = place == 0 ? g[c] : zero;
        to_top[2 * c + 1] = place == 1 ? g[c] : zero;
        to_low[2 * c] = place == 2 ? g[c] : zero;
        to_low[2 * c + 1] = place == 3 ? g[c] : zero;
    }
}
#endif

static void NAME(max)(const td_pool *p, const char *in, char *out, int64_t *where, int64_t begin,
                      int64_t end)
{
    ACC best[BLOCK];
    int32_t place[BLOCK];
    row_at at = locate(p, begin);
    bool quarters = !where && NAME(is_quartered)(p);
    for (int64_t row = begin; row < end; row++, next_row(p, &at)) {
        const TYPE *plane = (const TYPE *)in + at.plane * plane_size(p->in);
        if (quarters) {
            const TYPE *top = plane + 2 * at.h * p->in[2];
            NAME(quarter_max)(top, top + p->in[2], (TYPE *)out + row * p->out[2], p->out[2]);
            continue;
        }
        for (int64_t c = 0; c < p->out[2]; c += BLOCK) {
            int64_t n = least(BLOCK, p->out[2] - c), first = row * p->out[2] + c;
            if (where) NAME(max_places)(p, plane, at.d, at.h, c, n, best, place);
            else NAME(max_values)(p, plane, at.d, at.h, c, n, best);
            for (int64_t i = 0; i < n; i++) ((TYPE *)out)[first + i] = (TYPE)best[i];
            int64_t corner = NAME(window_first)(p, at.d, at.h, c);
            for (int64_t i = 0; where && i < n; i++)
                where[first + i] = NAME(in_plane)(p, corner + i * p->stride[2], place[i]);
        }
    }
}

static void NAME(quarters)(const td_pool *p, const TYPE *in, const TYPE *grad, TYPE *to,
                           int64_t planes)
{
    int64_t width = p->in[2];
    for (int64_t plane = 0; plane < planes;
         plane++, in += p->in[1] * width, to += p->in[1] * width) {
        for (int64_t h = 0; h < p->out[1]; h++, grad += p->out[2]) {
            int64_t top = 2 * h * width, low = top + width;
            NAME(quarter_row)(in + top, in + low, grad, to + top, to + low, p->out[2]);
            if (width % 2) to[top + width - 1] = to[low + width - 1] = 0;
        }
        if (p->in[1] % 2) memset(to + (p->in[1] - 1) * width, 0, (size_t)width * sizeof(TYPE));
    }
}

static void NAME(max_backward)(const td_pool *p, const char *in, const char *grad, char *grad_in,
                               int64_t begin, int64_t end)
{
    ACC best[BLOCK];
    int32_t place[BLOCK];
    int64_t rows = p->out[0] * p->out[1], size = plane_size(p->in);
    if (NAME(is_quartered)(p)) {
        NAME(quarters)
        (p, (const TYPE *)in + begin * size, (const TYPE *)grad + begin * rows * p->out[2],
         (TYPE *)grad_in + begin * size, end - begin);
        return;
    }
    for (int64_t plane = begin; plane < end; plane++) {
        const TYPE *from = (const TYPE *)in + plane * plane_size(p->in);
        TYPE *to = (TYPE *)grad_in + plane * plane_size(p->in);
        memset(to, 0, (size_t)plane_size(p->in) * sizeof(TYPE));
        row_at at = {plane, 0, 0};
        for (int64_t row = plane * rows; row < (plane + 1) * rows; row++, next_row(p, &at)) {
            for (int64_t c = 0; c < p->out[2]; c += BLOCK) {
                int64_t n = least(BLOCK, p->out[2] - c);
                const TYPE *g = (const TYPE *)grad + row * p->out[2] + c;
                NAME(max_places)(p, from, at.d, at.h, c, n, best, place);
                int64_t corner = NAME(window_first)(p, at.d, at.h, c);
                for (int64_t i = 0; i < n; i++) {
                    TYPE *target = &to[NAME(in_plane)(p, corner + i * p->stride[2], place[i])];
                    *target = (TYPE)(*target + g[i]);
                }
            }
        }
    }
}

/* ---- adaptive: parts of nearly equal size ---- */

static void NAME(adaptive_max)(const td_pool *p, const char *in, char *out, int64_t *where,
                               int64_t begin, int64_t end)
{
    row_at at = locate(p, begin);
    for (int64_t row = begin; row < end; row++, next_row(p, &at)) {
        const TYPE *plane = (const TYPE *)in + at.plane * plane_size(p->in);
        int64_t d1 = td_adaptive_end(at.d, p->in[0], p->out[0]),
                h1 = td_adaptive_end(at.h, p->in[1], p->out[1]);
        for (int64_t c = 0; c < p->out[2]; c++) {
            int64_t w0 = td_adaptive_begin(c, p->in[2], p->out[2]),
                    w1 = td_adaptive_end(c, p->in[2], p->out[2]), place = -1;
            ACC best = LOWEST;
            for (int64_t d = td_adaptive_begin(at.d, p->in[0], p->out[0]); d < d1; d++)
                for (int64_t h = td_adaptive_begin(at.h, p->in[1], p->out[1]); h < h1; h++)
                    for (int64_t w = w0; w < w1; w++) {
                        int64_t here = (d * p->in[1] + h) * p->in[2] + w;
                        ACC v = plane[here];
                        if (v > best || IS_NAN(v) || place < 0) {
                            best = v;
                            place = here;
                        }
                    }
            ((TYPE *)out)[row * p->out[2] + c] = (TYPE)best;
            where[row * p->out[2] + c] = place;
        }
    }
}

#ifdef AVERAGE
/* ---- average ---- */

static void NAME(average)(const td_pool *p, const char *in, char *out, int64_t *where,
                          int64_t begin, int64_t end)
{
    ACC sum[BLOCK];
    int64_t by[BLOCK], sw = p->stride[2];
    (void)where;
    row_at at = locate(p, begin);
    for (int64_t r = begin; r < end; r++, next_row(p, &at)) {
        const TYPE *plane = (const TYPE *)in + at.plane * plane_size(p->in);
        int64_t d0 = at.d * p->stride[0] - p->pad[0], h0 = at.h * p->stride[1] - p->pad[1];
        for (int64_t c0 = 0; c0 < p->out[2]; c0 += BLOCK) {
            int64_t n = least(BLOCK, p->out[2] - c0), kw0, kw1;
            row_places(p, c0, n, &kw0, &kw1);
            for (int64_t c = 0; c < n; c++) sum[c] = 0;
            for (int64_t d = d0 > 0 ? d0 : 0; d < least(d0 + p->window[0], p->in[0]); d++)
                for (int64_t h = h0 > 0 ? h0 : 0; h < least(h0 + p->window[1], p->in[1]); h++)
                    for (int64_t kw = kw0; kw < kw1; kw++) {
                        int64_t offset = c0 * sw - p->pad[2] + kw, lo, hi;
                        columns(offset, sw, p->in[2], n, &lo, &hi);
                        const TYPE *from = plane + (d * p->in[1] + h) * p->in[2] + offset;
#define SUMS(s) \
    for (int64_t c = lo; c < hi; c++) sum[c] = PLUS(sum[c], from[c * (s)]);
                        BY_STRIDE(sw, SUMS)
#undef SUMS
                    }
            TYPE *to = (TYPE *)out + r * p->out[2] + c0;
            divisors(p, at.d, at.h, c0, n, by);
            for (int64_t c = 0; c < n; c++) to[c] = (TYPE)(QUOTIENT(sum[c], (ACC)by[c]));
        }
    }
}

static void NAME(average_backward)(const td_pool *p, const char *in, const char *grad,
                                   char *grad_in, int64_t begin, int64_t end)
{
    ACC part[BLOCK];
    int64_t by[BLOCK], rows = p->out[0] * p->out[1], sw = p->stride[2];
    (void)in;
    row_at at = {begin, 0, 0};
    for (int64_t r = begin * rows; r < end * rows; r++, next_row(p, &at)) {
        TYPE *plane = (TYPE *)grad_in + at.plane * plane_size(p->in);
        if (at.d == 0 && at.h == 0) memset(plane, 0, (size_t)plane_size(p->in) * sizeof(TYPE));
        int64_t d0 = at.d * p->stride[0] - p->pad[0], h0 = at.h * p->stride[1] - p->pad[1];
        for (int64_t c0 = 0; c0 < p->out[2]; c0 += BLOCK) {
            int64_t n = least(BLOCK, p->out[2] - c0), kw0, kw1;
            row_places(p, c0, n, &kw0, &kw1);
            const TYPE *g = (const TYPE *)grad + r * p->out[2] + c0;
            divisors(p, at.d, at.h, c0, n, by);
            for (int64_t c = 0; c < n; c++) part[c] = QUOTIENT(g[c], (ACC)by[c]);
            for (int64_t d = d0 > 0 ? d0 : 0; d < least(d0 + p->window[0], p->in[0]); d++)
                for (int64_t h = h0 > 0 ? h0 : 0; h < least(h0 + p->window[1], p->in[1]); h++)
                    for (int64_t kw = kw0; kw < kw1; kw++) {
                        int64_t offset = c0 * sw - p->pad[2] + kw, lo, hi;
                        columns(offset, sw, p->in[2], n, &lo, &hi);
                        TYPE *to = plane + (d * p->in[1] + h) * p->in[2] + offset;
#define PARTS(s) \
    for (int64_t c = lo; c < hi; c++) to[c * (s)] = (TYPE)(PLUS(to[c * (s)], part[c]));
                        BY_STRIDE(sw, PARTS)
#undef PARTS
                    }
        }
    }
}

/* Many sums side by side, as cuda/kernels/pooling.h adds them, too: as fast as memory, and more
 * exact than one. */
static inline ACC NAME(row_sum)(const TYPE *row, int64_t n)
{
    ACC lane[LANES] = {0}, rest = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++) lane[k] = PLUS(lane[k], row[i + k]);
    for (; i < n; i++) rest = PLUS(rest, row[i]);
    for (int half = LANES / 2; half; half /= 2)
        for (int k = 0; k < half; k++) lane[k] = PLUS(lane[k], lane[k + half]);
    return PLUS(lane[0], rest);
}

/* Sums of columns w0 <= w < w1 over the rows [h0, h1) of each of the layers [d0, d1). */
static inline void NAME(column_sums)(const td_pool *p, const TYPE *plane, int64_t d0, int64_t d1,
                                     int64_t h0, int64_t h1, int64_t w0, int64_t w1,
                                     ACC *restrict sums)
{
    memset(sums, 0, (size_t)(w1 - w0) * sizeof *sums);
    for (int64_t d = d0; d < d1; d++)
        for (int64_t h = h0; h < h1; h++) {
            const TYPE *row = plane + (d * p->in[1] + h) * p->in[2];
            for (int64_t w = w0; w < w1; w++) sums[w - w0] = PLUS(sums[w - w0], row[w]);
        }
}

static void NAME(adaptive_average)(const td_pool *p, const char *in, char *out, int64_t *where,
                                   int64_t begin, int64_t end)
{
    ACC sums[COLUMNS];
    (void)where;
    row_at at = locate(p, begin);
    for (int64_t r = begin; r < end; r++, next_row(p, &at)) {
        const TYPE *plane = (const TYPE *)in + at.plane * plane_size(p->in);
        int64_t d0 = td_adaptive_begin(at.d, p->in[0], p->out[0]),
                d1 = td_adaptive_end(at.d, p->in[0], p->out[0]);
        int64_t h0 = td_adaptive_begin(at.h, p->in[1], p->out[1]),
                h1 = td_adaptive_end(at.h, p->in[1], p->out[1]);
        TYPE *to = (TYPE *)out + r * p->out[2];
        if (p->out[2] == 1) { /* rows that touch are one row */
            ACC sum = 0;
            for (int64_t d = d0; d < d1; d++) {
                const TYPE *first = plane + (d * p->in[1] + h0) * p->in[2];
                sum = PLUS(sum, NAME(row_sum)(first, (h1 - h0) * p->in[2]));
            }
            to[0] = (TYPE)(sum / (ACC)((d1 - d0) * (h1 - h0) * p->in[2]));
            continue;
        }
        for (int64_t c = 0, done = 0, first = 0; c < p->out[2]; c++) {
            int64_t w0 = td_adaptive_begin(c, p->in[2], p->out[2]),
                    w1 = td_adaptive_end(c, p->in[2], p->out[2]);
            ACC sum = 0;
            for (int64_t w = w0; w < w1; w++) {
                if (w >= done || w < first) { /* the sums of the next columns */
                    first = w;
                    done = least(first + COLUMNS, p->in[2]);
                    NAME(column_sums)(p, plane, d0, d1, h0, h1, first, done, sums);
                }
                sum = PLUS(sum, sums[w - first]);
            }
            to[c] = (TYPE)(sum / (ACC)((d1 - d0) * (h1 - h0) * (w1 - w0)));
        }
    }
}

static void NAME(adaptive_average_backward)(const td_pool *p, const char *in, const char *grad,
                                            char *grad_in, int64_t begin, int64_t end)
{
    int64_t rows = p->out[0] * p->out[1];
    (void)in;
    row_at at = {begin, 0, 0};
    for (int64_t r = begin * rows; r < end * rows; r++, next_row(p, &at)) {
        TYPE *plane = (TYPE *)grad_in + at.plane * plane_size(p->in);
        if (at.d == 0 && at.h == 0) memset(plane, 0, (size_t)plane_size(p->in) * sizeof(TYPE));
        int64_t d0 = td_adaptive_begin(at.d, p->in[0], p->out[0]),
                d1 = td_adaptive_end(at.d, p->in[0], p->out[0]);
        int64_t h0 = td_adaptive_begin(at.h, p->in[1], p->out[1]),
                h1 = td_adaptive_end(at.h, p->in[1], p->out[1]);
        for (int64_t c = 0; c < p->out[2]; c++) {
            int64_t w0 = td_adaptive_begin(c, p->in[2], p->out[2]),
                    w1 = td_adaptive_end(c, p->in[2], p->out[2]);
            ACC part = (((const TYPE *)grad)[r * p->out[2] + c]) /
                       (ACC)((d1 - d0) * (h1 - h0) * (w1 - w0));
            for (int64_t d = d0; d < d1; d++)
                for (int64_t h = h0; h < h1; h++) {
                    TYPE *to = plane + (d * p->in[1] + h) * p->in[2];
                    for (int64_t w = w0; w < w1; w++) to[w] = (TYPE)(PLUS(to[w], part));
                }
        }
    }
}
#endif

#include "cpu/pooling/pixels.h"

#undef NAME
#undef TYPE
#undef ACC
#undef LOWEST
#undef IS_NAN
#undef AVERAGE
#undef PLUS
#undef QUOTIENT
#undef VECTOR
#undef WIDTH
#undef V
