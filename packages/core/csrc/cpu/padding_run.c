/* padding_run.c - padding with what is inside: a copy for the middle of each row, element by
 * element for its borders. Threads share the rows. */
#include "cpu/padding_run.h"
#include <string.h>
#include "runtime/pool.h"

#define GRAIN_BYTES 65536

/* the input row that output row `row` reads, counted over all dimensions but the last */
static int64_t source_row(const td_placing *p, int64_t row)
{
    int64_t from = 0, unit = 1;
    for (int d = p->ndim - 2; d >= 0; d--) {
        int64_t at = row % p->out[d];
        row /= p->out[d];
        from += (p->place[d] ? p->place[d][at] : at) * unit;
        unit *= p->in[d];
    }
    return from;
}

#define BORDER(type)                                                                            \
    static void border_##type(char *to, const char *from, const int64_t *place, int64_t begin,  \
                              int64_t end)                                                      \
    {                                                                                           \
        for (int64_t i = begin; i < end; i++) ((type *)to)[i] = ((const type *)from)[place[i]]; \
    }
BORDER(uint8_t)
BORDER(uint16_t)
BORDER(uint32_t)
BORDER(uint64_t)
typedef struct two_words {
    uint64_t word[2];
} two_words;
BORDER(two_words)

typedef void (*border_fn)(char *to, const char *from, const int64_t *place, int64_t begin,
                          int64_t end);

static border_fn border_of(int64_t itemsize)
{
    switch (itemsize) {
        case 1: return border_uint8_t;
        case 2: return border_uint16_t;
        case 4: return border_uint32_t;
        case 8: return border_uint64_t;
        default: return border_two_words;
    }
}

static void run_rows(void *context, int64_t begin, int64_t end)
{
    const td_placing *p = context;
    int last = p->ndim - 1;
    int64_t in = p->in[last] * p->itemsize, out = p->out[last] * p->itemsize;
    const int64_t *place = p->place[last];
    border_fn border = border_of(p->itemsize);
    for (int64_t row = begin; row < end; row++) {
        const char *from = p->from + source_row(p, row) * in;
        char *to = p->to + row * out;
        int64_t first = place ? place[p->begin] : p->begin;
        if (p->end > p->begin)
            memcpy(to + p->begin * p->itemsize, from + first * p->itemsize,
                   (size_t)((p->end - p->begin) * p->itemsize));
        if (!place) continue;
        border(to, from, place, 0, p->begin);
        border(to, from, place, p->end, p->out[last]);
    }
}

void td_placing_run(const td_placing *p)
{
    int64_t rows = 1, bytes = p->out[p->ndim - 1] * p->itemsize;
    for (int d = 0; d < p->ndim - 1; d++) rows *= p->out[d];
    void *token = td_heavy_begin((double)(rows * bytes) * 0.1);
    td_parallel(rows, GRAIN_BYTES / (bytes + 1) + 1, run_rows, (void *)p);
    td_heavy_end(token);
}

static int64_t place_of(int64_t i, int64_t size, td_border border)
{
    if (border == TD_REPLICATE) return i < 0 ? 0 : i >= size ? size - 1 : i;
    i = i < 0 ? -i : i;
    return i < size ? i : 2 * (size - 1) - i;
}

void td_border_places(int64_t *places, int64_t n, int64_t before, int64_t size, td_border border)
{
    for (int64_t i = 0; i < n; i++) places[i] = place_of(i - before, size, border);
}

void td_border_places_of(td_tensor *places, int64_t before, int64_t size, td_border border)
{
    td_border_places(td_data(places), places->numel, before, size, border);
}
