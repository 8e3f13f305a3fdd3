/* matmul.h - the one routine behind every product of tensors. */
#ifndef TD_MATMUL_H
#define TD_MATMUL_H
#include "runtime/op.h"

/* out = alpha * a b + beta * self, or a b + bias, by the rank rules of matmul: vectors are a row on
 * the left and a column on the right, dimensions before the last two are a batch and broadcast. */
typedef struct td_matmul {
    const char *op; /* for messages */
    td_tensor *a, *b;
    td_tensor *self; /* NULL: none; broadcast to the result */
    td_tensor *bias; /* NULL: none; one number per column */
    td_scalar alpha, beta;
    bool turn_b; /* b's last two dimensions change places: linear */
} td_matmul;

td_status td_matmul_run(const td_matmul *m, td_tensor **out);
/* Of 16 bits and few rows: the large factor becomes float32 piece by piece, or as it is read.
 * `sizes`: the result's. */
bool td_matmul_wants_pieces(const td_matmul *m);
td_status td_matmul_pieces(const td_matmul *m, int ndim, const int64_t *sizes, td_tensor **out);
#endif
