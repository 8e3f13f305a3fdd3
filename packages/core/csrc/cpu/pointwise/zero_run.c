/* zero_run.c - the search that goes before a division of integers. */
#include "cpu/pointwise/zero_run.h"
#include "runtime/loops.h"
#include "runtime/scalar.h"

typedef struct zero_search {
    td_dtype dtype;
    int64_t mask; /* the bits that remain in the dtype to compute in: 256 is zero for uint8 */
    bool found;
} zero_search;

static void search_zero(char *const *data, const int64_t *strides, int64_t n, const void *context)
{
    zero_search *s = (zero_search *)context;
    for (int64_t i = 0; i < n && !s->found; i++)
        s->found = (td_scalar_load(s->dtype, data[0] + i * strides[0]).i & s->mask) == 0;
}

td_status td_find_zero(td_tensor *t, int64_t mask, bool *found)
{
    zero_search s = {(td_dtype)t->dtype, mask, false};
    td_nd nd;
    TD_TRY(td_nd_init(&nd, 1, &t));
    td_nd_run_serial(&nd, search_zero, &s);
    *found = s.found;
    return TD_OK;
}
