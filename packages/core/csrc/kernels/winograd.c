/* winograd.c - the transformations of F(4x4, 3x3) and the products between them, LANES tiles at a time. */
#include "kernels/winograd.h"
#include "kernels/gemm.h"
#include "kernels/gemm_isa.h"
#include "kernels/gemm_vec.h"
#include "runtime/loops.h"

#define LANES VF_LANES
#define MR TD_MR
#define NR (TD_NV * LANES)

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
    vf d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step], d5 = d[5 * step];
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

/* ---- weights: as many outputs of one channel at a time as a tile has rows, stored as the product kernels pack A.
 * Channel after channel, so that what is read and what is written lies one after the other. ---- */
static void transform_weights(float *to, const float *w, int64_t outputs, int64_t channels, int64_t begin, int64_t end)
{
    for (int64_t first = 0; first < outputs; first += MR) {
        int64_t rows = outputs - first < MR ? outputs - first : MR;
        uint32_t bits = td_lanes(rows, LANES);
        for (int64_t c = begin; c < end; c++) {
            const float *from = w + (first * channels + c) * 9;
            vf g[9], half[18], u[36];
            for (int i = 0; i < 9; i++) g[i] = vf_gather(bits, from + i, channels * 9);
            for (int i = 0; i < 3; i++) weights_1d(g[i], g[3 + i], g[6 + i], half + i, 3);
            for (int i = 0; i < 6; i++) weights_1d(half[3 * i], half[3 * i + 1], half[3 * i + 2], u + 6 * i, 1);
            for (int i = 0; i < 36; i++) vf_store_part(to + (i * outputs + first) * channels + c * rows, bits, u[i]);
        }
    }
}

/* ---- tiles ---- */
typedef struct tile {
    int64_t image, y, x; /* the place of its first output */
    int whole;           /* its 6x6 inputs all exist */
} tile;

static int find_tiles(const td_winograd *p, int64_t first, tile *tiles)
{
    int64_t count = p->all_tiles - first < NR ? p->all_tiles - first : NR, area = p->tiles[0] * p->tiles[1];
    for (int64_t i = 0; i < count; i++) {
        int64_t t = first + i, rest = t % area;
        tile *at = &tiles[i];
        at->image = t / area;
        at->y = rest / p->tiles[1] * 4;
        at->x = rest % p->tiles[1] * 4;
        int64_t y = at->y - p->pad[0], x = at->x - p->pad[1];
        at->whole = y >= 0 && y + 6 <= p->in[0] && x >= 0 && x + 6 <= p->in[1];
    }
    return (int)count;
}

/* one of the six input rows of a tile, in the first six lanes */
TD_INLINE vf read_row(const td_winograd *p, const tile *t, int64_t channel, int row)
{
    int64_t y = t->y - p->pad[0] + row, x = t->x - p->pad[1];
    const float *from = p->x + t->image * p->x_image + channel * p->x_channel + y * p->in[1] + x;
    if (t->whole) return vf_load_part(0x3f, from);
    if (y < 0 || y >= p->in[0]) return vf_zero();
    int64_t low = x < 0 ? -x : 0;
    return vf_load_part(td_lanes(p->in[1] - x, 6) & ~td_lanes(low, 6), from);
}

/* v[36][channels][NR] */
static void transform_input(const td_winograd *p, const tile *tiles, int count, float *v)
{
    for (int64_t c = 0; c < p->channels; c++)
        for (int first = 0; first < NR; first += LANES) {
            vf d[36];
            for (int row = 0; row < 6; row++) {
                vf r[LANES];
                for (int i = 0; i < LANES; i++) r[i] = first + i < count ? read_row(p, &tiles[first + i], c, row) : vf_zero();
                vf_transpose(r);
                for (int i = 0; i < 6; i++) d[6 * row + i] = r[i];
            }
            for (int i = 0; i < 6; i++) input_1d(d + i, 6);
            for (int i = 0; i < 6; i++) input_1d(d + 6 * i, 1);
            for (int i = 0; i < 36; i++) vf_store(v + (i * p->channels + c) * NR + first, d[i]);
        }
}

/* sixteen outputs of one tile, rows of four */
static void write_tile(const td_winograd *p, const tile *t, int64_t output, const float *from)
{
    float *to = p->y + t->image * p->y_image + output * p->y_channel + t->y * p->out[1] + t->x;
    int64_t rows = p->out[0] - t->y < 4 ? p->out[0] - t->y : 4, cols = p->out[1] - t->x;
    for (int64_t r = 0; r < rows; r++, to += p->out[1], from += 4) {
        if (cols >= 4) memcpy(to, from, 16);
        else memcpy(to, from, (size_t)cols * 4);
    }
}

static void transform_output(const td_winograd *p, const tile *tiles, int count, const float *m)
{
    for (int64_t output = 0; output < p->outputs; output++) {
        vf bias = C(p->bias ? p->bias[output] : 0);
        for (int first = 0; first < count; first += LANES) {
            vf sums[36], half[24], o[16];
            float out[LANES][16];
            for (int i = 0; i < 36; i++) sums[i] = vf_load(m + (i * p->outputs + output) * NR + first);
            for (int i = 0; i < 6; i++) output_1d(sums + i, 6, half + i, 6);
            for (int i = 0; i < 4; i++) output_1d(half + 6 * i, 1, o + 4 * i, 1);
            for (int i = 0; i < 16; i++) o[i] = vf_add(o[i], bias);
            for (int part = 0; part < 16; part += LANES) {
                vf_transpose(o + part);
                for (int i = 0; i < LANES; i++) vf_store(out[i] + part, o[part + i]);
            }
            for (int i = 0; i < LANES && first + i < count; i++) write_tile(p, &tiles[first + i], output, out[i]);
        }
    }
}

static int64_t work(const td_winograd *p) { return 36 * NR * (p->channels + p->outputs) * (int64_t)sizeof(float); }

static void run(const td_winograd *p, int64_t begin, int64_t end, void *scratch)
{
    const td_gemm_kernel *gemm = &TD_SYM(td_gemm_kernels).real[0];
    float *v = scratch, *m = v + 36 * NR * p->channels;
    for (int64_t step = begin; step < end; step++) {
        tile tiles[NR];
        int count = find_tiles(p, step * NR, tiles);
        transform_input(p, tiles, count, v);
        for (int i = 0; i < 36; i++)
            gemm->panel(p->outputs, p->channels, 1, p->weights + i * p->outputs * p->channels, v + i * p->channels * NR,
                        m + i * p->outputs * NR, NR, (count + LANES - 1) / LANES * LANES, 0);
        transform_output(p, tiles, count, m);
    }
}

const td_winograd_kernel TD_SYM(td_winograd_kernel) = {NR, work, transform_weights, run};
