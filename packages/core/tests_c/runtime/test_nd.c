/* test_nd.c - the geometry of operands: whatever is dropped, ordered or merged, the same elements
 * meet. */
#include <stdlib.h>
#include "harness.h"
#include "runtime/loops.h"

enum { MOST = 4000 };

/* All element addresses a walk meets, as bytes from the start of each operand, in any order. */
static int64_t met(const td_nd *nd, int64_t (*pairs)[2], char *const *base)
{
    int64_t n = 0;
    for (int64_t i = 0; i < nd->numel; i++) {
        int64_t rest = i, at[2] = {nd->data[0] - base[0], nd->data[1] - base[1]};
        for (int d = 0; d < nd->ndim; d++) {
            int64_t k = rest % nd->sizes[d];
            rest /= nd->sizes[d];
            for (int o = 0; o < 2; o++) at[o] += k * nd->strides[d][o];
        }
        pairs[n][0] = at[0];
        pairs[n++][1] = at[1];
    }
    return n;
}

static int by_first(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

TEST(whatever_the_geometry_the_same_elements_meet)
{
    static int64_t got[MOST][2], wanted[MOST][2];
    char *base[2] = {(char *)1 + (1 << 20), (char *)1 + (1 << 24)};
    for (int round = 0; round < 3000; round++) {
        int ndim = (int)below(5);
        int64_t sizes[5], strides[2][5], numel = 1;
        for (int d = 0; d < ndim; d++) {
            sizes[d] = below(10) ? 1 + below(6) : 0;
            numel *= sizes[d];
            for (int o = 0; o < 2; o++)
                strides[o][d] = below(3) ? 4 * (1 + below(40)) : below(2) ? 0 : -4 * (1 + below(9));
        }
        if (round % 2) { /* row-major: what merges */
            int64_t step = 4;
            for (int d = ndim - 1; d >= 0; step *= sizes[d] ? sizes[d] : 1, d--)
                strides[0][d] = strides[1][d] = step;
        }
        if (numel > MOST) continue;
        td_nd nd;
        const int64_t *all[2] = {strides[0], strides[1]};
        td_nd_init_raw(&nd, 2, base, ndim, sizes, all);
        EQUAL(nd.numel, numel);
        CHECK(nd.ndim >= 1);
        if (round % 2 && numel > 1) EQUAL(nd.ndim, 1);
        int64_t n = met(&nd, got, base);
        for (int64_t i = 0; i < numel; i++) {
            int64_t rest = i;
            wanted[i][0] = wanted[i][1] = 0;
            for (int d = ndim - 1; d >= 0; d--) {
                for (int o = 0; o < 2; o++) wanted[i][o] += rest % sizes[d] * strides[o][d];
                rest /= sizes[d];
            }
        }
        qsort(got, (size_t)n, sizeof *got, by_first);
        qsort(wanted, (size_t)numel, sizeof *wanted, by_first);
        CHECK(n == numel && !memcmp(got, wanted, (size_t)n * sizeof *got));
    }
}

TEST(tensors_broadcast_to_the_first)
{
    td_tensor *full, *row, *wrong;
    td_nd nd;
    NEED(td_tensor_empty(&full, TD_F32, TD_CPU, 2, (int64_t[]){3, 4}));
    NEED(td_tensor_empty(&row, TD_F64, TD_CPU, 2, (int64_t[]){1, 4}));
    NEED(td_tensor_empty(&wrong, TD_F32, TD_CPU, 1, (int64_t[]){3}));
    NEED(td_nd_init(&nd, 2, (td_tensor *[]){full, row}));
    CHECK(nd.ndim == 2 && nd.sizes[0] == 4 && nd.strides[0][0] == 4 && nd.strides[0][1] == 8 &&
          nd.strides[1][1] == 0);
    REFUSED(td_nd_init(&nd, 2, (td_tensor *[]){full, wrong}), TD_RUNTIME_ERROR,
            "shape [3] cannot be broadcast to shape [3, 4]");
    REFUSED(td_nd_init(&nd, 2, (td_tensor *[]){wrong, full}), TD_RUNTIME_ERROR,
            "cannot be broadcast");
    td_tensor_free(full);
    td_tensor_free(row);
    td_tensor_free(wrong);
}
