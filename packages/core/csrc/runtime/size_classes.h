/* size_classes.h - the sizes of blocks that the allocator keeps: steps of 64 bytes to 1 KiB, then
 * four a doubling. */
#ifndef TD_SIZE_CLASSES_H
#define TD_SIZE_CLASSES_H
#include <stdint.h>

enum {
    FINE_CLASSES = 16,                      /* 64 bytes to 1 KiB */
    THREAD_CLASSES = FINE_CLASSES + 4 * 6,  /* to 64 KiB */
    CLASSES = FINE_CLASSES + 4 * (47 - 10), /* to 128 TiB, more than an address space holds */
};

static inline int td_class_of(int64_t bytes)
{
    if (bytes <= 1024) return bytes <= 64 ? 0 : (int)((bytes - 1) >> 6);
    int power = 63 - __builtin_clzll((uint64_t)bytes - 1); /* 2^power < bytes <= 2^(power + 1) */
    return FINE_CLASSES + 4 * (power - 10) + (int)((bytes - 1) >> (power - 2) & 3);
}

static inline int64_t td_class_bytes(int k)
{
    if (k < FINE_CLASSES) return (int64_t)(k + 1) << 6;
    int power = 10 + (k - FINE_CLASSES) / 4, quarter = (k - FINE_CLASSES) % 4;
    return ((int64_t)1 << power) + ((int64_t)(quarter + 1) << (power - 2));
}
#endif
