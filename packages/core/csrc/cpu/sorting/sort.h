/* sort.h - sorting and selecting by keys (TD_PICK).
 *
 * A key is an unsigned integer whose order is that of the elements: signs are moved, all NaN become
 * the largest key, -0 and 0 the same one; for descending order it is inverted. A pack holds the key
 * above the index of the element, so packs differ, and sorting them in any way sorts the elements
 * stably. Elements of up to 4 bytes (fewer than 2^32 of them) use 64-bit packs, the others 128-bit
 * ones: `wide` in the names below. */
#ifndef TD_SORT_KERNELS_H
#define TD_SORT_KERNELS_H
#include "runtime/loops.h"

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 td_wide_pack;
#endif

/* packs[i] = key of element first + i with that index; descending inverts keys */
typedef void (*td_make_packs)(void *packs, const void *x, int64_t first, int64_t n, int descending);
/* values[i], indices[i] (strides in elements) of sorted packs; x: the row they were made from */
typedef void (*td_write_packs)(void *values, int64_t values_step, int64_t *indices,
                               int64_t indices_step, const void *packs, const void *x, int64_t n);
/* The k packs that come first in order, sorted, from a row of n; buffer holds td_top_capacity(k)
 * packs. Returns them there. */
typedef void (*td_top_packs)(void *buffer, const void *x, int64_t n, int64_t k, int descending);

#define TD_RADIX 256
typedef struct td_pack_kernel {
    int64_t size;    /* bytes of a pack */
    int digits;      /* radix digits of a key */
    int first_shift; /* where the key begins, in bits */
    /* sorts few */
    void (*insertion)(void *packs, int64_t n);
    /* counts[digits][TD_RADIX], added to */
    void (*count)(int64_t *counts, const void *packs, int64_t n);
    void (*count_digit)(int64_t *counts, const void *packs, int64_t n,
                        int shift); /* counts[TD_RADIX], added to */
    void (*scatter)(void *out, const void *packs, int64_t n, int shift,
                    int64_t *next); /* next[digit]: where it goes, advanced */
    void (*select)(void *packs, int64_t n,
                   int64_t k); /* packs[k] gets its place; smaller ones come before it */
} td_pack_kernel;

typedef struct td_sort_kernel {
    int wide;
    td_make_packs make;
    td_write_packs write;
    td_top_packs top;
} td_sort_kernel;

typedef struct td_sort_kernels {
    td_pack_kernel pack[2];        /* narrow, wide */
    td_sort_kernel of[TD_F64 + 1]; /* by dtype */
} td_sort_kernels;

static inline int64_t td_top_capacity(int64_t k) { return 2 * k + 192; }

extern const td_sort_kernels td_sort_kernels_generic;
#ifdef __x86_64__
extern const td_sort_kernels td_sort_kernels_avx2;
extern const td_sort_kernels td_sort_kernels_avx512;
#endif

#endif
