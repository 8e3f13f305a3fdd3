/* test_alloc.c - size classes, figures, reuse, limits, threads, forks, and memory that runs out at
 * every place. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "harness.h"
#include "runtime/alloc.h"
#include "runtime/canary.h"

#define KiB ((int64_t)1024)
#define MiB (1024 * KiB)

#ifdef __SANITIZE_ADDRESS__
enum { KEEPS = 0 }; /* the address sanitizer sees every block: nothing is kept */
#else
enum { KEEPS = 1 };
#endif

static const int64_t SIZES[] = {0,           1,      63,   64,           65,          1000,
                                1024,        1025,   5000, 60 * KiB,     64 * KiB,    64 * KiB + 1,
                                80 * KiB,    100000, MiB,  3 * MiB + 17, 4 * MiB - 1, 4 * MiB,
                                5 * MiB + 3, 9 * MiB};
enum { COUNT = sizeof SIZES / sizeof *SIZES };

static td_alloc_stats stats(void)
{
    td_alloc_stats s;
    td_alloc_get_stats(&s);
    return s;
}

TEST(blocks_are_aligned_apart_and_counted)
{
    char *blocks[COUNT];
    int64_t before = stats().allocated, sum = 0, calls = stats().calls;
    for (int i = 0; i < COUNT; i++) {
        blocks[i] = td_alloc(SIZES[i]);
        CHECK(blocks[i] && (uintptr_t)blocks[i] % 64 == 0);
        if (!blocks[i]) return;
        memset(blocks[i], i + 1, (size_t)SIZES[i]);
        sum += SIZES[i];
    }
    EQUAL(stats().allocated, before + sum);
    EQUAL(stats().calls, calls + COUNT);
    CHECK(stats().peak >= before + sum);
    for (int i = 0; i < COUNT; i++)
        for (int64_t k = 0; k < SIZES[i]; k += 61) CHECK(blocks[i][k] == i + 1);
    for (int i = 0; i < COUNT; i++) td_free(blocks[i], SIZES[i]);
    EQUAL(stats().allocated, before);
    td_alloc_reset_peak();
    EQUAL(stats().peak, before);
}

TEST(a_freed_block_is_used_again)
{
    for (int i = 0; i < COUNT; i++) {
        void *first = td_alloc(SIZES[i]);
        td_free(first, SIZES[i]);
        int64_t mapped = stats().mapped;
        void *second = td_alloc(SIZES[i]);
        if (KEEPS) {
            CHECK(second == first);
            EQUAL(stats().mapped, mapped);
        }
        td_free(second, SIZES[i]);
    }
}

TEST(large_blocks_begin_at_huge_pages)
{
    char *b = td_alloc(5 * MiB);
    if (KEEPS) EQUAL((uintptr_t)b % (2 * MiB), 0);
    td_free(b, 5 * MiB);
}

TEST(nothing_is_given_for_sizes_that_cannot_be)
{
    CHECK(!td_alloc(-1));
    CHECK(!td_alloc(INT64_MAX));
    CHECK(!td_alloc((int64_t)1 << 46)); /* within the classes, beyond the machine */
    td_free(NULL, 7);
    td_free_struct(NULL, 7);
}

TEST(the_nth_call_fails)
{
    td_alloc_fail_at(2);
    void *a = td_alloc(10), *b = td_alloc(10), *c = td_alloc(10);
    CHECK(a && !b && c);
    td_alloc_fail_at(1);
    CHECK(!td_alloc_struct(10));
    td_alloc_fail_at(-5);
    void *d = td_alloc_struct(10);
    CHECK(d);
    td_free(a, 10);
    td_free(c, 10);
    td_free_struct(d, 10);
}

TEST(structs_are_not_counted)
{
    td_alloc_stats before = stats();
    void *s = td_alloc_struct(100);
    EQUAL(stats().allocated, before.allocated);
    EQUAL(stats().calls, before.calls);
    td_free_struct(s, 100);
}

TEST(the_limit_bounds_what_is_kept)
{
    int64_t limit = stats().limit;
    td_alloc_set_limit(64 * MiB);
    for (int i = 0; i < 3; i++) { /* a block that would go over the limit empties the lists first */
        void *a = td_alloc(40 * MiB), *b = td_alloc(30 * MiB);
        td_free(a, 40 * MiB);
        td_free(b, 30 * MiB);
        CHECK(stats().cached <= 64 * MiB);
    }
    void *c = td_alloc(80 * MiB); /* alone larger than the limit: not kept */
    td_free(c, 80 * MiB);
    CHECK(stats().cached <= 64 * MiB);
    c = td_alloc(20 * MiB);
    td_free(c, 20 * MiB);
    td_alloc_set_limit(1 * MiB);
    CHECK(stats().cached <= 1 * MiB);
    td_alloc_set_limit(0);
    c = td_alloc(9 * MiB);
    td_free(c, 9 * MiB);
    td_alloc_trim();
    EQUAL(stats().cached, 0);
    td_alloc_set_limit(limit);
}

TEST(trimming_gives_all_back)
{
    for (int i = 0; i < COUNT; i++) td_free(td_alloc(SIZES[i]), SIZES[i]);
    td_alloc_trim();
    EQUAL(stats().cached, 0);
    void *b = td_alloc(100000); /* addresses of a region come again without their pages */
    CHECK(b);
    td_free(b, 100000);
}

/* ---- many blocks at once: lists overflow, fill, and go between threads ---- */
enum { MANY = 3000 };

static void take_and_give(int64_t bytes)
{
    static __thread void *blocks[MANY];
    for (int i = 0; i < MANY; i++) blocks[i] = td_alloc(bytes);
    for (int i = 0; i < MANY; i++) td_free(blocks[i], bytes);
}

TEST(more_blocks_than_a_thread_keeps_go_to_the_shared_lists_and_back)
{
    for (int round = 0; round < 2; round++) {
        take_and_give(64);
        take_and_give(60 * KiB);
    }
    td_alloc_trim();
    EQUAL(stats().cached, 0);
}

static void *thread_body(void *seed)
{
    void *blocks[32] = {NULL};
    int64_t sizes[32] = {0};
    uint64_t x = (uint64_t)(uintptr_t)seed * 2654435761u + 1;
    for (int i = 0; i < 3000; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        int at = (int)(x >> 40) % 32;
        td_free(blocks[at], sizes[at]);
        sizes[at] = (int64_t)(x >> 45) % 3000 + 1;
        blocks[at] = td_alloc(sizes[at]);
        if (blocks[at]) memset(blocks[at], at, (size_t)sizes[at]);
    }
    for (int i = 0; i < 32; i++) td_free(blocks[i], sizes[i]);
    return NULL;
}

TEST(threads_take_and_give_at_once_and_hand_over_when_they_end)
{
    int64_t before = stats().allocated;
    pthread_t threads[4];
    for (intptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, thread_body, (void *)(i + 1));
    for (int i = 0; i < 50; i++) stats();
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    EQUAL(stats().allocated, before);
}

static void *short_life(void *unused)
{
    td_free(td_alloc(100), 100);
    return NULL;
}

TEST(caches_of_threads_leave_the_list_in_any_order)
{
    pthread_t a, b;
    for (int i = 0; i < 3; i++) {
        pthread_create(&a, NULL, short_life, NULL);
        pthread_create(&b, NULL, short_life, NULL);
        pthread_join(i % 2 ? a : b, NULL);
        pthread_join(i % 2 ? b : a, NULL);
    }
    CHECK(stats().allocated >= 0);
}

#ifndef __SANITIZE_THREAD__ /* it does not follow a child of a process with threads */
TEST(a_forked_child_allocates)
{
    void *kept = td_alloc(1000);
    pid_t child = fork();
    if (child == 0) {
        thread_body((void *)7);
        td_free(kept, 1000);
        _exit(td_alloc(5 * MiB) ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EQUAL(status, 0);
    td_free(kept, 1000);
}
#endif

/* ---- the system refuses ---- */
static void *without_a_cache(void *unused)
{
    fail_call(CALL_CALLOC, -1); /* no memory even for the lists of this thread */
    for (int i = 0; i < COUNT; i++) {
        void *b = td_alloc(SIZES[i]);
        CHECK(b);
        td_free(b, SIZES[i]);
    }
    td_alloc_trim();
    fail_call(CALL_CALLOC, 0);
    return NULL;
}

TEST(a_thread_without_lists_of_its_own_still_allocates)
{
    int64_t before = stats().allocated;
    pthread_t t;
    pthread_create(&t, NULL, without_a_cache, NULL);
    pthread_join(t, NULL);
    EQUAL(stats().allocated, before);
}

TEST(memory_that_is_out_gives_null_and_memory_that_comes_back_is_used)
{
    td_alloc_trim();
    fail_call(CALL_ALIGNED_ALLOC, -1);
    CHECK(!td_alloc(100));
    if (!KEEPS) CHECK(!td_alloc(5 * MiB));
    fail_call(CALL_ALIGNED_ALLOC, 1); /* trimming helped */
    void *b = td_alloc(100);
    CHECK(b);
    td_free(b, 100);
    fail_call(CALL_MMAP, -1);
    if (KEEPS) CHECK(!td_alloc(5 * MiB));
    void *blocks[40];
    /* a region holds ten: then it has none left, and the system gives no other */
    int64_t each = 3 * MiB;
    for (int i = 0; i < 40; i++) blocks[i] = td_alloc(each);
    if (KEEPS) CHECK(!blocks[39]);
    fail_call(CALL_MMAP, 0);
    for (int i = 0; i < 40; i++) td_free(blocks[i], each);
    void *again = td_alloc(each);
    CHECK(again);
    td_free(again, each);
}

TEST(a_region_block_whose_note_finds_no_memory_goes_back_to_the_system)
{
    void *b = td_alloc(100000), *c = td_alloc(100000);
    td_free(b, 100000);
    td_free(c, 100000);
    fail_call(CALL_MALLOC, 1);
    td_alloc_trim();
    fail_call(CALL_MALLOC, 0);
    b = td_alloc(100000);
    CHECK(b);
    td_free(b, 100000);
}

TEST(addresses_of_a_region_come_again)
{
    td_alloc_trim();
    void *b = td_alloc(200 * KiB);
    td_free(b, 200 * KiB);
    td_alloc_trim();
    void *again = td_alloc(200 * KiB);
    if (KEEPS) CHECK(again == b);
    td_free(again, 200 * KiB);
}
