/* wraps.h - products of strides that may leave 64 bits.
 *
 * The sizes of a tensor multiply within 64 bits, zero counting as one (`td_numel`), and so do those
 * of any of its dimensions. Its strides promise nothing where no memory lies behind them: a tensor
 * without elements, or on meta, has any. What is computed of those reaches no memory, so it may be
 * wrong; it must be defined. */
#ifndef TD_WRAPS_H
#define TD_WRAPS_H
#include <stdint.h>

/* a * b without the bits beyond 64. */
static inline int64_t td_wrapping_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static inline int64_t td_wrapping_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
#endif
