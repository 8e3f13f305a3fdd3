/* join_run.h - tensors side by side, as bytes. */
#ifndef TD_JOIN_RUN_H
#define TD_JOIN_RUN_H
#include "runtime/tensor.h"

#define TD_JOIN_PARALLEL (1 << 16) /* bytes worth several threads */
#define TD_JOIN_TURN (1 << 13)     /* bytes of the output that the pieces fill in turns */

typedef struct td_pieces {
    td_tensor **tensors;
    /* of the output; of one step along the joined dimension */
    int64_t count, row_bytes, inner_bytes;
    int dim;
    bool stacked; /* every piece is one step of a new dimension */
    char *to;
} td_pieces;

static inline int64_t td_steps_of(const td_pieces *p, const td_tensor *t)
{
    return p->stacked ? 1 : t->sizes[p->dim];
}

/* `rows` places before the joined dimension; everything is row-major and of one dtype */
void td_join_run(td_pieces *p, const td_tensor *out, int64_t rows);

#endif
