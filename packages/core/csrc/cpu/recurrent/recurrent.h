/* recurrent.h - the arithmetic of one step of a recurrent cell, on rows (TD_PICK). A new cell is a
 * row of the table.
 * Where their numbers lie: rows.h. */
#ifndef TD_RECURRENT_KERNELS_H
#define TD_RECURRENT_KERNELS_H
#include "cpu/recurrent/rows.h"
#include "runtime/cpu.h"

typedef enum td_cell { TD_CELL_LSTM, TD_CELL_GRU, TD_CELL_TANH, TD_CELL_RELU, TD_CELLS } td_cell;

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
