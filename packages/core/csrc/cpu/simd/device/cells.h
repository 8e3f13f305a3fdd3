/* cells.h - functions as polynomials, one for each cell of an interval, where a thread computes one
 * element: it reads the coefficients of its cell. The sums are those of cpu/simd/cells.h, term by
 * term. */
#ifndef TD_CELLS_H
#define TD_CELLS_H
#include "cpu/simd/vec.h"

VFN vd vd_pick(const double *row, vl i, int) { return vd(row[i.v]); }
VFN vf vf_pick16(const float *row, vi i) { return vf(row[i.v]); }
VFN vl vd_cell(vd u, int last)
{
    vd whole = vd_floor(vd_min(vd_set(last), u));
    return vl(whole + 0x1p52) & vl(last);
}
VFN vi vf_cell(vf u, int last)
{
    vf whole = vf_floor(vf_min(vf_set((float)last), u));
    return vi(whole + 0x1p23f) & vi(last);
}
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
VFN vf vf_cells_sum(vf t, vi i, const float *c, int degree, vf factor)
{
    vf sum = vf_pick16(c + degree * 16, i);
    for (int k = degree - 1; k >= 1; k--) sum = vf_fma(sum, t, vf_pick16(c + k * 16, i));
    return vf_fma(factor, vf_pick16(c, i), sum * t * factor);
}
/* A table of special_cells.h is a template, so that an image has only those that its kernel reads.
 */
#define TD_CELLS(type, name, sizes) template <int> static constexpr type name sizes
#define VD_SERIES(x, c) VPOLY(x, c<0>)

#define CELLS_(c) ((int)(sizeof(c)[0] / sizeof(c)[0][0]))
#define ROWS_(c) ((int)(sizeof(c) / sizeof(c)[0]))
#define VD_CELLS(v, i, c) VD_CELLS_(v, i, c<0>)
#define VD_CELLS_(v, i, c) \
    vd_cells_sum((v) - vd_pick(c[0], i, CELLS_(c)), i, c[1], ROWS_(c) - 2, CELLS_(c))
#define VF_CELLS(v, i, c, factor) VF_CELLS_(v, i, c<0>, factor)
#define VF_CELLS_(v, i, c, factor) \
    vf_cells_sum((v) - vf_pick16(c[0], i), i, c[1], ROWS_(c) - 2, factor)
#define VD_CELLS_ZERO(v, i, c) VD_CELLS_ZERO_(v, i, c<0>)
#define VD_CELLS_ZERO_(v, i, c)                                                              \
    vd_cells_sum(((v) - vd_pick(c[0], i, CELLS_(c))) - vd_pick(c[1], i, CELLS_(c)), i, c[2], \
                 ROWS_(c) - 3, CELLS_(c))
#endif
