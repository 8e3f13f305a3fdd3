/* sums.h - what came for one output of a node, added up. */
#ifndef TD_BACKWARD_SUMS_H
#define TD_BACKWARD_SUMS_H
#include "backward/slots.h"

/* Bring a gradient to the shape, dtype and device of the output; one of 16 bits may be float32
 * until its sum is rounded. Takes grad over. */
PyObject *td_sum_fit(const Node *from, int index, const OutMeta *m, PyObject *grad);
/* Add a gradient that fits to what came for output nr. Takes grad over. 0, or -1 */
int td_sum_add(const Run *r, Slot *s, uint32_t nr, PyObject *grad);
/* Round the sums of a node that are still float32, or still pairs. 0, or -1 */
int td_sum_round(const Run *r, Slot *s);
/* Add the pairs without rounding them. 0, or -1 */
int td_sum_close(const Run *r, Slot *s);
/* Only the walk has seen a gradient so far: no write to it counts. */
void td_forget_writes(PyObject *grad);

#endif
