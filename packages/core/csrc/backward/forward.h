/* forward.h - tangents: what forward mode hangs on tensors while a dual level is open.
 *
 *   tensor ──dual──▶ Dual ──tangent──▶ tensor of the same shape
 *                     └ prev, next: all duals, so that closing the level takes the tangents off
 *
 * Core keeps the tangents and calls taeda.autograd._forward after each operation on a dual tensor;
 * what a tangent becomes is decided there. One level at a time, for the whole process. */
#ifndef TD_FORWARD_H
#define TD_FORWARD_H
#include "object/forward.h"

void td_move_duals(PyTensor *a, PyTensor *b); /* exchange them */
PyMethodDef *td_forward_functions(void);
#endif
