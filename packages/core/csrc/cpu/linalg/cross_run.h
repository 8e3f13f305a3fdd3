/* cross_run.h - the cross product of vectors of 3 numbers, by the loops of mul and sub.
 *
 *   out[k] = a[i] b[j] - a[j] b[i]      i, j, k = 1 2 0, 2 0 1, 0 1 2
 *
 * A product is rounded before the difference is taken, so that the cross product of a vector with
 * itself is exactly zero. */
#ifndef TD_CROSS_RUN_H
#define TD_CROSS_RUN_H
#include "runtime/op.h"

/* Operands; `room` holds one coordinate of products. */
enum { TD_CROSS_OUT, TD_CROSS_A, TD_CROSS_B, TD_CROSS_ROOM, TD_CROSS_NOP };

typedef struct td_cross {
    td_nd nd;                    /* of coordinate 0 of all of them */
    int64_t steps[TD_CROSS_NOP]; /* bytes from a coordinate to the next */
    const td_loop_entry *mul, *sub;
    td_dtype dtype;
    td_device device;
} td_cross;

/* What runs one of the nine loops over three operands. */
typedef td_status (*td_cross_walk)(const td_cross *c, const td_nd *nd, const td_loop_entry *entry);

/* All coordinates of the places range[0] to range[1] of the outer dimension. */
td_status td_cross_places(const td_cross *c, const int64_t range[2], td_cross_walk walk);
/* All of it on the host, on several threads where it is worth it. */
void td_cross_run(const td_cross *c);

/* The arguments under which sub takes y once. */
#define TD_CROSS_CONTEXT                                                                         \
    {                                                                                            \
        {TD_ARG_NONE}, {TD_ARG_NONE}, { .kind = TD_ARG_SCALAR, .scalar = {TD_S_INT, 1, 1.0, 0} } \
    }

#endif
