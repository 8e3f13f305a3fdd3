/* tiles.h - instructions on tile registers (AMX), where td_has_tiles(). A register holds up to 16
 * rows of up to 64 bytes. A thread says what shapes its registers have, and gives them up at the
 * end: until then the system saves them whenever it takes the processor away.
 *
 * In assembly, since the compiler's own do not say that they read and write memory. */
#ifndef TD_TILES_H
#define TD_TILES_H
#include <stdint.h>

#define TD_TILE_ROWS 16
#define TD_TILE_BYTES 64

typedef struct td_tile_shapes {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} td_tile_shapes;

#define TD_TILES_BEGIN(shapes) __asm__ volatile("ldtilecfg %0" : : "m"(shapes))
#define TD_TILES_END() __asm__ volatile("tilerelease" : : : "memory")
#define TD_TILE_ZERO(to) __asm__ volatile("tilezero %%tmm" #to : :)
#define TD_TILE_LOAD(to, from, stride)                   \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #to    \
                     :                                   \
                     : "r"(from), "r"((int64_t)(stride)) \
                     : "memory")
#define TD_TILE_STORE(from, to, stride)                     \
    __asm__ volatile("tilestored %%tmm" #from ", (%0,%1,1)" \
                     :                                      \
                     : "r"(to), "r"((int64_t)(stride))      \
                     : "memory")
/* pairs of bfloat16: adds products of even places and of odd ones apart, both to the sum at the end
 */
#define TD_TILE_PAIRS(sums, a, b) \
    __asm__ volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #sums : :)
/* quads of uint8 in a, of int8 in b; sums wrap at 32 bits */
#define TD_TILE_QUADS(sums, a, b) \
    __asm__ volatile("tdpbusd %%tmm" #b ", %%tmm" #a ", %%tmm" #sums : :)
#endif
