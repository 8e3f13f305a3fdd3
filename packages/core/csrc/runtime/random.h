/* random.h - Philox4x32-10, counter based: the i-th block of a stream depends on (seed, offset + i)
 * only, so values do not depend on layout, on the number of threads, or on who drew before. */
#ifndef TD_RANDOM_H
#define TD_RANDOM_H
#include <stdint.h>

typedef struct td_generator {
    uint64_t seed;
    uint64_t offset; /* blocks of four 32-bit words drawn so far */
} td_generator;

extern td_generator td_default_generator;

/* The 128 random bits of block `index` of the stream of `seed`. */
void td_philox(uint64_t seed, uint64_t index, uint32_t out[4]);
/* More bits of the same block, for samplers that cannot tell how many they need; sub 0 is the
 * above. */
void td_philox_at(uint64_t seed, uint64_t index, uint32_t sub, uint32_t out[4]);
/* Reserve `blocks` blocks: returns the offset they begin at and advances the generator. */
uint64_t td_generator_take(td_generator *g, uint64_t blocks);

#endif
