/* cells.h - functions as polynomials, one for each cell of an interval (special_cells.h): every
 * lane of a vector takes the coefficients of its own cell.
 *
 * A table has a row of numbers for each power and a column for each cell; `cells` is 16 or 32, and
 * a lane's index is below that. Nothing here depends on the instruction set but how the numbers are
 * fetched, so results do not either. */
#ifndef TD_CELLS_H
#define TD_CELLS_H
#include "cpu/simd/vec.h"

/* row[i] of each lane */
#if defined __AVX512F__
VFN vd vd_pick16(const double *row, vl i)
{
    return _mm512_permutex2var_pd(_mm512_loadu_pd(row), (__m512i)i, _mm512_loadu_pd(row + 8));
}
VFN vd vd_pick(const double *row, vl i, int cells)
{
    if (cells == 16) return vd_pick16(row, i);
    return _mm512_mask_blend_pd(_mm512_test_epi64_mask((__m512i)i, _mm512_set1_epi64(16)),
                                vd_pick16(row, i), vd_pick16(row + 16, i));
}
VFN vf vf_pick16(const float *row, vi i)
{
    return _mm512_permutexvar_ps((__m512i)i, _mm512_loadu_ps(row));
}
#elif defined __AVX2__
/* four loads and three joins take half the time of a gather */
VFN vd vd_pick(const double *row, vl i, int cells)
{
    return (vd){row[i[0]], row[i[1]], row[i[2]], row[i[3]]};
}
VFN vf vf_pick16(const float *row, vi i)
{
    __m256i at = (__m256i)i;
    __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(row), at),
           high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(row + 8), at);
    return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(at, 28)));
}
#else
VFN vd vd_pick(const double *row, vl i, int cells)
{
    vd x = {0};
    for (int k = 0; k < VD_WIDTH; k++) x[k] = row[i[k]];
    return x;
}
VFN vf vf_pick16(const float *row, vi i)
{
    vf x = {0};
    for (int k = 0; k < VF_WIDTH; k++) x[k] = row[i[k]];
    return x;
}
#endif

/* The cell that u >= 0, counted in cells, falls into, at most `last` (cells - 1). Any u gives an
 * index within the table: adding 2^52 leaves the whole part in the low bits. */
VFN vl vd_cell(vd u, int last)
{
    vd whole = vd_floor(vd_min(vd_set(last), u));
    return (vl)(whole + 0x1p52) & last;
}
VFN vi vf_cell(vf u, int last)
{
    vf whole = vf_floor(vf_min(vf_set((float)last), u));
    return (vi)(whole + 0x1p23f) & last;
}

/* c[0] + c[1] t + ... + c[degree] t^degree of each lane's cell: odd and even powers above the first
 * apart, and the constant last, so that the sum is rounded once where it is the largest term */
VFN vd vd_cells_sum(vd t, vl i, const double *c, int degree, int cells)
{
    vd square = t * t;
    vd one = vd_pick(c + degree * cells, i, cells);
    vd two = vd_pick(c + (degree - 1) * cells, i, cells);
    for (int k = degree - 2; k >= 1; k -= 2) {
        one = vd_fma(one, square, vd_pick(c + k * cells, i, cells));
        if (k > 1) two = vd_fma(two, square, vd_pick(c + (k - 1) * cells, i, cells));
    }
    vd rest = degree % 2 ? vd_fma(two, t, one) : vd_fma(one, t, two);
    return vd_fma(rest, t, vd_pick(c, i, cells));
}
/* the same times `factor`, rounded once at the end */
VFN vf vf_cells_sum(vf t, vi i, const float *c, int degree, vf factor)
{
    vf sum = vf_pick16(c + degree * 16, i);
    for (int k = degree - 1; k >= 1; k--) sum = vf_fma(sum, t, vf_pick16(c + k * 16, i));
    return vf_fma(factor, vf_pick16(c, i), sum * t * factor);
}

/* a table of special_cells.h; a polynomial whose coefficients are one */
#define TD_CELLS(type, name, sizes) static const type name sizes __attribute__((unused))
#define VD_SERIES(x, c) VPOLY(x, c)

#define CELLS_(c) ((int)(sizeof(c)[0] / sizeof(c)[0][0]))
#define ROWS_(c) ((int)(sizeof(c) / sizeof(c)[0]))
/* the function at v in the cells i */
#define VD_CELLS(v, i, c) \
    vd_cells_sum((v) - vd_pick(c[0], i, CELLS_(c)), i, c[1], ROWS_(c) - 2, CELLS_(c))
#define VF_CELLS(v, i, c, factor) \
    vf_cells_sum((v) - vf_pick16(c[0], i), i, c[1], ROWS_(c) - 2, factor)
/* the same where the centre of a cell may be a zero of the function, which takes two numbers */
#define VD_CELLS_ZERO(v, i, c)                                                               \
    vd_cells_sum(((v) - vd_pick(c[0], i, CELLS_(c))) - vd_pick(c[1], i, CELLS_(c)), i, c[2], \
                 ROWS_(c) - 3, CELLS_(c))

#endif
