/* bisect.h - a place in a sorted sequence. */
#ifndef TD_BISECT_H
#define TD_BISECT_H
#include <stdbool.h>
#include <stdint.h>

/* A place that was in range when it was checked. Another thread may have written to it since: it is
 * read once, and what is read is what is used. */
static inline int64_t td_bisect_place(const int64_t *sorter, int64_t n)
{
    int64_t place = *(const volatile int64_t *)sorter;
    return (uint64_t)place < (uint64_t)n ? place : 0;
}

/* The first place whose element is not less than v (or, on the right, is greater); a NaN looks past
 * the end. */
#define TD_BISECT(name, T)                                                               \
    static inline int64_t name(const T *sequence, const int64_t *sorter, int64_t n, T v, \
                               bool right)                                               \
    {                                                                                    \
        int64_t low = 0, high = n;                                                       \
        while (low < high) {                                                             \
            int64_t middle = low + (high - low) / 2;                                     \
            T at = sequence[sorter ? td_bisect_place(sorter + middle, n) : middle];      \
            if (right ? !(at > v) : !(at >= v)) low = middle + 1;                        \
            else high = middle;                                                          \
        }                                                                                \
        return low;                                                                      \
    }
TD_BISECT(td_bisect_i64, int64_t)
TD_BISECT(td_bisect_f32, float)
TD_BISECT(td_bisect_f64, double)
#undef TD_BISECT

#endif
