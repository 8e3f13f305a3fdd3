/* test_pool.c - every index is handed out once, whatever the number of threads; nested use is
 * serial; a child starts fresh. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "harness.h"
#include "runtime/pool.h"

enum { N = 5000 };
typedef struct counts {
    _Atomic int seen[N];
    _Atomic int calls, nested;
} counts;

static void mark(void *context, int64_t begin, int64_t end)
{
    counts *c = context;
    c->calls++;
    for (int64_t i = begin; i < end; i++) c->seen[i]++;
}

static void each_once(int64_t n, int64_t grain)
{
    counts *c = calloc(1, sizeof *c);
    td_parallel(n, grain, mark, c);
    for (int64_t i = 0; i < N; i++) EQUAL(c->seen[i], i < n);
    free(c);
}

TEST(every_index_is_handed_out_once)
{
    int was = td_num_threads();
    for (int threads = 1; threads <= 5; threads++) {
        td_set_num_threads(threads);
        EQUAL(td_num_threads(), threads);
        for (int64_t n = -1; n < N; n = n < 20 ? n + 1 : n * 3 + 1)
            for (int64_t grain = 0; grain < 100; grain = grain * 7 + 1) each_once(n, grain);
    }
    td_set_num_threads(300); /* more than there are workers */
    each_once(N, 1);
    td_set_num_threads(-3);
    EQUAL(td_num_threads(), 1);
    td_set_num_threads(was);
}

static void inside(void *context, int64_t begin, int64_t end)
{
    CHECK(td_in_parallel());
    mark(context, begin, end);
}

static void outer(void *context, int64_t begin, int64_t end)
{
    counts *c = context;
    c->nested++;
    td_parallel(N, 1, inside, c);
}

TEST(nested_use_is_serial)
{
    counts *c = calloc(1, sizeof *c);
    int was = td_num_threads();
    td_set_num_threads(4);
    CHECK(!td_in_parallel());
    td_parallel(8, 1, outer, c);
    CHECK(!td_in_parallel());
    for (int i = 0; i < N; i++) EQUAL(c->seen[i], c->nested);
    EQUAL(c->calls, c->nested); /* one call of the body, from 0 to N */
    td_set_num_threads(was);
    free(c);
}

static void *caller(void *unused)
{
    for (int i = 0; i < 100; i++) each_once(N, 16);
    return NULL;
}

TEST(callers_at_once_do_not_disturb_each_other)
{
    pthread_t threads[3];
    td_set_num_threads(3);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, caller, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}

#ifndef __SANITIZE_THREAD__ /* it does not follow a child of a process with threads */
TEST(a_forked_child_has_a_pool_of_its_own)
{
    if (getenv("HARNESS_EMULATED")) return; /* qemu-user ends a child that starts threads */
    td_set_num_threads(3);
    each_once(N, 1);
    pid_t child = fork();
    if (child == 0) {
        counts *c = calloc(1, sizeof *c);
        td_parallel(N, 1, mark, c);
        int all = 0;
        for (int i = 0; i < N; i++) all += c->seen[i] == 1;
        _exit(all == N ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EQUAL(status, 0);
}
#endif
