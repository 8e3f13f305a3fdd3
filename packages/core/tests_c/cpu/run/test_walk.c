/* test_walk.c - a loop over any geometry, with any number of threads, against one element after the
 * other. */
#include <stdlib.h>
#include "harness.h"
#include "cpu/run/walk.h"
#include "runtime/pool.h"

enum { PLACES = 1 << 17 };

static void add(char *const *data, const int64_t *strides, int64_t n, const void *context)
{
    for (int64_t i = 0; i < n; i++)
        *(int32_t *)(data[0] + i * strides[0]) = *(const int32_t *)(data[1] + i * strides[1]) +
                                                 *(const int32_t *)(data[2] + i * strides[2]) +
                                                 *(const int *)context;
}

static void plainly(const td_nd *nd, int extra)
{
    for (int64_t i = 0; i < nd->numel; i++) {
        char *at[3] = {nd->data[0], nd->data[1], nd->data[2]};
        int64_t rest = i;
        for (int d = 0; d < nd->ndim; d++) {
            for (int o = 0; o < 3; o++) at[o] += rest % nd->sizes[d] * nd->strides[d][o];
            rest /= nd->sizes[d];
        }
        add(at, (int64_t[3]){4, 4, 4}, 1, &extra);
    }
}

/* A walk over random sizes: the output dense in some order, inputs strided, turned or repeated. */
static void make(td_nd *nd, char *const *data, int64_t scale)
{
    int ndim = 1 + (int)below(4);
    int64_t sizes[4], strides[3][4], step = 4;
    for (int d = 0; d < ndim; d++)
        sizes[d] = 1 + below(ndim == 1 ? 1 + scale * 900 : 3 + 2 * scale);
    for (int d = ndim - 1; d >= 0; step *= sizes[d--]) {
        strides[0][d] = step;
        strides[1][d] = below(3) ? 4 * (1 + below(11)) : 0;
        strides[2][d] = below(2) ? step : -4;
    }
    const int64_t *all[3] = {strides[0], strides[1], strides[2]};
    td_nd_init_raw(nd, 3, data, ndim, sizes, all);
}

TEST(every_geometry_gives_what_a_plain_loop_gives)
{
    int32_t *room[4];
    for (int k = 0; k < 4; k++) room[k] = calloc(PLACES, 4);
    for (int i = 0; i < PLACES; i++) room[1][i] = i, room[2][i] = i * 3;
    char *data[3] = {(char *)room[0], (char *)room[1], (char *)(room[2] + PLACES / 2)},
         *other[3] = {(char *)room[3], data[1], data[2]};
    int was = td_num_threads();
    for (int round = 0; round < 400; round++) {
        td_nd nd;
        int extra = round;
        make(&nd, data, round % 4);
        if (nd.numel > PLACES) continue;
        td_set_num_threads(1 + round % 4);
        if (round % 3) td_nd_run(&nd, add, &extra, round % 5 ? 100.0 : 0.3);
        else td_nd_run_serial(&nd, add, &extra);
        nd.data[0] = other[0];
        plainly(&nd, extra);
        if (memcmp(room[0], room[3], (size_t)nd.numel * 4)) FAIL("round %d differs", round);
    }
    td_set_num_threads(was);
    for (int k = 0; k < 4; k++) free(room[k]);
}

static void count(char *const *data, const int64_t *strides, int64_t n, const void *context)
{
    for (int64_t i = 0; i < n; i++) (*(int64_t *)(data[0] + i * strides[0]))++;
}

TEST(an_output_that_repeats_is_walked_by_one_thread)
{
    int64_t total = 0, sizes[2] = {100, 1000}, none[2] = {0, 0};
    char *data[1] = {(char *)&total};
    const int64_t *strides[1] = {none};
    td_nd nd;
    td_set_num_threads(4);
    td_nd_init_raw(&nd, 1, data, 2, sizes, strides);
    td_nd_run(&nd, count, NULL, 100.0);
    EQUAL(total, 100000);
    td_set_num_threads(1);
}

static int unlocked;
static void *unlock(void)
{
    unlocked++;
    return &unlocked;
}
static void relock(void *token) { unlocked--; }

TEST(the_lock_is_given_back_for_long_walks_only)
{
    int64_t total[3] = {0}, sizes[1] = {3}, steps[1] = {8};
    char *data[1] = {(char *)total};
    const int64_t *strides[1] = {steps};
    td_nd nd;
    td_nd_init_raw(&nd, 1, data, 1, sizes, strides);
    td_unlock_hook = unlock;
    td_relock_hook = relock;
    td_nd_run(&nd, count, NULL, 1.0);
    td_nd_run(&nd, count, NULL, 1e6);
    EQUAL(unlocked, 0);
    EQUAL(total[2], 2);
    td_unlock_hook = NULL;
    td_relock_hook = NULL;
    int64_t empty[1] = {0};
    td_nd_init_raw(&nd, 1, data, 1, empty, strides);
    td_nd_run(&nd, count, NULL, 1.0);
    EQUAL(total[0], 2);
}
