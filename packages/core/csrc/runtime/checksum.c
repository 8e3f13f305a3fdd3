/* checksum.c - CRC-32 and CRC-32C: by carry-less multiplication where the processor has it, else by
 * tables.
 *
 * A CRC is the remainder of the data, read as a polynomial, divided by another. Folding replaces 16
 * bytes by a product with x^k mod P that lies k bits further on and has the same remainder; four
 * such streams keep the multiplier busy. What is left in the end is 16 bytes, whose remainder the
 * tables give. */
#include "runtime/checksum.h"
#include <pthread.h>
#include <string.h>

typedef struct Crc {
    uint32_t polynomial;      /* reflected */
    uint64_t far[2], near[2]; /* x^(512+32), x^(512-32); x^(128+32), x^(128-32); mod P, reflected */
    uint32_t tables[8][256];  /* [k][b]: the remainder of byte b with k zero bytes after it */
} Crc;

static Crc zip = {0xedb88320u, {0x154442bd4, 0x1c6e41596}, {0x1751997d0, 0x0ccaa009e}, {{0}}};
static Crc castagnoli = {0x82f63b78u, {0x740eef02, 0x9e4addf8}, {0xf20c0dfe, 0x14cd00bd6}, {{0}}};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_tables(Crc *crc)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t c = b;
        for (int bit = 0; bit < 8; bit++) c = c & 1 ? c >> 1 ^ crc->polynomial : c >> 1;
        crc->tables[0][b] = c;
    }
    for (int k = 1; k < 8; k++)
        for (int b = 0; b < 256; b++)
            crc->tables[k][b] =
                crc->tables[k - 1][b] >> 8 ^ crc->tables[0][crc->tables[k - 1][b] & 255];
}
static void fill_all(void)
{
    fill_tables(&zip);
    fill_tables(&castagnoli);
}

/* `c` and the result: the register, that is the checksum without its final inversion */
static uint32_t by_tables(const Crc *crc, uint32_t c, const unsigned char *p, size_t n)
{
    for (; n >= 8; p += 8, n -= 8) {
        uint32_t next = 0;
        for (int i = 0; i < 8; i++)
            next ^= crc->tables[7 - i][p[i] ^ (i < 4 ? c >> 8 * i & 255 : 0)];
        c = next;
    }
    for (; n; p++, n--) c = c >> 8 ^ crc->tables[0][(c ^ *p) & 255];
    return c;
}

#ifdef __x86_64__
#include <immintrin.h>
#define TD_CLMUL __attribute__((target("pclmul")))

TD_CLMUL static inline __m128i fold(__m128i x, __m128i by, __m128i next)
{
    return _mm_xor_si128(
        next, _mm_xor_si128(_mm_clmulepi64_si128(x, by, 0x00), _mm_clmulepi64_si128(x, by, 0x11)));
}

/* n is at least 64 */
TD_CLMUL static uint32_t by_folding(const Crc *crc, uint32_t c, const unsigned char *p, size_t n)
{
    const __m128i far = _mm_loadu_si128((const __m128i *)crc->far),
                  near = _mm_loadu_si128((const __m128i *)crc->near);
    __m128i x[4];
    for (int i = 0; i < 4; i++) x[i] = _mm_loadu_si128((const __m128i *)p + i);
    x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128((int)c));
    for (p += 64, n -= 64; n >= 64; p += 64, n -= 64)
        for (int i = 0; i < 4; i++) x[i] = fold(x[i], far, _mm_loadu_si128((const __m128i *)p + i));
    __m128i y = x[0];
    for (int i = 1; i < 4; i++) y = fold(y, near, x[i]);
    for (; n >= 16; p += 16, n -= 16) y = fold(y, near, _mm_loadu_si128((const __m128i *)p));
    unsigned char rest[16];
    memcpy(rest, &y, sizeof rest);
    return by_tables(crc, by_tables(crc, 0, rest, sizeof rest), p, n);
}
static int can_fold(void) { return __builtin_cpu_supports("pclmul"); }
#else
static uint32_t by_folding(const Crc *crc, uint32_t c, const unsigned char *p, size_t n)
{
    return by_tables(crc, c, p, n);
}
static int can_fold(void) { return 0; }
#endif

static uint32_t checksum(const Crc *crc, uint32_t before, const void *data, size_t n)
{
    pthread_once(&once, fill_all);
    return ~(n >= 64 && can_fold() ? by_folding(crc, ~before, data, n)
                                   : by_tables(crc, ~before, data, n));
}

uint32_t td_crc32(uint32_t before, const void *data, size_t n)
{
    return checksum(&zip, before, data, n);
}
uint32_t td_crc32c(uint32_t before, const void *data, size_t n)
{
    return checksum(&castagnoli, before, data, n);
}
