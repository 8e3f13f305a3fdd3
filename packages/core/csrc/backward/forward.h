/* forward.h - tangents: what forward mode hangs on tensors while a dual level is open.
 *
 *   tensor ──dual──▶ Dual ──tangent──▶ tensor of the same shape
 *                     └ prev, next: all duals, so that closing the level takes the tangents off
 *
 * Core keeps the tangents and calls taeda.autograd._forward after each operation on a dual tensor; what a tangent becomes is decided
 * there. One level at a time, for the whole process. */
#ifndef TD_FORWARD_H
#define TD_FORWARD_H
#include "object/py.h"

struct Dual { PyTensor *owner, *tangent; /* borrowed, owned */ struct Dual *prev, *next; };

/* Is a level open, and may operations of this thread see it? (Not those that compute a tangent, nor kernels.) */
static inline int td_forward_on(void)
{
    return td_dual_level && !(td_here.excluded & TD_LAYER_DUAL) && !td_here.inference_mode;
}
static inline PyTensor *td_tangent(const PyTensor *p) { return p->dual ? p->dual->tangent : NULL; }
int td_set_tangent(PyTensor *p, PyTensor *tangent);  /* NULL takes it off; 0 or -1 with MemoryError */
int td_copy_tangent(PyTensor **tangent);              /* in place of the one that is there */
void td_move_duals(PyTensor *a, PyTensor *b);        /* exchange them */

int td_forward_check_out(const td_frame *f);         /* out= takes no part in forward mode: NotImplementedError */
/* Before an operation: *args is NULL if no argument has a tangent, else its arguments as they are now (a tensor that will be written is
 * cloned). After it: the tangents of the results. */
int td_forward_begin(td_frame *f, PyObject **args);
int td_forward_finish(td_frame *f, Node *n, PyObject *args, PyObject *const *outs, int nouts); /* n: the node that was recorded, or NULL */
PyMethodDef *td_forward_functions(void);
#endif
