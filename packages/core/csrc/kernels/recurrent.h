/* recurrent.h - the arithmetic of one step of an LSTM, on rows (TD_PICK).
 *
 * Gates i, f, g, o of a row lie `apart` numbers apart (of a gradient `to_apart`), n of each:  c' = f c + i g,  h' = o tanh(c'). */
#ifndef TD_RECURRENT_KERNELS_H
#define TD_RECURRENT_KERNELS_H
#include <stdint.h>
#include "runtime/cpu.h"

typedef struct td_lstm_kernel {
    /* gates: sums before, values of sigmoid and tanh after; writes the new cell and hidden state */
    void (*forward)(void *gates, int64_t apart, const void *before, void *cell, void *hidden, int64_t n);
    /* grad_cell: that of the new cell's state before, of the old one's after; writes the gradient of the sums */
    void (*backward)(const void *gates, int64_t apart, const void *before, const void *cell, const void *grad_hidden, void *grad_cell,
                     void *grad_gates, int64_t to_apart, int64_t n);
} td_lstm_kernel;

typedef struct td_recurrent_kernels {
    td_lstm_kernel lstm[2]; /* float, double */
} td_recurrent_kernels;

extern const td_recurrent_kernels td_recurrent_kernels_generic;
#ifdef __x86_64__
extern const td_recurrent_kernels td_recurrent_kernels_avx2, td_recurrent_kernels_avx512;
#endif
#endif
