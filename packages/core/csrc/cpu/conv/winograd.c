/* winograd.c - the transformations of F(4x4, 3x3) and the products between them, LANES tiles at a
 * time. */
#include <stdbool.h>
#include "cpu/conv/winograd_tiles.h"
#include "cpu/matmul/gemm.h"
#include "runtime/loops.h"

#define MR TD_MR

/* the points: 0, +-A, +-B, infinity */
#define A .75f
#define B 1.5f
#define A2 (A * A)
#define B2 (B * B)

#define C(x) vf_set1(x)

/* ---- one-dimensional transformations ---- */

/* three weights to six */
TD_INLINE void weights_1d(vf x0, vf x1, vf x2, vf *t, int step)
{
    vf fa = C(1.f / (2 * A2 * (A2 - B2))), fb = C(1.f / (2 * B2 * (B2 - A2)));
    t[0] = vf_mul(x0, C(1.f / (A2 * B2)));
    vf even = vf_fma(x2, C(A2), x0), odd = vf_mul(x1, C(A));
    t[step] = vf_mul(vf_add(even, odd), fa);
    t[2 * step] = vf_mul(vf_sub(even, odd), fa);
    even = vf_fma(x2, C(B2), x0);
    odd = vf_mul(x1, C(B));
    t[3 * step] = vf_mul(vf_add(even, odd), fb);
    t[4 * step] = vf_mul(vf_sub(even, odd), fb);
    t[5 * step] = x2;
}

/* six inputs to six, in place */
TD_INLINE void input_1d(vf *d, int step)
{
    vf d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step],
       d5 = d[5 * step];
    d[0] = vf_fma(C(A2 * B2), d0, vf_fnma(C(A2 + B2), d2, d4));
    d[5 * step] = vf_fma(C(A2 * B2), d1, vf_fnma(C(A2 + B2), d3, d5));
    vf even = vf_fnma(C(B2), d2, d4), odd = vf_mul(C(A), vf_fnma(C(B2), d1, d3));
    d[step] = vf_add(even, odd);
    d[2 * step] = vf_sub(even, odd);
    even = vf_fnma(C(A2), d2, d4);
    odd = vf_mul(C(B), vf_fnma(C(A2), d1, d3));
    d[3 * step] = vf_add(even, odd);
    d[4 * step] = vf_sub(even, odd);
}

/* six products to four outputs */
TD_INLINE void output_1d(const vf *m, int step, vf *o, int out_step)
{
    vf a = vf_add(m[step], m[2 * step]), b = vf_sub(m[step], m[2 * step]);
    vf c = vf_add(m[3 * step], m[4 * step]), d = vf_sub(m[3 * step], m[4 * step]);
    o[0] = vf_add(m[0], vf_add(a, c));
    o[out_step] = vf_fma(C(B), d, vf_mul(C(A), b));
    o[2 * out_step] = vf_fma(C(B2), c, vf_mul(C(A2), a));
    o[3 * out_step] = vf_add(vf_fma(C(B2 * B), d, vf_mul(C(A2 * A), b)), m[5 * step]);
}

/* ---- weights: as many outputs of one channel at a time as a tile has rows, stored as the product
 * kernels pack A. Channel after channel, so that what is read and what is written lies one after
 * the other. ---- */
static void transform_weights(float *to, const float *w, int64_t outputs, int64_t channels,
                              int64_t begin, int64_t end, float *most)
{
    vf widest[9];
    for (int i = 0; i < 9; i++) widest[i] = vf_zero();
    for (int64_t first = 0; first < outputs; first += MR) {
        int64_t rows = outputs - first < MR ? outputs - first : MR;
        uint32_t bits = td_lanes(rows, LANES);
        for (int64_t c = begin; c < end; c++) {
            const float *from = w + (first * channels + c) * 9;
            vf g[9], half[18], u[36];
            for (int i = 0; i < 9; i++) g[i] = vf_gather(bits, from + i, channels * 9);
            for (int i = 0; i < 9; i++) widest[i] = vf_wider(widest[i], g[i]);
            for (int i = 0; i < 3; i++) weights_1d(g[i], g[3 + i], g[6 + i], half + i, 3);
            for (int i = 0; i < 6; i++)
                weights_1d(half[3 * i], half[3 * i + 1], half[3 * i + 2], u + 6 * i, 1);
            for (int i = 0; i < 36; i++)
                vf_store_part(to + (i * outputs + first) * channels + c * rows, bits, u[i]);
        }
    }
    for (int i = 0; i < 9; i++) most[i] = widest_lane(widest[i]);
}

/* ---- tiles ---- */

/* The sizes of the inputs of NR tiles, a lane per tile. Every window of three rows holds one of the
 * two places in the middle, and columns likewise. */
typedef struct probe {
    float most[NR], at[4][NR];
    int place[4];
} probe;

#define SAMPLE 16 /* channels that are enough to see how large numbers in the middle are */

static int middle(int64_t pad) { return pad < 2 ? 1 : 2; }

static void probe_begin(probe *s, const td_winograd *p)
{
    memset(s, 0, sizeof *s);
    int row = middle(p->pad[0]), col = middle(p->pad[1]);
    for (int i = 0; i < 4; i++) s->place[i] = 6 * (i / 2 ? 3 : row) + (i % 2 ? 3 : col);
}

TD_INLINE void probe_channel(probe *s, int first, int64_t channel, const vf *d, int own)
{
    vf_store(s->most + first, widest_of(vf_load(s->most + first), d, own));
    if (channel >= SAMPLE) return;
    for (int i = 0; i < 4; i++)
        vf_store(s->at[i] + first, vf_wider(vf_load(s->at[i] + first), d[s->place[i]]));
}

/* Of a tile at the far edge only the places that its windows see are asked. */
static void probe_end(const probe *s, const td_winograd *p, const tile *tiles, int count,
                      int64_t first)
{
    int64_t row = middle(p->pad[0]) + 2, col = middle(p->pad[1]) + 2;
    for (int i = 0; i < count; i++) {
        int rows = p->out[0] - tiles[i].y >= row, cols = p->out[1] - tiles[i].x >= col;
        float least = s->at[0][i];
        for (int at = 1; at < 4; at++)
            if ((rows || at < 2) && (cols || at % 2 == 0) && s->at[at][i] < least)
                least = s->at[at][i];
        p->sizes.most[first + i] = s->most[i];
        p->sizes.least[first + i] = least;
    }
}

/* v[36][channels][NR] */
static void transform_input(const td_winograd *p, const tile *tiles, int count, float *v,
                            probe *sizes)
{
    int own = tiles_own_all(p);
    for (int64_t c = 0; c < p->channels; c++)
        for (int first = 0; first < NR; first += LANES) {
            vf d[36];
            for (int row = 0; row < 6; row++) {
                vf r[LANES];
                for (int i = 0; i < LANES; i++)
                    r[i] = first + i < count ? read_row(p, &tiles[first + i], c, row) : vf_zero();
                vf_transpose(r);
                for (int i = 0; i < 6; i++) d[6 * row + i] = r[i];
            }
            probe_channel(sizes, first, c, d, own);
            for (int i = 0; i < 6; i++) input_1d(d + i, 6);
            for (int i = 0; i < 6; i++) input_1d(d + 6 * i, 1);
            for (int i = 0; i < 36; i++) vf_store(v + (i * p->channels + c) * NR + first, d[i]);
        }
}

static void transform_output(const td_winograd *p, const tile *tiles, int count, const float *m)
{
    for (int64_t output = 0; output < p->outputs; output++) {
        vf bias = C(p->bias ? p->bias[output] : 0);
        for (int first = 0; first < count; first += LANES) {
            vf sums[36], half[24], o[16];
            for (int i = 0; i < 36; i++)
                sums[i] = vf_load(m + (i * p->outputs + output) * NR + first);
            for (int i = 0; i < 6; i++) output_1d(sums + i, 6, half + i, 6);
            for (int i = 0; i < 4; i++) output_1d(half + 6 * i, 1, o + 4 * i, 1);
            for (int i = 0; i < 16; i++) o[i] = vf_add(o[i], bias);
            write_tiles(p, tiles + first, count - first, output, o);
        }
    }
}

static int64_t work(const td_winograd *p)
{
    return 36 * NR * (p->channels + p->outputs) * (int64_t)sizeof(float);
}

static void run(const td_winograd *p, int64_t begin, int64_t end, void *scratch)
{
    const td_gemm_kernel *gemm = &TD_SYM(td_gemm_kernels).real[0];
    float *v = scratch, *m = v + 36 * NR * p->channels;
    for (int64_t step = begin; step < end; step++) {
        tile tiles[NR];
        probe sizes;
        int count = find_tiles(p, step * NR, tiles);
        probe_begin(&sizes, p);
        transform_input(p, tiles, count, v, &sizes);
        probe_end(&sizes, p, tiles, count, step * NR);
        for (int i = 0; i < 36; i++)
            gemm->panel(p->outputs, p->channels, 1, p->weights + i * p->outputs * p->channels,
                        v + i * p->channels * NR, m + i * p->outputs * NR, NR,
                        (count + LANES - 1) / LANES * LANES, 0);
        transform_output(p, tiles, count, m);
    }
}

/* ---- the gradient of the weights: a lane per channel ---- */
#define STEP TD_WINOGRAD_STEP

/* four gradients to six */
TD_INLINE void gradient_1d(vf x0, vf x1, vf x2, vf x3, vf *t, int step)
{
    vf fa = C(1.f / (2 * A2 * (A2 - B2))), fb = C(1.f / (2 * B2 * (B2 - A2)));
    t[0] = vf_mul(x0, C(1.f / (A2 * B2)));
    vf even = vf_fma(x2, C(A2), x0), odd = vf_mul(vf_fma(x3, C(A2), x1), C(A));
    t[step] = vf_mul(vf_add(even, odd), fa);
    t[2 * step] = vf_mul(vf_sub(even, odd), fa);
    even = vf_fma(x2, C(B2), x0);
    odd = vf_mul(vf_fma(x3, C(B2), x1), C(B));
    t[3 * step] = vf_mul(vf_add(even, odd), fb);
    t[4 * step] = vf_mul(vf_sub(even, odd), fb);
    t[5 * step] = x3;
}

/* six products to three weights */
TD_INLINE void weight_1d(const vf *m, int step, vf *o, int out_step)
{
    vf a = vf_add(m[step], m[2 * step]), b = vf_sub(m[step], m[2 * step]);
    vf c = vf_add(m[3 * step], m[4 * step]), d = vf_sub(m[3 * step], m[4 * step]);
    o[0] = vf_add(m[0], vf_add(a, c));
    o[out_step] = vf_fma(C(B), d, vf_mul(C(A), b));
    o[2 * out_step] = vf_add(vf_fma(C(B2), c, vf_mul(C(A2), a)), m[5 * step]);
}

/* The rows that a run of tiles reads, for LANES planes, copied with zeros for what lies outside:
 * planes apart by a power of two would fall on the same lines of the cache. */
#define RUN 8             /* tiles */
#define ROW (4 * RUN + 4) /* floats */
#define STRIP (LANES * 6 * ROW + LANES)

/* rows [y, y + rows) and columns [x, x + width) of planes of `size` */
static void copy_rows(const float *from, int64_t plane, int64_t planes, const int64_t size[2],
                      int64_t y, int64_t x, int rows, int width, float *to)
{
    for (int64_t c = 0; c < LANES; c++)
        for (int64_t row = y; row < y + rows; row++, to += ROW) {
            bool exists = c < planes && row >= 0 && row < size[0];
            const float *line = from + c * plane + row * size[1] + x;
            for (int j = 0; j < width; j += LANES) {
                uint32_t bits =
                    exists ? td_lanes(size[1] - x - j, LANES) & ~td_lanes(-x - j, LANES) : 0;
                TD_PREFETCH(line + 4 * size[1] + j); /* for the tiles below */
                /* what runs over is written again by the next row */
                vf_store(to + j, vf_load_part(bits, line + j));
            }
        }
}

/* `width` elements of one row of LANES planes in a strip, a plane per lane: to[width] */
TD_INLINE void read_planes(const float *from, const int rows, const int width, vf *to)
{
    vf r[LANES];
    TD_UNROLL for (int i = 0; i < LANES; i++) r[i] = vf_load(from + i * rows * ROW);
    vf_transpose(r);
    TD_UNROLL for (int i = 0; i < width; i++) to[i] = r[i];
}

/* ---- the sizes of a step's tiles, a lane per channel: most, and the smaller of two places in the
 * middle, in which the same output meets the same input where the padding is 1 ---- */
#define NOTE (2 * LANES) /* floats of a tile */

TD_INLINE void note(float *at, vf most, vf a, vf b, bool sample)
{
    vf_store(at, most);
    if (sample) vf_store(at + LANES, vf_wider(vf_load(at + LANES), vf_narrower(a, b)));
}

/* the largest of all lanes, for each of `count` tiles */
static void lanes_of_notes(const float *notes, int64_t count, float *to)
{
    for (int64_t first = 0; first < count; first += LANES) {
        vf r[LANES], most = vf_zero();
        for (int i = 0; i < LANES; i++) r[i] = vf_load(notes + (first + i) * NOTE);
        vf_transpose(r);
        for (int i = 0; i < LANES; i++) most = vf_wider(most, r[i]);
        vf_store_part(to + first, td_lanes(count - first, LANES), most);
    }
}

static void notes_end(const float *notes, int64_t first, int64_t count, td_tile_sizes to)
{
    if (!to.most) return;
    lanes_of_notes(notes, count, to.most + first);
    lanes_of_notes(notes + LANES, count, to.least + first);
}

/* LANES channels of `n` neighbouring tiles: v[36][step] per tile, tiles `across` apart. notes: of
 * these tiles, or NULL */
static void input_planes(const td_winograd *p, const tile *t, int n, int64_t channel,
                         int64_t planes, float *v, int64_t across, int64_t step, float *strip,
                         float *notes)
{
    int own = tiles_own_all(p);
    const float *from = p->x + t->image * p->x_image + channel * p->x_channel;
    copy_rows(from, p->x_channel, planes, p->in, t->y - p->pad[0], t->x - p->pad[1], 6, 4 * n + 2,
              strip);
    for (int k = 0; k < n; k++, v += across) {
        vf d[36];
        for (int row = 0; row < 6; row++) read_planes(strip + row * ROW + 4 * k, 6, 6, d + 6 * row);
        if (notes)
            note(notes + k * NOTE, widest_of(vf_load(notes + k * NOTE), d, own), d[14], d[21],
                 channel < SAMPLE);
        for (int i = 0; i < 6; i++) input_1d(d + i, 6);
        for (int i = 0; i < 6; i++) input_1d(d + 6 * i, 1);
        for (int i = 0; i < 36; i++) vf_store(v + i * step, d[i]);
    }
}

static void gradient_planes(const td_winograd *p, const tile *t, int n, int64_t output,
                            int64_t planes, float *u, int64_t across, int64_t step, float *strip,
                            float *notes)
{
    const float *from = p->y + t->image * p->y_image + output * p->y_channel;
    copy_rows(from, p->y_channel, planes, p->out, t->y, t->x, 4, 4 * n, strip);
    for (int k = 0; k < n; k++, u += across) {
        vf g[16], half[24], d[36];
        for (int row = 0; row < 4; row++) read_planes(strip + row * ROW + 4 * k, 4, 4, g + 4 * row);
        if (notes) {
            vf most = vf_load(notes + k * NOTE);
            for (int i = 0; i < 16; i++) most = vf_wider(most, g[i]);
            note(notes + k * NOTE, most, g[5], g[10], output < SAMPLE);
        }
        for (int i = 0; i < 4; i++) gradient_1d(g[i], g[4 + i], g[8 + i], g[12 + i], half + i, 4);
        for (int i = 0; i < 6; i++)
            gradient_1d(half[4 * i], half[4 * i + 1], half[4 * i + 2], half[4 * i + 3], d + 6 * i,
                        1);
        for (int i = 0; i < 36; i++) vf_store(u + i * step, d[i]);
    }
}

/* how many tiles from this one on are neighbours in one row, RUN at most */
static int run_of(const tile *t, int64_t left)
{
    int n = 1;
    while (n < RUN && n < left && t[n].image == t->image && t[n].y == t->y) n++;
    return n;
}

static int64_t padded(int64_t channels) { return (channels + LANES - 1) / LANES * LANES; }

static int64_t gradient_work(int64_t outputs, int64_t channels)
{
    int64_t o = padded(outputs), c = padded(channels);
    return (36 * (STEP * (o + c) + o * c) + STRIP + 2 * STEP * NOTE) * (int64_t)sizeof(float);
}

/* m[36][padded outputs][padded channels] to dw, LANES channels of an output at a time */
static void write_weights(const td_winograd *p, const float *m, int64_t output, int64_t outputs,
                          int64_t channel, int64_t channels, float *dw)
{
    int64_t across = padded(channels), all = padded(outputs) * across;
    for (int64_t o = 0; o < outputs; o++)
        for (int64_t c = 0; c < channels; c += LANES) {
            vf sums[36], half[18], w[9];
            float out[9][LANES], *to = dw + ((output + o) * p->channels + channel + c) * 9;
            for (int i = 0; i < 36; i++) sums[i] = vf_load(m + i * all + o * across + c);
            for (int i = 0; i < 6; i++) weight_1d(sums + i, 6, half + i, 6);
            for (int i = 0; i < 3; i++) weight_1d(half + 6 * i, 1, w + 3 * i, 1);
            for (int i = 0; i < 9; i++) vf_store(out[i], w[i]);
            for (int64_t k = 0; k < LANES && c + k < channels; k++)
                for (int i = 0; i < 9; i++) to[k * 9 + i] = out[i][k];
        }
}

static void gradient(const td_winograd *p, int64_t output, int64_t outputs, int64_t channel,
                     int64_t channels, float *dw, td_tile_sizes x, td_tile_sizes y, void *scratch)
{
    const td_gemm_kernel *gemm = &TD_SYM(td_gemm_kernels).real[0];
    int64_t high = padded(outputs), across = padded(channels);
    float *u = scratch, *v = u + 36 * STEP * high, *m = v + 36 * STEP * across,
          *strip = m + 36 * high * across, *x_notes = strip + STRIP,
          *y_notes = x_notes + STEP * NOTE;
    tile tiles[STEP + NR];
    for (int64_t first = 0; first < p->all_tiles; first += STEP) {
        int64_t count = 0;
        while (count < STEP && first + count < p->all_tiles)
            count += find_tiles(p, first + count, tiles + count);
        if (count > STEP) count = STEP;
        memset(x_notes, 0, 2 * STEP * NOTE * sizeof(float));
        for (int64_t t = 0, n; t < count; t += n) {
            n = run_of(&tiles[t], count - t);
            for (int64_t c = 0; c < channels; c += LANES)
                input_planes(p, &tiles[t], (int)n, channel + c, channels - c, v + t * across + c,
                             across, STEP * across, strip, x.most ? x_notes + t * NOTE : NULL);
            for (int64_t o = 0; o < outputs; o += LANES)
                gradient_planes(p, &tiles[t], (int)n, output + o, outputs - o, u + t * high + o,
                                high, STEP * high, strip, y.most ? y_notes + t * NOTE : NULL);
        }
        notes_end(x_notes, first, count, x);
        notes_end(y_notes, first, count, y);
        for (int i = 0; i < 36; i++) {
            td_gemm g = {.m = outputs,
                         .n = across,
                         .k = count,
                         .a = u + i * STEP * high,
                         .a_row = 1,
                         .a_col = high,
                         .b = v + i * STEP * across,
                         .b_row = across,
                         .b_col = 1,
                         .c = m + i * high * across,
                         .c_row = across,
                         .alpha = 1,
                         .add = first > 0,
                         .way = TD_GEMM_SMALL};
            gemm->run(&g, NULL);
        }
    }
    write_weights(p, m, output, outputs, channel, channels, dw);
}

const td_winograd_kernel TD_SYM(td_winograd_kernel) = {NR,  work,          transform_weights,
                                                       run, gradient_work, gradient};
