/* permutation_run.c - numbers from 0 on in a random order. */
#include "cpu/random/sample_run.h"
#include "runtime/alloc.h"
#include "runtime/pool.h"

/* Fisher and Yates: place i gets one of those that are left. words[i] decides and is then
 * overwritten by the result; swapping in 32 bits where they do halves the traffic of a permutation
 * that no cache holds. */
#define SHUFFLE(name, type)                                                                \
    static void name(int64_t n, int64_t *words, type *places)                              \
    {                                                                                      \
        for (int64_t i = 0; i < n; i++) places[i] = (type)i;                               \
        for (int64_t i = 0; i < n; i++) {                                                  \
            uint64_t left = (uint64_t)(n - i);                                             \
            int64_t j = i + (int64_t)((unsigned __int128)(uint64_t)words[i] * left >> 64); \
            type chosen = places[j];                                                       \
            places[j] = places[i];                                                         \
            words[i] = chosen;                                                             \
        }                                                                                  \
    }
SHUFFLE(shuffle_32, uint32_t)
SHUFFLE(shuffle_64, int64_t)

td_status td_permutation_run(td_tensor *out)
{
    int64_t n = out->numel;
    int64_t bytes = n * (n <= UINT32_MAX ? 4 : 8);
    void *places = td_alloc(bytes);
    if (!places)
        return td_fail(TD_MEMORY_ERROR, "randperm: no memory for %lld bytes of work space",
                       (long long)bytes);
    void *token = td_heavy_begin((double)n * 5);
    if (n <= UINT32_MAX) shuffle_32(n, td_data(out), places);
    else shuffle_64(n, td_data(out), places);
    td_heavy_end(token);
    td_free(places, bytes);
    return TD_OK;
}
