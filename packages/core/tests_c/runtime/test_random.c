/* test_random.c - Philox4x32-10 by the known answers of its authors; streams that several threads
 * draw from. */
#include "harness.h"
#include "runtime/random.h"

TEST(known_answers)
{
    uint32_t out[4];
    td_philox(0, 0, out);
    EQUAL(out[0], 0x6627e8d5u);
    EQUAL(out[1], 0xe169c58du);
    EQUAL(out[2], 0xbc57ac4cu);
    EQUAL(out[3], 0x9b00dbd8u);
}

TEST(a_block_depends_on_seed_index_and_sub)
{
    uint32_t a[4], b[4];
    td_philox(5, 9, a);
    td_philox_at(5, 9, 0, b);
    CHECK(!memcmp(a, b, sizeof a));
    td_philox_at(5, 9, 1, b);
    CHECK(memcmp(a, b, sizeof a));
    td_philox(5, 10, b);
    CHECK(memcmp(a, b, sizeof a));
    td_philox(6, 9, b);
    CHECK(memcmp(a, b, sizeof a));
}

TEST(blocks_are_reserved_one_after_the_other)
{
    td_generator g = {.seed = 1};
    EQUAL(td_generator_take(&g, 3), 0);
    EQUAL(td_generator_take(&g, 2), 3);
    EQUAL(g.offset, 5);
}
