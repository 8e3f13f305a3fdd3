/* forward.h - what the layers below the backward walk know of forward mode: that a tensor may carry
 * a tangent, and whom to ask.
 *
 * The functions are those of backward/forward.c, put here when the module starts. Nobody asks
 * unless a level is open (td_dual_level) or a tensor has a tangent, so a program without forward
 * mode pays for one test. */
#ifndef TD_OBJECT_FORWARD_H
#define TD_OBJECT_FORWARD_H
#include "object/py.h"

struct Dual {
    PyTensor *owner, *tangent; /* borrowed, owned */
    struct Dual *prev, *next;
};

/* Is a level open, and may operations of this thread see it? (Not those that compute a tangent, nor
 * kernels.) */
static inline int td_forward_on(void)
{
    return td_dual_level && !(td_here.excluded & TD_LAYER_DUAL) && !td_here.inference_mode;
}
static inline PyTensor *td_tangent(const PyTensor *p) { return p->dual ? p->dual->tangent : NULL; }

/* Of this thread: a transform has left inference mode, so tensors that were made in it are saved as
 * copies. Else saving them is refused: nobody counts what is written into them. */
extern _Thread_local bool td_copies_inference;

typedef struct td_forward_hooks {
    /* NULL takes it off; 0 or -1 with MemoryError */
    int (*set_tangent)(PyTensor *p, PyTensor *tangent);
    int (*copy_tangent)(PyTensor **tangent); /* in place of the one that is there */
    /* out= takes no part in forward mode: NotImplementedError */
    int (*check_out)(const td_frame *f);
    /* Before an operation: *args is NULL if no argument has a tangent, else its arguments as they
     * are now (a tensor that will be written is cloned). After it: the tangents of the results; n:
     * the node that was recorded, or NULL. */
    int (*begin)(td_frame *f, PyObject **args);
    int (*finish)(td_frame *f, Node *n, PyObject *args, PyObject *const *outs, int nouts);
} td_forward_hooks;
extern td_forward_hooks td_forward;

#endif
