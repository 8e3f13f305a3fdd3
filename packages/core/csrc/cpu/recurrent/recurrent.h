/* recurrent.h - the arithmetic of one step of a recurrent cell, on rows (TD_PICK). A new cell is a
 * row of the table.
 *
 * Sums of a row lie in slots, `apart` numbers apart and n of each; `forward` leaves there what
 * `backward` needs:
 *   LSTM  i, f, g, o         c' = f c + i g,  h' = o tanh(c')
 *   GRU   r, z, n, W_n h     n = tanh(sum_n + r (W_n h)),  h' = n + z (h - n)
 *   RNN   h'                 h' = tanh(sum) or relu(sum): the slot is the output itself
 * A cell carries something from step to step beside the product with the weights: the gradient of
 * an LSTM's c, and of a GRU's h what went past the gates. */
#ifndef TD_RECURRENT_KERNELS_H
#define TD_RECURRENT_KERNELS_H
#include <stdint.h>
#include "runtime/cpu.h"

typedef enum td_cell { TD_CELL_LSTM, TD_CELL_GRU, TD_CELL_TANH, TD_CELL_RELU, TD_CELLS } td_cell;

typedef struct td_cell_rows {
    void *slots; /* forward: sums before, values after */
    int64_t apart;
    const void *before;  /* the state before: an LSTM's c, a GRU's h */
    void *cell, *hidden; /* new states; c only of an LSTM */
    const void *grad;    /* the gradient of the new h */
    void *carry;         /* gradient carried on to the step before */
    void *to_state;      /* gradients of the products with the state, `to_apart` numbers apart */
    void *to_share;      /* and of the inputs' shares, where they differ (GRU), or NULL */
    int64_t to_apart;
} td_cell_rows;

typedef void (*td_cell_fn)(const td_cell_rows *rows, int64_t n);

typedef struct td_cell_kernel {
    int gates, slots; /* parts of the weight; slots, 0 if they are in the output */
    /* the slot that the last gate's product goes to; the others' are their own */
    int last;
    td_cell_fn forward, backward;
} td_cell_kernel;

typedef struct td_recurrent_kernels {
    td_cell_kernel cells[TD_CELLS][2]; /* float, double */
} td_recurrent_kernels;

extern const td_recurrent_kernels td_recurrent_kernels_generic;
#ifdef __x86_64__
extern const td_recurrent_kernels td_recurrent_kernels_avx2, td_recurrent_kernels_avx512;
#endif
#endif
