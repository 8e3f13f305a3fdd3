/* copy_rows.c - rows copied as they lie, backwards, or with any step; see copy_rows.h. */
#include "cpu/copy_rows.h"
#include <stdbool.h>
#include <string.h>
#include "runtime/loops.h"

typedef struct bytes16 {
    uint64_t low, high;
} bytes16;

/* ---- dense rows ---- */

#define TD_PAGE 4096

/* n bytes by two words that may overlap */
#define TWO_WORDS(type)                                    \
    do {                                                   \
        type first, last;                                  \
        memcpy(&first, in, sizeof first);                  \
        memcpy(&last, in + n - sizeof last, sizeof last);  \
        memcpy(out, &first, sizeof first);                 \
        memcpy(out + n - sizeof last, &last, sizeof last); \
    } while (0)

/* n <= 32: a call of memcpy takes longer */
static inline void copy_short(char *out, const char *in, int64_t n)
{
    if (n >= 16) TWO_WORDS(bytes16);
    else if (n >= 8) TWO_WORDS(uint64_t);
    else if (n >= 4) TWO_WORDS(uint32_t);
    else if (n >= 2) TWO_WORDS(uint16_t);
    else if (n == 1) *out = *in;
}

/* The string instruction that a library copies long rows by takes ten times as long on some
 * processors where the output lies a few bytes behind the input, but for whole pages: shorter
 * pieces go by vectors. */
static void copy_long(char *out, const char *in, int64_t n)
{
    int64_t behind = (out - in) & (TD_PAGE - 1), piece = behind && behind < 64 ? 1024 : n;
    for (int64_t i = 0; i < n; i += piece)
        memcpy(out + i, in + i, (size_t)(piece < n - i ? piece : n - i));
}

static void copy_dense(char *out, int64_t so, const char *in, int64_t si, int64_t bytes,
                       int64_t rows)
{
    if (bytes <= 32)
        for (int64_t r = 0; r < rows; r++) copy_short(out + r * so, in + r * si, bytes);
    else
        for (int64_t r = 0; r < rows; r++) copy_long(out + r * so, in + r * si, bytes);
}

/* ---- any rows ---- */

#define NARROW                                                                        \
    8 /* columns, below which a line goes down the rows: along them it would be short \
       */

#define COPY_ROWS(symbol, type)                                                                    \
    static inline void symbol##_line(char *out, int64_t so, const char *in, int64_t si, int64_t n) \
    {                                                                                              \
        const int64_t size = sizeof(type);                                                         \
        type *restrict o = (type *)out;                                                            \
        const type *restrict x = (const type *)in;                                                 \
        if (so == size && si == -size)                                                             \
            for (int64_t i = 0; i < n; i++) o[i] = x[-i];                                          \
        else if (so == size && si == 0)                                                            \
            for (int64_t i = 0; i < n; i++) o[i] = *x;                                             \
        else                                                                                       \
            for (int64_t i = 0; i < n; i++)                                                        \
                *(type *)(out + i * so) = *(const type *)(in + i * si);                            \
    }                                                                                              \
    static void symbol(char *out, const int64_t *so, const char *in, const int64_t *si,            \
                       int64_t cols, int64_t rows)                                                 \
    {                                                                                              \
        const int64_t size = sizeof(type);                                                         \
        if (so[0] == size && si[0] == size) {                                                      \
            copy_dense(out, so[1], in, si[1], cols *size, rows);                                   \
            return;                                                                                \
        }                                                                                          \
        bool down = cols < NARROW && rows > cols;                                                  \
        int64_t lines = down ? cols : rows, length = down ? rows : cols;                           \
        for (int64_t i = 0; i < lines; i++)                                                        \
            symbol##_line(out + i * so[!down], so[down], in + i * si[!down], si[down], length);    \
    }
COPY_ROWS(copy_rows_1, uint8_t)
COPY_ROWS(copy_rows_2, uint16_t)
COPY_ROWS(copy_rows_4, uint32_t)
COPY_ROWS(copy_rows_8, uint64_t)
COPY_ROWS(copy_rows_16, bytes16)

const td_copy_rows_kernels TD_SYM(td_copy_rows_kernels) = {copy_rows_1, copy_rows_2, copy_rows_4,
                                                           copy_rows_8, copy_rows_16};
