/* division.h - quotients of numbers of 64 bits that are not below 0, of which most are short: a
 * division of 32 bits takes a third of the instructions. */
#ifndef TD_DIVISION_TEXT_H
#define TD_DIVISION_TEXT_H
#include "cpu/simd/vec.h"

VFN int64_t td_over(int64_t a, int64_t b)
{
    return (a | b) >> 32 ? a / b : (int64_t)((uint32_t)a / (uint32_t)b);
}
#endif
