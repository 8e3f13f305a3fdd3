/* recurrent_run.h - a layer of a recurrence: all its steps, forward or back, in one call. */
#ifndef TD_RECURRENT_RUN_H
#define TD_RECURRENT_RUN_H
#include "cpu/recurrent/recurrent.h"
#include "cpu/matmul/gemm_run.h"

/* What a layer reads and writes. Everything is dense but the share; times and rows as in the names'
 * shapes. */
typedef struct td_recurrence {
    td_cell cell;
    bool reverse;                  /* starts at the last step */
    int64_t steps, rows, units;    /* T, N, H; G gates */
    const td_tensor *weight;       /* [G * H, H] */
    const char *share;             /* [T, N, G * H]: the inputs' share of the sums */
    int64_t share_step, share_row; /* bytes */
    const char *bias;              /* [H], of a GRU's last gate, or NULL */
    const char *first;             /* [N, H]: the state that `states` continues */
    /* [T, N, H]; the LSTM's c, else the output; kept for the way back */
    char *output, *states, *slots;
    /* the way back */
    const char *grad_output; /* [T, N, H] */
    /* [N, H]: of the first state; what the cell carries, begun by the caller */
    char *grad_hidden, *carry;
    /* [T, N, G * H]: of the products with the state; of the share, NULL: the same */
    char *grad_state, *grad_share;
} td_recurrence;

const td_cell_kernel *td_cell_of(td_cell cell, td_dtype dtype);

/* hidden: [N, H], the first state, dense. */
td_status td_recurrence_forward(const td_recurrence *r, const char *hidden);
td_status td_recurrence_backward(const td_recurrence *r);

/* What a device gets (TD_WORK_RECURRENCE). Its slots lie as [T, N, slots, H]. */
typedef struct td_recurrence_job {
    const td_recurrence *r;
    const char *hidden; /* NULL: the way back */
} td_recurrence_job;
#endif
