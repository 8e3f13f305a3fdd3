/* test_checksum.c - both sums against one bit after the other, for every length about the edges and
 * any alignment. */
#include "harness.h"
#include "runtime/checksum.h"

static uint32_t bit_by_bit(uint32_t polynomial, uint32_t before, const unsigned char *p, size_t n)
{
    uint32_t c = ~before;
    for (size_t i = 0; i < n; i++) {
        c ^= p[i];
        for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ polynomial : c >> 1;
    }
    return ~c;
}

static unsigned char bytes[1200];

static void fill(void)
{
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)harness_random();
}

TEST(sums_are_those_of_the_plain_loop)
{
    fill();
    for (size_t n = 0; n < 1100; n += n < 300 ? 1 : 37)
        for (size_t from = 0; from < 17; from += 3) {
            EQUAL(td_crc32(0, bytes + from, n), bit_by_bit(0xEDB88320u, 0, bytes + from, n));
            EQUAL(td_crc32c(7, bytes + from, n), bit_by_bit(0x82F63B78u, 7, bytes + from, n));
        }
}

TEST(known_answers)
{
    EQUAL(td_crc32(0, "123456789", 9), 0xCBF43926u);
    EQUAL(td_crc32c(0, "123456789", 9), 0xE3069283u);
}

TEST(parts_in_turn_give_the_sum_of_the_whole)
{
    fill();
    for (size_t cut = 0; cut <= 1000; cut += 91) {
        uint32_t first = td_crc32c(0, bytes, cut);
        EQUAL(td_crc32c(first, bytes + cut, 1000 - cut), td_crc32c(0, bytes, 1000));
    }
}
