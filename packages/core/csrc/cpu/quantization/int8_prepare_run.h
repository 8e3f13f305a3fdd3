/* int8_prepare_run.h - what linear layers and convolutions make of a matrix before they multiply.
 */
#ifndef TD_INT8_PREPARE_RUN_H
#define TD_INT8_PREPARE_RUN_H
#include "cpu/quantization/int8_layers_run.h"

/* A product for each group, and the memory behind them. */
typedef struct td_int8_prepared {
    td_int8_product first; /* of the first group */
    int64_t columns;       /* from a group's numbers to those of the next: its whole panels */
    int64_t panel_bytes;   /* the same of the panels */
    int64_t zero;          /* of x, as u8 */
    void *memory;
    int64_t bytes;
} td_int8_prepared;

/* narrow: no integer of x, as u8, is above 128 */
td_status td_int8_prepare(td_int8_prepared *p, const td_int8_matrix *w, const td_int8_numbers *x,
                          bool narrow, const td_int8_results *out);
void td_int8_prepare_end(td_int8_prepared *p);
td_int8_product td_int8_of_group(const td_int8_prepared *p, int64_t group);

bool td_int8_narrow(const td_int8_numbers *x, int64_t n);
/* n bytes, with the highest bit turned if they have a sign */
void td_int8_copy(uint8_t *to, const uint8_t *from, int64_t n, bool with_sign);
/* sums of rows less the zero point for each of k numbers */
void td_int8_row_sums(const uint8_t *x, int64_t m, int64_t row, int64_t k, int64_t zero,
                      int32_t *sums);
#endif
