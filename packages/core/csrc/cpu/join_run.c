/* join_run.c - in every row one block of every piece. */
#include "cpu/join_run.h"
#include <string.h>
#include "runtime/pool.h"

/* Rows are the places before the joined dimension: in each, one block of every piece. */
static void copy_rows(void *context, int64_t begin, int64_t end)
{
    const td_pieces *p = context;
    char *to = p->to + begin * p->row_bytes;
    for (int64_t row = begin; row < end; row++)
        for (int64_t i = 0; i < p->count; i++) {
            if (p->tensors[i]->numel == 0) continue;
            int64_t bytes = td_steps_of(p, p->tensors[i]) * p->inner_bytes;
            memcpy(to, (const char *)td_data(p->tensors[i]) + row * bytes, (size_t)bytes);
            to += bytes;
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
