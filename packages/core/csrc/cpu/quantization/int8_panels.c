/* int8_panels.c - the kernels of int8_panels.h: what instruction sets share, around the sums of
 * one. */
#include "cpu/quantization/int8_panels.h"
#include <math.h>
#include <string.h>
#include "cpu/simd/gemm_vec.h"
#include "runtime/loops.h"

#if defined(__AVX512F__)
#include "cpu/quantization/int8_panels_quads.h"
#elif defined(__AVX2__)
#include "cpu/quantization/int8_panels_bytes.h"
#else
#include "cpu/quantization/int8_panels_any.h"
#endif
#include "cpu/quantization/int8_panels_put.h"

/* ---- tiles: some rows of x and WIDE panels ---- */

TD_INLINE TD_HAS_SUMS void some(const int mr, const int panels, const bool narrow,
                                const td_int8_product *p, const td_int8_rows *r, int64_t row,
                                int64_t panel)
{
    int32_t sums[MR * WIDE][TD_PANEL];
    int64_t bytes = p->words * TD_PANEL * TD_WORD;
    tile(mr, panels, narrow, p->words, r->x + row * r->row, r->row, p->panels + panel * bytes,
         sums);
    for (int j = 0; j < panels; j++)
        put(p, r, row, mr, (panel + j) * TD_PANEL, sums[j], panels * TD_PANEL);
}

typedef void (*tile_fn)(const td_int8_product *p, const td_int8_rows *r, int64_t row,
                        int64_t panel);
#define TILE(mr)                                                                         \
    static TD_HAS_SUMS void narrow_##mr(const td_int8_product *p, const td_int8_rows *r, \
                                        int64_t row, int64_t panel)                      \
    {                                                                                    \
        some(mr, WIDE, true, p, r, row, panel);                                          \
    }                                                                                    \
    static TD_HAS_SUMS void wide_##mr(const td_int8_product *p, const td_int8_rows *r,   \
                                      int64_t row, int64_t panel)                        \
    {                                                                                    \
        some(mr, WIDE, false, p, r, row, panel);                                         \
    }                                                                                    \
    static TD_HAS_SUMS void last_##mr(const td_int8_product *p, const td_int8_rows *r,   \
                                      int64_t row, int64_t panel)                        \
    {                                                                                    \
        some(mr, 1, false, p, r, row, panel);                                            \
    }
FOR_ROWS(TILE)
#define TILE_ENTRY(mr) [mr] = {wide_##mr, narrow_##mr, last_##mr},
static const tile_fn tiles[MR + 1][3] = {FOR_ROWS(TILE_ENTRY)};

static void run(const td_int8_product *p, const td_int8_rows *r, int64_t first, int64_t last)
{
    for (int64_t panel = first; panel < last; panel += WIDE)
        for (int64_t row = 0; row < r->m; row += MR) {
            int64_t mr = r->m - row < MR ? r->m - row : MR;
            int which = last - panel < WIDE ? 2 : p->narrow;
            tiles[mr][which](p, r, row, panel);
        }
}

const td_int8_panels_kernels TD_SYM(td_int8_panels_kernels) = {run};
