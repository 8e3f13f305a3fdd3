/* winograd_plain.c - the tiles that Winograd's sums would spoil, by plain sums, LANES tiles at a
 * time.
 *
 *   rows of tiles      by the sizes that the other kernel noted: are all of about one size?
 *   the tiles of one   by the same, each with its neighbours
 *   what is left       by its numbers: the largest of all, against the largest of each 3x3 window
 */
#include <stdbool.h>
#include "cpu/conv/winograd_tiles.h"
#include "runtime/loops.h"

static bool is_even(const td_winograd *p, float most, float least)
{
    return most <= p->limit && most <= TD_WINOGRAD_SPREAD * least; /* NaN: no */
}

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- by what was noted ---- */

/* the largest of row `down` of one image's tiles and its neighbours, columns [begin, end) */
static float widest_rows(const td_winograd *p, int64_t image, int64_t down, int64_t begin,
                         int64_t end)
{
    float most = 0;
    for (int64_t y = down > 0 ? down - 1 : 0; y < p->tiles[0] && y <= down + 1; y++) {
        const float *row = p->sizes.most + (image * p->tiles[0] + y) * p->tiles[1];
        for (int64_t x = begin; x < end; x++) most = wider(most, row[x]);
    }
    return most;
}

static bool row_is_even(const td_winograd *p, int64_t image, int64_t down)
{
    const float *least = p->sizes.least + (image * p->tiles[0] + down) * p->tiles[1];
    float smallest = INFINITY;
    for (int64_t x = 0; x < p->tiles[1]; x++) smallest = least[x] < smallest ? least[x] : smallest;
    return is_even(p, widest_rows(p, image, down, 0, p->tiles[1]), smallest);
}

static bool noted_even(const td_winograd *p, int64_t image, int64_t down, int64_t across)
{
    float least = p->sizes.least[(image * p->tiles[0] + down) * p->tiles[1] + across];
    int64_t begin = across > 0 ? across - 1 : 0;
    return is_even(p, widest_rows(p, image, down, begin, least_of(across + 2, p->tiles[1])), least);
}

/* ---- by its numbers ---- */
static bool tile_is_even(const td_winograd *p, const tile *t)
{
    vf rows[6];
    float at[6][LANES], most = 0, least = INFINITY;
    for (int row = 0; row < 6; row++) rows[row] = vf_zero();
    for (int64_t c = 0; c < p->channels; c++)
        for (int row = 0; row < 6; row++) rows[row] = vf_wider(rows[row], read_row(p, t, c, row));
    for (int row = 0; row < 6; row++) vf_store(at[row], rows[row]);
    for (int i = 0; i < 36; i++) most = wider(most, at[i / 6][i % 6]);
    int64_t down = least_of(p->out[0] - t->y, 4), across = least_of(p->out[1] - t->x, 4);
    for (int64_t y = 0; y < down; y++)
        for (int64_t x = 0; x < across; x++) {
            float window = 0;
            for (int i = 0; i < 9; i++) window = wider(window, at[y + i / 3][x + i % 3]);
            least = window < least ? window : least;
        }
    return is_even(p, most, least);
}

/* ---- plain sums ---- */

/* v[channels][36], a tile per lane; those past `count` are zero */
static void read_tiles(const td_winograd *p, const tile *tiles, int count, float *v)
{
    for (int64_t c = 0; c < p->channels; c++)
        for (int row = 0; row < 6; row++) {
            vf r[LANES];
            for (int i = 0; i < LANES; i++)
                r[i] = i < count ? read_row(p, &tiles[i], c, row) : vf_zero();
            vf_transpose(r);
            for (int i = 0; i < 6; i++) vf_store(v + (36 * c + 6 * row + i) * LANES, r[i]);
        }
}

/* two rows of a tile's outputs: from the first four of its rows, or of those from `v` on */
TD_INLINE void sum_rows(const td_winograd *p, const float *w, const float *v, vf *o)
{
    vf sums[8];
    TD_UNROLL for (int i = 0; i < 8; i++) sums[i] = vf_zero();
    for (int64_t c = 0; c < p->channels; c++, w += 9, v += 36 * LANES)
        TD_UNROLL for (int tap = 0; tap < 9; tap++)
        {
            vf factor = vf_set1(w[tap]);
            TD_UNROLL for (int i = 0; i < 8; i++)
            {
                int at = 6 * (i / 4 + tap / 3) + i % 4 + tap % 3;
                sums[i] = vf_fma(factor, vf_load(v + at * LANES), sums[i]);
            }
        }
    TD_UNROLL for (int i = 0; i < 8; i++) o[i] = sums[i];
}

static void sum_tiles(const td_winograd *p, const tile *tiles, int count, float *v)
{
    if (count == 0) return;
    read_tiles(p, tiles, count, v);
    for (int64_t output = 0; output < p->outputs; output++) {
        const float *w = p->plain + output * p->channels * 9;
        vf o[16], bias = vf_set1(p->bias ? p->bias[output] : 0);
        sum_rows(p, w, v, o);
        sum_rows(p, w, v + 12 * LANES, o + 8);
        for (int i = 0; i < 16; i++) o[i] = vf_add(o[i], bias);
        write_tiles(p, tiles, count, output, o);
    }
}

static int64_t work(const td_winograd *p)
{
    return p->channels * 36 * LANES * (int64_t)sizeof(float);
}

static void mend(const td_winograd *p, int64_t begin, int64_t end, void *scratch)
{
    tile tiles[LANES];
    int count = 0;
    for (int64_t row = begin; row < end; row++) {
        int64_t image = row / p->tiles[0], down = row % p->tiles[0];
        if (row_is_even(p, image, down)) continue;
        for (int64_t across = 0; across < p->tiles[1]; across++) {
            if (noted_even(p, image, down, across)) continue;
            tiles[count] = tile_at(p, image, down, across);
            count += !tile_is_even(p, &tiles[count]);
            if (count < LANES) continue;
            sum_tiles(p, tiles, count, scratch);
            count = 0;
        }
    }
    sum_tiles(p, tiles, count, scratch);
}

const td_winograd_plain TD_SYM(td_winograd_plain) = {work, mend};
