/* random.h - sampling kernels, one instance per instruction set, all of them equal to the bit.
 *
 * A group is 16 consecutive blocks of a Philox stream: 64 words of 32 bits, or 32 numbers of 64
 * bits. Word w of block b of group g gives element 64 g + 16 w + b, so that 16 lanes work side by
 * side without a shuffle; two words make a 64-bit number likewise. Samples depend on the element's
 * place only: not on threads, and a shorter run is a prefix of a longer. */
#ifndef TD_RANDOM_KERNELS_H
#define TD_RANDOM_KERNELS_H
#include <stddef.h>
#include "runtime/random.h"

enum { TD_GROUP_BLOCKS = 16, TD_GROUP_WORDS = 64, TD_GROUP_NUMBERS = 32 };

typedef struct td_stream {
    uint64_t seed, block; /* block: where the first group begins */
} td_stream;

/* Write elements [first, first + n) of a contiguous result; `first` begins a group, whose blocks
 * begin at stream.block. */
typedef void (*td_sampler)(void *out, int64_t first, int64_t n, td_stream stream,
                           const void *params);

typedef struct td_uniform_params {
    double from, width, last; /* samples are from + width * u, but at most `last` */
    int bits;                 /* bits of u; 24 at most for float32, 52 for float64 */
} td_uniform_params;

typedef struct td_normal_params {
    double mean, std;
} td_normal_params;

typedef struct td_integer_params {
    int64_t from;
    uint64_t range; /* samples are from .. from + range - 1; 0 stands for 2^64 */
} td_integer_params;

typedef struct td_coin_params {
    uint64_t threshold; /* ones where the word is below; 2^32 for all */
    uint64_t one;       /* the bits that mean 1 */
} td_coin_params;

/* a probability per element, contiguous */
typedef struct td_coins_params {
    const void *p;
} td_coins_params;

typedef struct td_dropout_params {
    const void *input;
    uint8_t *mask;      /* 1 where an element is kept */
    uint32_t threshold; /* kept where the word is below */
    double scale;
} td_dropout_params;

enum {
    TD_DROP_F16,
    TD_DROP_BF16,
    TD_DROP_F32,
    TD_DROP_F64,
    TD_DROP_C64,
    TD_DROP_C128,
    TD_DROP_KINDS
};

typedef struct td_random_kernels {
    td_sampler uniform_f32, uniform_f64; /* td_uniform_params */
    td_sampler open_f64;                 /* no params: 0 < u < 1 */
    td_sampler normal_f32, normal_f64;   /* td_normal_params */
    td_sampler exponential_f32;          /* a double: 1 / rate */
    /* int64; td_integer_params with range <= 2^16, one word each */
    td_sampler integers;
    td_sampler wide_integers; /* int64; any range, two words each */
} td_random_kernels;

/* out = in * (mask ? scale : 0), n contiguous elements */
typedef void (*td_mask_scale)(void *out, const void *in, const uint8_t *mask, double scale,
                              int64_t n);

typedef struct td_mask_kernels {
    td_sampler coin[4];                /* td_coin_params; by log2 of the itemsize */
    td_sampler coins_f32, coins_f64;   /* td_coins_params; bool */
    td_sampler dropout[TD_DROP_KINDS]; /* td_dropout_params */
    td_mask_scale scale[TD_DROP_KINDS];
} td_mask_kernels;

extern const td_random_kernels td_random_kernels_generic;
extern const td_mask_kernels td_mask_kernels_generic;
#ifdef __x86_64__
extern const td_random_kernels td_random_kernels_avx2, td_random_kernels_avx512;
extern const td_mask_kernels td_mask_kernels_avx2, td_mask_kernels_avx512;
#endif

#endif
