/* zero_run.c - the search that goes before a division of integers. */
#include "cpu/run/walk.h"
#include "cpu/pointwise/zero_run.h"
#include "runtime/loops.h"

typedef struct zero_search {
    int64_t mask; /* the bits that remain in the dtype to compute in: 256 is zero for uint8 */
    bool found;
} zero_search;

/* By width, for a sign makes nothing zero; to the end, since a zero is rare and a loop without an
 * exit is made of vectors. */
#define SEARCH(U)                                                                          \
    static void search_##U(char *const *data, const int64_t *strides, int64_t n,           \
                           const void *context)                                            \
    {                                                                                      \
        zero_search *s = (zero_search *)context;                                           \
        const char *p = data[0];                                                           \
        U mask = (U)s->mask, zeros = 0;                                                    \
        if (strides[0] == (int64_t)sizeof(U))                                              \
            for (int64_t i = 0; i < n; i++) zeros |= (U)((((const U *)p)[i] & mask) == 0); \
        else                                                                               \
            for (int64_t i = 0; i < n; i++)                                                \
                zeros |= (U)((*(const U *)(p + i * strides[0]) & mask) == 0);              \
        s->found |= zeros != 0;                                                            \
    }
SEARCH(uint8_t)
SEARCH(uint16_t)
SEARCH(uint32_t)
SEARCH(uint64_t)

td_status td_find_zero(td_tensor *t, int64_t mask, bool *found)
{
    static const td_loop of[] = {search_uint8_t, search_uint16_t, search_uint32_t, search_uint64_t};
    zero_search s = {mask, false};
    td_nd nd;
    TD_TRY(td_nd_init(&nd, 1, &t));
    td_nd_run_serial(&nd, of[__builtin_ctzll((uint64_t)td_itemsize((td_dtype)t->dtype))], &s);
    *found = s.found;
    return TD_OK;
}
