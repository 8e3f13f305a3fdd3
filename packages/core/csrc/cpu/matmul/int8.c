/* int8.c - products of int8 by words of several neighbours along k, which an instruction multiplies
 * and adds at once: quads (AVX512-VNNI) or pairs (AVX2). The table is empty elsewhere.
 *
 * Panels hold words, filled up with zeros along k. Every sum wraps at 32 bits, so any order and any
 * instruction give the same. */
#include "cpu/matmul/int8.h"
#include <stddef.h>
#include "runtime/loops.h"

#if defined(__x86_64__) && defined(__AVX2__)
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

#ifdef __AVX512F__
#include "cpu/matmul/int8_quads.h"
#else
#include "cpu/matmul/int8_pairs.h"
#endif
#define MC (12 * MR) /* rows of A packed at a time */

typedef void (*tile_fn)(int64_t words, const uint32_t *a, const uint32_t *b, int32_t *c,
                        int64_t c_row, int64_t width, bool add);
#define TILE(mr)                                                                            \
    static TD_HAS_WORDS void tile_##mr(int64_t words, const uint32_t *a, const uint32_t *b, \
                                       int32_t *c, int64_t c_row, int64_t width, bool add)  \
    {                                                                                       \
        tile(mr, words, a, b, c, c_row, width, add);                                        \
    }
FOR_ROWS(TILE)
#define TILE_ENTRY(mr) [mr] = tile_##mr,
static const tile_fn tiles[MR + 1] = {FOR_ROWS(TILE_ENTRY)};

/* ---- the loops around them ---- */

static int64_t work(const td_int8_gemm *g, int64_t columns)
{
    (void)g;
    return (MC * KC + (columns + NR - 1) / NR * PANEL) * (int64_t)sizeof(uint32_t);
}

static void run(const td_int8_gemm *g, int64_t begin, int64_t end, void *scratch)
{
    uint32_t *packed = scratch, *panels = packed + MC * KC;
    for (int64_t k0 = 0; k0 < g->k; k0 += WORD * KC) {
        int64_t k = least(g->k - k0, WORD * KC), words = (k + WORD - 1) / WORD;
        for (int64_t row = 0; row < g->m; row += MC) {
            int64_t rows = least(g->m - row, MC);
            pack_left(packed, g->a + row * g->a_row + k0, g->a_row, rows, k);
            for (int64_t j = begin; j < end; j += NR) {
                uint32_t *panel = panels + (j - begin) / NR * PANEL;
                int64_t width = least(end - j, NR);
                if (row == 0) pack_right(panel, g, k0, k, j, width);
                for (int64_t i = 0; i < rows; i += MR)
                    tiles[least(rows - i, MR)](words, packed + i * words, panel,
                                               g->c + (row + i) * g->n + j, g->n, width, k0 > 0);
            }
        }
    }
}

const td_int8_kernels TD_SYM(td_int8_kernels) = {work, run};
#else
const td_int8_kernels TD_SYM(td_int8_kernels) = {NULL, NULL};
#endif
