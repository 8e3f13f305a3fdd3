/* winograd_tiles.h - the tiles of Winograd's products: where they lie, how they are read and
 * written, and how large their numbers are. For the two kernels that work on them. */
#ifndef TD_WINOGRAD_TILES_H
#define TD_WINOGRAD_TILES_H
#include "cpu/conv/winograd.h"
#include "cpu/matmul/isa.h"
#include "cpu/simd/gemm_vec.h"

#define LANES VF_LANES
#define NR (TD_NV * LANES)

typedef struct tile {
    int64_t image, y, x; /* the place of its first output */
    int whole;           /* its 6x6 inputs all exist */
} tile;

TD_INLINE tile tile_at(const td_winograd *p, int64_t image, int64_t down, int64_t across)
{
    int64_t y = 4 * down - p->pad[0], x = 4 * across - p->pad[1];
    return (tile){.image = image,
                  .y = 4 * down,
                  .x = 4 * across,
                  .whole = y >= 0 && y + 6 <= p->in[0] && x >= 0 && x + 6 <= p->in[1]};
}

TD_INLINE int find_tiles(const td_winograd *p, int64_t first, tile *tiles)
{
    int64_t count = p->all_tiles - first < NR ? p->all_tiles - first : NR,
            area = p->tiles[0] * p->tiles[1];
    for (int64_t i = 0; i < count; i++) {
        int64_t t = first + i, rest = t % area;
        tiles[i] = tile_at(p, t / area, rest / p->tiles[1], rest % p->tiles[1]);
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

/* sixteen outputs of one tile, rows of four */
TD_INLINE void write_tile(const td_winograd *p, const tile *t, int64_t output, const float *from)
{
    float *to = p->y + t->image * p->y_image + output * p->y_channel + t->y * p->out[1] + t->x;
    int64_t rows = p->out[0] - t->y < 4 ? p->out[0] - t->y : 4, cols = p->out[1] - t->x;
    for (int64_t r = 0; r < rows; r++, to += p->out[1], from += 4) {
        if (cols >= 4) memcpy(to, from, 16);
        else memcpy(to, from, (size_t)cols * 4);
    }
}

/* the outputs of LANES tiles, a tile per lane; the first `count` are written */
TD_INLINE void write_tiles(const td_winograd *p, const tile *tiles, int count, int64_t output,
                           vf *o)
{
    float out[LANES][16];
    for (int part = 0; part < 16; part += LANES) {
        vf_transpose(o + part);
        for (int i = 0; i < LANES; i++) vf_store(out[i] + part, o[part + i]);
    }
    for (int i = 0; i < LANES && i < count; i++) write_tile(p, &tiles[i], output, out[i]);
}

/* ---- sizes ---- */

/* Does every number that tiles read belong to one of them: rows and columns 1 to 4 of its six? */
TD_INLINE int tiles_own_all(const td_winograd *p)
{
    return p->pad[0] == 1 && p->pad[1] == 1 && p->in[0] == p->out[0] && p->in[1] == p->out[1];
}

/* the largest of `most` and the magnitudes that a tile owns, or of all that it reads */
TD_INLINE vf widest_of(vf most, const vf *d, int own)
{
    if (own) {
        TD_UNROLL for (int y = 1; y < 5; y++) TD_UNROLL for (int x = 1; x < 5; x++) most =
            vf_wider(most, d[6 * y + x]);
    } else {
        TD_UNROLL for (int i = 0; i < 36; i++) most = vf_wider(most, d[i]);
    }
    return most;
}

/* the wider of two magnitudes: a NaN is wider than infinity */
TD_INLINE float wider(float a, float b)
{
    int32_t x, y;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    return x > y ? a : b;
}

TD_INLINE float widest_lane(vf a)
{
    float lanes[LANES], most = 0;
    vf_store(lanes, a);
    for (int i = 0; i < LANES; i++) most = wider(most, lanes[i]);
    return most;
}
#endif
