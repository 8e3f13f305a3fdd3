/* bisect.h - a place in a sorted sequence. */
#ifndef TD_BISECT_H
#define TD_BISECT_H
#include <stdbool.h>
#include <stdint.h>

/* The first place whose element is not less than v (or, on the right, is greater); a NaN looks past
 * the end. */
#define TD_BISECT(name, T)                                                               \
    static inline int64_t name(const T *sequence, const int64_t *sorter, int64_t n, T v, \
                               bool right)                                               \
    {                                                                                    \
        int64_t low = 0, high = n;                                                       \
        while (low < high) {                                                             \
            int64_t middle = low + (high - low) / 2;                                     \
            T at = sequence[sorter ? sorter[middle] : middle];                           \
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
