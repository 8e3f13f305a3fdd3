/* rows.h - where the numbers of one step of a recurrent cell lie: the same for the processor's
 * loops and for a device, where a thread computes one unit.
 *
 * Sums of a row lie in slots, `apart` numbers apart; `forward` leaves there what `backward` needs:
 *   LSTM  i, f, g, o         c' = f c + i g,  h' = o tanh(c')
 *   GRU   r, z, n, W_n h     n = tanh(sum_n + r (W_n h)),  h' = n + z (h - n)
 *   RNN   h'                 h' = tanh(sum) or relu(sum): the slot is the output itself
 * A cell carries something from step to step beside the product with the weights: the gradient of
 * an LSTM's c, and of a GRU's h what went past the gates. */
#ifndef TD_RECURRENT_ROWS_H
#define TD_RECURRENT_ROWS_H
#include <stdint.h>

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
#endif
