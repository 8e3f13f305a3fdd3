/* address.h - where elements lie: may numbers be read there, and is each in a place of its own? */
#ifndef TD_ADDRESS_H
#define TD_ADDRESS_H
#include "runtime/tensor.h"

/* Numbers lie at multiples of their size, complex ones at multiples of their parts' size. */
static inline bool td_is_aligned(const void *at, td_dtype dtype)
{
    uintptr_t size = (uintptr_t)td_itemsize(dtype);
    return (uintptr_t)at % (td_is_complex(dtype) ? size / 2 : size) == 0;
}
/* several elements may be one place; false only if none are (runtime/tensor.c) */
bool td_may_overlap_itself(const td_tensor *t);
#endif
