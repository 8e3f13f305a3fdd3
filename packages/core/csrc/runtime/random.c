/* random.c - the Philox4x32-10 block function (Salmon et al., 2011) and the default generator. */
#include "runtime/random.h"

td_generator td_default_generator = {.seed = 67280421310721u};

static inline void philox_round(uint32_t c[4], uint32_t k0, uint32_t k1)
{
    uint64_t p0 = (uint64_t)0xD2511F53u * c[0], p1 = (uint64_t)0xCD9E8D57u * c[2];
    uint32_t c1 = c[1], c3 = c[3];
    c[0] = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c[1] = (uint32_t)p1;
    c[2] = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c[3] = (uint32_t)p0;
}

void td_philox_at(uint64_t seed, uint64_t index, uint32_t sub, uint32_t out[4])
{
    uint32_t c[4] = {(uint32_t)index, (uint32_t)(index >> 32), sub, 0};
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int i = 0; i < 10; i++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) philox_round(c, k0, k1);
    for (int i = 0; i < 4; i++) out[i] = c[i];
}

void td_philox(uint64_t seed, uint64_t index, uint32_t out[4])
{
    td_philox_at(seed, index, 0, out);
}

uint64_t td_generator_take(td_generator *g, uint64_t blocks)
{
    return __atomic_fetch_add(&g->offset, blocks, __ATOMIC_RELAXED);
}
