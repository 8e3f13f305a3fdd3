/* volume.h - elements of three dimensions by their number, row-major. */
#ifndef TD_VOLUME_TEXT_H
#define TD_VOLUME_TEXT_H
#include "cuda/kernels/division.h"

struct td_place3 {
    int64_t at[3];
};
VFN int64_t td_volume3(const int64_t *size) { return size[0] * size[1] * size[2]; }
VFN td_place3 td_place_of(int64_t at, const int64_t *size)
{
    td_place3 p;
    int64_t rows = td_over(at, size[2]), planes = td_over(rows, size[1]);
    p.at[2] = at - rows * size[2];
    p.at[1] = rows - planes * size[1];
    p.at[0] = planes;
    return p;
}
VFN int64_t td_number_of(const td_place3 &p, const int64_t *size)
{
    return (p.at[0] * size[1] + p.at[1]) * size[2] + p.at[2];
}
#endif
