/* int8_tiles.c - the kernel of int8_panels.h by tile registers (AMX-INT8). Its table is empty on
 * every other instruction set.
 *
 * 16 rows of x and a panel of the matrix are 16 x 16 sums, of 16 words at a time: a panel lies in
 * memory as a register has it. Rows that do not fill a register go through the kernel without
 * tiles; sums of integers are the same. */
#include "cpu/quantization/int8_panels.h"
#include "runtime/loops.h"

#if defined(__x86_64__) && defined(__AVX512F__)
#include <math.h>
#include <string.h>
#include "cpu/simd/gemm_vec.h"
#include "cpu/simd/tiles.h"
#include "cpu/quantization/int8_panels_put.h"

#define SIDE TD_TILE_ROWS
#define REGISTER (SIDE * TD_TILE_BYTES)

/* Registers 0 to 3 hold sums, 4 rows of x, 5 a panel; 6 and 7 the same of the last words. */
static td_tile_shapes shapes_for(int64_t words)
{
    int last = (int)(words % SIDE);
    td_tile_shapes s = {.palette = 1};
    for (int i = 0; i < 6; i++) s.row_bytes[i] = TD_TILE_BYTES, s.rows[i] = SIDE;
    if (last) {
        s.row_bytes[6] = (uint16_t)(last * TD_WORD);
        s.row_bytes[7] = TD_TILE_BYTES;
        s.rows[6] = SIDE;
        s.rows[7] = (uint8_t)last;
    }
    return s;
}

/* Products of 32 rows of x and two panels, `other` bytes apart; rows and a panel go through the
 * registers `left` and `right`. */
#define ADD_FOUR(left, right)                          \
    do {                                               \
        TD_TILE_LOAD(left, x, row);                    \
        TD_TILE_LOAD(right, b, TD_TILE_BYTES);         \
        TD_TILE_QUADS(0, left, right);                 \
        TD_TILE_LOAD(left, below, row);                \
        TD_TILE_QUADS(2, left, right);                 \
        TD_TILE_LOAD(right, b + other, TD_TILE_BYTES); \
        TD_TILE_QUADS(3, left, right);                 \
        TD_TILE_LOAD(left, x, row);                    \
        TD_TILE_QUADS(1, left, right);                 \
    } while (0)

/* the same of 16 rows and a panel */
#define ADD_ONE(left, right)                   \
    do {                                       \
        TD_TILE_LOAD(left, x, row);            \
        TD_TILE_LOAD(right, b, TD_TILE_BYTES); \
        TD_TILE_QUADS(0, left, right);         \
    } while (0)

static void large_tile(int64_t words, const uint8_t *x, int64_t row, const int8_t *b, int64_t other,
                       int32_t (*sums)[SIDE])
{
    const uint8_t *below = x + SIDE * row;
    TD_TILE_ZERO(0);
    TD_TILE_ZERO(1);
    TD_TILE_ZERO(2);
    TD_TILE_ZERO(3);
    for (; words >= SIDE; words -= SIDE, x += TD_TILE_BYTES, below += TD_TILE_BYTES, b += REGISTER)
        ADD_FOUR(4, 5);
    if (words) ADD_FOUR(6, 7);
    TD_TILE_STORE(0, sums[0], TD_TILE_BYTES);
    TD_TILE_STORE(1, sums[SIDE], TD_TILE_BYTES);
    TD_TILE_STORE(2, sums[2 * SIDE], TD_TILE_BYTES);
    TD_TILE_STORE(3, sums[3 * SIDE], TD_TILE_BYTES);
}

static void small_tile(int64_t words, const uint8_t *x, int64_t row, const int8_t *b,
                       int32_t (*sums)[SIDE])
{
    TD_TILE_ZERO(0);
    for (; words >= SIDE; words -= SIDE, x += TD_TILE_BYTES, b += REGISTER) ADD_ONE(4, 5);
    if (words) ADD_ONE(6, 7);
    TD_TILE_STORE(0, sums[0], TD_TILE_BYTES);
}

static void run_tiles(const td_int8_product *p, const td_int8_rows *r, int64_t rows, int64_t first,
                      int64_t last)
{
    int64_t bytes = p->words * TD_PANEL * TD_WORD;
    int32_t sums[4 * SIDE][SIDE];
    for (int64_t panel = first; panel < last; panel += 2)
        for (int64_t row = 0; row < rows; row += 2 * SIDE) {
            const uint8_t *x = r->x + row * r->row;
            const int8_t *b = p->panels + panel * bytes;
            int down = rows - row >= 2 * SIDE ? 2 : 1, across = last - panel >= 2 ? 2 : 1;
            if (down == 2 && across == 2) large_tile(p->words, x, r->row, b, bytes, sums);
            for (int i = 0; i < down; i++)
                for (int j = 0; j < across; j++) {
                    int32_t(*own)[SIDE] = sums + (2 * i + j) * SIDE;
                    if (down + across < 4)
                        small_tile(p->words, x + i * SIDE * r->row, r->row, b + j * bytes, own);
                    put(p, r, row + i * SIDE, SIDE, (panel + j) * TD_PANEL, own[0], SIDE);
                }
        }
}

static void run(const td_int8_product *p, const td_int8_rows *r, int64_t first, int64_t last)
{
    int64_t rows = r->m / SIDE * SIDE, size = p->to_bytes ? 1 : sizeof(float);
    td_int8_rows rest = *r;
    if (rows) {
        td_tile_shapes shapes = shapes_for(p->words);
        TD_TILES_BEGIN(shapes);
        run_tiles(p, r, rows, first, last);
        TD_TILES_END();
    }
    if (rows == r->m) return;
    rest.m -= rows;
    rest.x += rows * r->row;
    rest.out = (char *)r->out + rows * r->out_row * size;
    if (rest.sums) rest.sums += rows;
    td_int8_panels_kernels_avx512.run(p, &rest, first, last);
}

const td_int8_panels_kernels TD_SYM(td_int8_tiles_kernels) = {run};
#else
const td_int8_panels_kernels TD_SYM(td_int8_tiles_kernels) = {NULL};
#endif
