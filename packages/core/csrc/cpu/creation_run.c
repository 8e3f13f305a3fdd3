/* creation_run.c - a triangle row by row: one part is copied or listed, the other is not. */
#include "cpu/creation_run.h"
#include <string.h>
#include "runtime/pool.h"

/* The column where the lower part of a row ends (the diagonal belongs to it) or the upper one
 * begins. */
static int64_t border(const td_triangle *t, int64_t row)
{
    int64_t at;
    if (td_add_overflows(t->diagonal, t->upper ? row : row + 1, &at))
        at = t->diagonal > 0 ? t->columns : 0;
    return at < 0 ? 0 : at > t->columns ? t->columns : at;
}

static void triangle_rows(void *context, int64_t begin, int64_t end)
{
    const td_triangle *t = context;
    for (int64_t r = begin; r < end; r++) {
        int64_t left = border(t, r % t->rows) * t->itemsize, all = t->columns * t->itemsize;
        char *to = t->to + r * all;
        const char *from = t->from + r * all;
        if (t->upper) {
            memset(to, 0, (size_t)left);
            memcpy(to + left, from + left, (size_t)(all - left));
        } else {
            memcpy(to, from, (size_t)left);
            memset(to + left, 0, (size_t)(all - left));
        }
    }
}

void td_triangle_run(const td_triangle *t, int64_t numel)
{
    int64_t rows = numel / t->columns, grain = 32768 / (t->columns * t->itemsize) + 1;
    void *token = td_heavy_begin((double)numel * 0.3);
    td_parallel(rows, grain, triangle_rows, (void *)t);
    td_heavy_end(token);
}

/* ---- places ---- */

__extension__ typedef __int128 wide; /* rows times columns fit */

static int64_t clamp_row(wide row, int64_t rows)
{
    return row < 0 ? 0 : row > rows ? rows : (int64_t)row;
}

/* The border runs along column 0, then climbs by one a row from `first` to `last`, then stays at
 * the last column. Rows that hold nothing are skipped by these two, and what lies left of the
 * border is counted without a walk: there may be 2^62 rows. */
typedef struct slope {
    int64_t first, last;
    wide left; /* elements left of the border */
} slope;

static slope slope_of(const td_triangle *t)
{
    wide shift = (wide)t->diagonal + (t->upper ? 0 : 1);
    int64_t first = clamp_row(-shift, t->rows), last = clamp_row((wide)t->columns - shift, t->rows);
    wide climb = (wide)(last - first) * ((wide)first + last - 1 + 2 * shift) / 2;
    return (slope){first, last, climb + (wide)(t->rows - last) * t->columns};
}

bool td_triangle_count(const td_triangle *t, int64_t *count)
{
    wide left = slope_of(t).left, n = t->upper ? (wide)t->rows * t->columns - left : left;
    *count = (int64_t)n;
    return n <= INT64_MAX / 2;
}

void td_triangle_list(const td_triangle *t, int64_t count, int64_t *out)
{
    slope s = slope_of(t);
    int64_t k = 0, end = t->upper ? s.last : t->rows;
    for (int64_t r = t->upper ? 0 : s.first; r < end; r++) {
        int64_t edge = border(t, r), from = t->upper ? edge : 0, to = t->upper ? t->columns : edge;
        for (int64_t c = from; c < to; c++, k++) {
            out[k] = r;
            out[count + k] = c;
        }
    }
}
