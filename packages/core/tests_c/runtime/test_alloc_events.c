/* test_alloc_events.c - blocks are noted in order, and what finds no room is counted. */
#include "harness.h"
#include "runtime/alloc.h"
#include "runtime/alloc_events.h"

TEST(blocks_are_noted_while_somebody_asks)
{
    td_alloc_event e[8];
    int64_t lost;
    void *before = td_alloc(100);
    EQUAL(td_alloc_fetch(e, 8, &lost), 0);
    td_alloc_note_on(true);
    void *b = td_alloc(1000);
    td_free(b, 1000);
    td_free(before, 100);
    EQUAL(td_alloc_fetch(e, 2, &lost), 2);
    CHECK(e[0].block == (int64_t)(intptr_t)b && e[0].bytes == 1000);
    CHECK(e[1].block == e[0].block && e[1].bytes == -1000 && e[1].when >= e[0].when);
    EQUAL(td_alloc_fetch(e, 8, &lost), 1);
    EQUAL(e[0].bytes, -100);
    EQUAL(lost, 0);
    td_alloc_note_on(false);
    td_free(td_alloc(50), 50);
    EQUAL(td_alloc_fetch(e, 8, &lost), 0);
}

TEST(a_full_ring_keeps_the_oldest_and_counts_the_rest)
{
    td_alloc_event e[512];
    int64_t lost, n = 0, got, seen = 0;
    td_alloc_note_on(true);
    for (int i = 0; i < 20000; i++) td_free(td_alloc(64), 64);
    while ((got = td_alloc_fetch(e, 512, &lost))) {
        n += got;
        seen += lost;
    }
    td_alloc_note_on(false);
    EQUAL(n + seen, 40000);
    CHECK(seen > 0);
}
