/* backward.h - what the files of the backward walk share, and offer to those above.
 *
 *   engine.c     the walk             run_node.c   one node: its rule, its hooks
 *   rules.c      rules in Python      fast_rules.c rules in C
 *   gradients.c  what a gradient must look like    sums.c   what comes for one output, added up */
#ifndef TD_BACKWARD_H
#define TD_BACKWARD_H
#include "graph/node.h"

/* rules.c */
/* imports taeda.autograd once; -1 with a sentence if it is not installed */
int td_load_rules(void);
/* borrowed None or NULL */
PyObject *td_apply_rule(Node *n, const Rule *rule, PyObject *const *grads, PyObject **results);
PyObject *td_register_rule(PyObject *module, PyObject *args);
PyObject *td_rules_loading(PyObject *module, PyObject *done);

/* fast_rules.c */
/* 1 done, 0 use the Python rule, -1 error */
typedef int (*td_fast_rule)(Node *n, PyObject *const *grads, PyObject **results);
/* [td_schema_count + 1]: the last stands for ops defined at run time, and is NULL */
extern td_fast_rule *td_fast_rules;
void td_load_fast_rules(void);

/* engine.c, functions.c */
PyMethodDef *td_engine_methods(void);
PyMethodDef *td_node_functions(void);
PyObject *td_add(PyObject *a, PyObject *b); /* a + b through the table, any flags */

/* run_node.c: grads in (borrowed, NULL where none), gradients of its edges out (owned) */
/* Which edges of the node that runs lead to an input whose gradient was asked for; NULL: all do. */
extern TD_THREAD_LOCAL const uint8_t *td_wanted_edges;
static inline int td_edge_wanted(const Node *n, int edge)
{
    return n->edges[edge].node && (!td_wanted_edges || td_wanted_edges[edge]);
}
int td_run_node(Node *n, PyObject *const *grads, PyObject **results, int create_graph);
/* new reference: of taeda.autograd._engine, where what is rare is easier to read */
PyObject *td_engine_helper(const char *name);

/* gradients.c */
int td_gradient_fits(const OutMeta *m, PyObject *grad);
/* summed down over broadcast dimensions, cast; takes grad over */
PyObject *td_fit_gradient(const Node *from, int index, const OutMeta *m, PyObject *grad);
PyObject *td_add_into(PyObject *sum, PyObject *grad); /* sum.add_(grad) */

/* turn.c: one thread at a time adds to the gradients of leaves. The interpreter lock is held before
 * and after. */
void td_turn_begin(void);
void td_turn_end(void);

/* task.c: what one walk of the engine is, for the Python that runs inside it */
typedef struct td_task {
    struct td_task *outer;
    uint64_t serial;
    const void *run; /* of the engine */
    PyObject *last;  /* owned list of callables for its end, or NULL */
    int limited;     /* towards given inputs, not to all leaves */
} td_task;
void td_task_enter(td_task *task, const void *run, int limited);
td_task *td_task_here(void); /* the innermost of this thread, or NULL */
/* runs the callables; status, or -1 with an exception */
int td_task_leave(td_task *task, int status);
PyMethodDef *td_task_methods(void);

#endif
