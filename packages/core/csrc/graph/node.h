/* node.h - the graph that backward walks.
 *
 *   result.node ──▶ Node(mul) ──edge 0──▶ Node(exp) ──▶ …
 *                      │       └─edge 1──▶ Node(accumulate) ──variable──▶ leaf tensor
 *                      └ saved: handles on storages, with the version they had
 *
 * Edges point to nodes numbered lower, so `seq` falls along every path and the engine needs no
 * dependency count: a node takes its number (td_node_number) when it has its edges, whoever made
 * nodes in the meantime. A saved result refers to its own node only by being saved there: no
 * reference cycle. */
#ifndef TD_NODE_H
#define TD_NODE_H
#include "object/py.h"

typedef enum td_node_kind {
    TD_NODE_OP,         /* an operation of the table, with a rule */
    TD_NODE_ACCUMULATE, /* adds into the .grad of a leaf */
    TD_NODE_PYTHON,     /* a custom Function: `py` is its context, called with the gradients */
    TD_NODE_SLICES,     /* an in-place write through a view, seen from the base */
    TD_NODE_ERROR,      /* differentiating here is refused; `py` is the sentence */
} td_node_kind;

typedef struct Edge {
    Node *node;
    uint32_t nr;
} Edge; /* owned; node NULL: no gradient wanted */

typedef struct OutMeta { /* what a gradient that arrives must look like */
    int64_t *sizes;
    int32_t ndim;
    uint8_t dtype, device;
    int64_t inline_sizes[TD_INLINE_DIMS];
} OutMeta;

/* Saved.key: index of an argument, or TD_KEY_RESULT + index of a result */
enum { TD_KEY_RESULT = 32 };
typedef struct Saved {
    td_tensor *t;   /* owned handle; for `facts_only` it has no data */
    Node *node;     /* owned: what computed it; NULL for leaves and for results */
    PyTensor *leaf; /* owned: the very leaf that requires grad */
    /* owned: what a pack hook made of it; without `unpack` the object of a type that dispatches */
    PyObject *packed, *unpack;
    PyTensor *tangent; /* owned: what it had in the dual level of number `level`, or NULL */
    int level;
    uint32_t tangent_version;
    uint32_t nr, version;
    uint8_t requires_grad, facts_only, undefined;
    int8_t key;
    int32_t index; /* position in a Tensor[] argument, else -1 */
} Saved;

typedef struct Slices {
    td_tensor *base, *view; /* facts, without data */
    Node *inner;
    uint32_t nr; /* which result of it */
} Slices;

struct Node {
    PyObject_HEAD uint8_t kind, released, has_hooks;
    uint8_t dispatches; /* some argument was computed on by __torch_dispatch__ */
    uint32_t first_edge[TD_MAX_ARGS];
    uint64_t seq; /* 0 until its edges are known */
    const td_schema *schema;
    Edge *edges;
    Saved *saved;
    OutMeta *outs;
    int nedges, nsaved, nouts;
    int spent; /* of accumulate: how many edges of released nodes lead here */
    Edge inline_edges[3];
    Saved inline_saved[2];
    OutMeta inline_out;
    PyObject *args;     /* owned tuple of the non-tensor arguments a rule wants, or NULL */
    PyTensor *variable; /* owned, accumulate */
    PyObject *py;       /* owned, by kind */
    /* owned dict of lists: "tensor" {nr: [..]}, "retain" {nr: tensor}, "pre", "post" */
    PyObject *hooks;
    PyObject *metadata, *dict, *weaklist;
    Slices *slices;
    /* borrowed: the SLICES node whose inner node this is, for its first result, while that lives */
    Node *outer;
    /* borrowed, while both live: of an inner node what the written view leads to, and the way back
     */
    Node *view, *writer;
    Node *next_dead;
    void *stream; /* of a CUDA device: what its forward ran on; NULL is the default stream */
};

/* NULL with MemoryError */
Node *td_node_new(td_node_kind kind, const td_schema *schema, int nedges, int nsaved, int nouts);
/* its edges are complete: from now on it may be reached */
void td_node_number(Node *n);
/* drop what was saved (after backward without retain_graph) */
void td_node_release(Node *n);
int td_node_set_out(Node *n, int nr, const td_tensor *t);
int td_node_set_out_of(Node *n, int nr, const PyTensor *p); /* with the device that it claims */
/* n (taken over) computed p from now on; a retained gradient follows. 0 or -1 */
int td_set_node(PyTensor *p, Node *n, uint32_t nr);
/* The node and output number gradients of `p` flow to; makes accumulate nodes, renews the node of a
 * written view. 0, or -1 with an exception; edge.node NULL if p wants no gradient. */
int td_gradient_edge(PyTensor *p, Edge *edge);
Node *td_grad_fn(PyTensor *p, int *failed); /* borrowed; NULL for leaves */

/* node_type.c */
int td_add_node_type(PyObject *module);
extern allocfunc td_node_alloc;
extern freefunc td_node_free;
/* new reference for Python, of the class with its name; None for NULL */
PyObject *td_node_shown(Node *n);
void td_node_dealloc(PyObject *node); /* these three: node.c */
int td_node_traverse(PyObject *node, visitproc visit, void *arg);
int td_node_clear(PyObject *node);

/* saved_tensor.c */
int td_add_saved_tensor(PyObject *module);
/* what the node keeps under `_saved_self` or `_raw_saved_self`; NULL without an exception if none
 */
PyObject *td_kept(Node *n, const char *name);
PyObject *td_node_dir(PyObject *node, PyObject *unused); /* its __dir__ */
/* a SavedTensor for each capsule of a custom Function's list */
PyObject *td_raw_saved(Node *n, PyObject *list);
#define TD_SAVED_CAPSULE "taeda.saved"

/* saved.c */
int td_save(Saved *s, PyTensor *p, int key, int index); /* an argument */
/* an argument that is about to be overwritten */
int td_save_copy(Saved *s, PyTensor *p, int key);
int td_save_result(Saved *s, PyTensor *p, int key, int index); /* a result of the node itself */
int td_save_facts(Saved *s, const td_tensor *t, int key, int index);
/* the tangent of p, or a copy of it */
int td_save_tangent(Saved *s, PyTensor *p, int copied);
/* new reference, checked against later writes */
PyObject *td_unpack(const Node *n, Saved *s);
/* the same, but a number that stood for a tensor is that number */
PyObject *td_unpack_argument(const Node *n, Saved *s);
void td_saved_clear(Saved *s);
/* Let what `hook` makes of it stand for the tensor. 0, or -1 with an exception and all as it was.
 */
int td_saved_hooks(const Node *n, Saved *s, PyObject *hook, PyObject *unpack);
/* owned; NULL with an exception */
td_tensor *td_facts(int ndim, const int64_t *sizes, const int64_t *strides, int64_t offset,
                    td_dtype dtype);

/* view_history.c: nodes that lead from a view to its base, by facts alone. Takes `from`, the base's
 * edge, over; 0 or -1. */
int td_view_history(Edge from, const td_tensor *base, const td_tensor *view, uint8_t device,
                    Edge *made);

/* ---- rules, as backward/rules.c reads them and record.c saves for them ---- */
enum {
    TD_WANT_RESULT = 32,
    TD_WANT_GRAD = 64,
    TD_WANT_GRADS,
    TD_WANT_NEEDS,
    TD_WANT_RESULTS,
    /* + index of an argument */
    TD_WANT_SHAPE = 96,
    TD_WANT_STRIDES = 112,
    TD_WANT_OFFSET = 128,
    TD_WANT_DTYPE = 144
};
typedef struct Formula {
    PyObject *callable;
    int nparams;
    uint8_t params[2 * TD_MAX_ARGS];
    /* bit masks: arguments saved as tensors, as facts, as plain values; results saved */
    uint32_t tensors, facts, values, results;
} Formula;
typedef struct Rule {
    uint32_t attempt; /* of loading the rules */
    uint8_t joint, nformulas;
    uint8_t wide;                    /* formulas are given float32 in place of 16-bit floats */
    int8_t differentiable_results;   /* -1: all floating-point ones */
    int8_t of_argument[TD_MAX_ARGS]; /* which formula serves a Tensor argument, or -1 */
    Formula formulas[TD_MAX_ARGS];
} Rule;
/* NULL: none registered */
static inline const Rule *td_rule(const td_schema *s) { return s->rule; }

/* record.c: used by the dispatcher around an operation */
/* after parsing, before the kernel; *out NULL if nothing is to record */
int td_record_begin(td_frame *f, Node **out);
int td_record_finish(td_frame *f, Node *n, PyObject *const *outs, int nouts); /* takes n over */
/* arguments that an op without a derivative wrote: backward refuses to pass */
int td_record_written(td_frame *f);
int td_check_inplace(PyTensor *p, const char *name); /* may this tensor be written in place now? */
/* p was written: n computed it, as its result number nr; edge0: n's edge towards p's old value */
int td_rebase_history(PyTensor *p, Node *n, int edge0, uint32_t nr);

#endif
