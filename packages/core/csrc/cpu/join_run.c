/* join_run.c - in every row one block of every piece. */
#include "cpu/join_run.h"
#include <string.h>
#include "runtime/pool.h"

/* One block of a piece in every row: `from` lies close, `to` has the other pieces between. The
 * compiler makes moves of copies whose size it knows; a call of memcpy costs more than a few
 * elements. */
#define COPY(size)                                                                         \
    case size:                                                                             \
        for (int64_t i = 0; i < rows; i++) memcpy(to + i * stride, from + i * size, size); \
        return;
static void copy_blocks(char *to, int64_t stride, const char *from, int64_t bytes, int64_t rows)
{
    switch (bytes) {
        COPY(1)
        COPY(2)
        COPY(4)
        COPY(8)
        COPY(12)
        COPY(16)
        COPY(24)
        COPY(32)
        default:
            for (int64_t i = 0; i < rows; i++)
                memcpy(to + i * stride, from + i * bytes, (size_t)bytes);
    }
}

/* Rows are the places before the joined dimension. The pieces take turns often enough that what one
 * leaves free is still in the cache when the next fills it. */
static void copy_rows(void *context, int64_t begin, int64_t end)
{
    const td_pieces *p = context;
    int64_t turn = 1 + TD_JOIN_TURN / (p->row_bytes + 1);
    for (int64_t row = begin; row < end; row += turn) {
        int64_t rows = end - row < turn ? end - row : turn;
        char *to = p->to + row * p->row_bytes;
        for (int64_t i = 0; i < p->count; i++) {
            const td_tensor *piece = p->tensors[i];
            if (piece->numel == 0) continue;
            int64_t bytes = td_steps_of(p, piece) * p->inner_bytes;
            const char *from = td_data(piece);
            copy_blocks(to, p->row_bytes, from + row * bytes, bytes, rows);
            to += bytes;
        }
    }
}

void td_join_run(td_pieces *p, const td_tensor *out, int64_t rows)
{
    int64_t bytes = out->numel * td_itemsize((td_dtype)out->dtype);
    p->to = td_data(out);
    p->row_bytes = bytes / rows;
    void *token = td_heavy_begin((double)bytes * 0.1);
    td_parallel(rows, bytes < TD_JOIN_PARALLEL ? rows : 1 + TD_JOIN_PARALLEL / 4 / p->row_bytes,
                copy_rows, p);
    td_heavy_end(token);
}
