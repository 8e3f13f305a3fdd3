/* saved.c - tensors kept for backward: a handle on the storage and the version it had, not the
 * tensor object. Only of a tensor that dispatches the object is kept as well, which is all that
 * there is: an argument itself, as the reference does, of a result and of a copy one outside the
 * graph. */
#include "object/forward.h"
#include "graph/node.h"

static td_storage *nothing; /* the storage of facts: shape, strides and dtype without memory */

static int start(Saved *s, int key, int index)
{
    memset(s, 0, sizeof *s);
    s->key = (int8_t)key;
    s->index = index;
    return 0;
}

/* shape, strides and dtype of `t`, without its memory */
static td_status facts_of(td_tensor **out, const td_tensor *t)
{
    if (!nothing) TD_TRY(td_storage_new(&nothing, 0, TD_META));
    TD_TRY(td_tensor_on_storage(out, nothing, (td_dtype)t->dtype, t->ndim, t->sizes, t->strides,
                                t->offset));
    (*out)->flags |= t->flags & (TD_FLAG_CONJ | TD_FLAG_NEG);
    return TD_OK;
}

td_tensor *td_facts(int ndim, const int64_t *sizes, const int64_t *strides, int64_t offset,
                    td_dtype dtype)
{
    td_tensor *made;
    td_status status = nothing ? TD_OK : td_storage_new(&nothing, 0, TD_META);
    if (!status) status = td_tensor_on_storage(&made, nothing, dtype, ndim, sizes, strides, offset);
    if (!status) return made;
    td_raise(status);
    return NULL;
}

static PyObject *wrap_alias(const td_tensor *t)
{
    td_tensor *alias;
    TD_PY(td_tensor_alias(&alias, t));
    return td_wrap(alias);
}

/* The tensor outside the graph, for a hook that comes later or keeps what it was given. */
static PyObject *apart_of(const Saved *s)
{
    return s->packed ? td_dispatcher.below(td_detach_function(), s->packed) : wrap_alias(s->t);
}

/* What a pack hook makes of `argument`, which it does not record; NULL with an exception. The hook
 * may do anything: leave the context that it is of, or free the graph. */
static PyObject *packed_by(const Saved *s, PyObject *hook, PyObject *argument)
{
    td_tensor *seen;
    TD_PY(td_tensor_alias(&seen, s->t));
    uint32_t before = td_version_of(seen), grad_mode = td_here.grad_mode;
    Py_INCREF(hook);
    td_here.grad_mode = 0;
    PyObject *made = PyObject_CallFunctionObjArgs(hook, argument, NULL);
    td_here.grad_mode = grad_mode;
    Py_DECREF(hook);
    if (made && td_version_of(seen) != before) {
        PyErr_SetString(PyExc_RuntimeError,
                        "A saved tensor pack hook is modifying its input in place. Hooks must not "
                        "write into the tensor that they are given: copy it first");
        Py_CLEAR(made);
    }
    td_tensor_free(seen);
    return made;
}

/* From now on what a hook made (taken over) stands for the tensor, whose memory is let go. */
static int replace(Saved *s, PyObject *made, PyObject *unpack)
{
    td_tensor *facts;
    td_status status = facts_of(&facts, s->t);
    if (status) return Py_DECREF(made), td_raised(status);
    td_tensor_free(s->t);
    s->t = facts;
    Py_XSETREF(s->packed, made);
    s->unpack = Py_XNewRef(unpack);
    return 0;
}

/* The hook is given the very tensor, with its history: hooks ask whether it is a parameter. What it
 * gives back unchanged is kept without the history, which may hold this very node. */
static int pack(Saved *s, PyTensor *p)
{
    PyObject *unpack = Py_XNewRef(td_here.unpack_hook); /* now: the hook may leave its context */
    int is_copy = s->t->storage != p->t->storage;
    PyObject *argument = is_copy ? apart_of(s) : Py_NewRef((PyObject *)p);
    PyObject *made = argument ? packed_by(s, td_here.pack_hook, argument) : NULL;
    if (made == (PyObject *)p && !s->leaf) Py_SETREF(made, apart_of(s));
    int status = made ? replace(s, made, unpack) : -1;
    Py_XDECREF(argument);
    Py_XDECREF(unpack);
    return status;
}

int td_save_tangent(Saved *s, PyTensor *p, int copied)
{
    PyTensor *tangent = td_tangent(p);
    Py_XSETREF(s->tangent, Py_XNewRef((PyObject *)tangent));
    if (!tangent) return 0;
    if (copied && td_forward.copy_tangent(&s->tangent) < 0) return -1;
    s->level = td_dual_level;
    s->tangent_version = td_version_of(s->tangent->t);
    return 0;
}

static int keep_handle(Saved *s, PyTensor *p, td_tensor *t,
                       PyObject *object) /* takes `t` over, p's own or a copy, and the object */
{
    s->t = t;
    s->packed = object;
    s->version = td_version_of(t);
    s->requires_grad = (uint8_t)td_requires_grad(p);
    /* as t is */
    if (td_dual_level &&
        td_save_tangent(s, p, td_here.pack_hook || t->storage != p->t->storage) < 0)
        return -1;
    return td_here.pack_hook ? pack(s, p) : 0;
}

static int save_clone(Saved *s, PyTensor *p)
{
    td_tensor *alias;
    PyObject *clone = td_dispatcher.below(td_clone_function(), (PyObject *)p);
    if (!clone) return -1;
    td_status status = td_tensor_alias(&alias, TD_T(clone));
    if (!status) return keep_handle(s, p, alias, clone);
    Py_DECREF(clone);
    return td_raised(status);
}

static int keep_inference(Saved *s, PyTensor *p)
{
    if (td_copies_inference) return save_clone(s, p);
    PyErr_SetString(PyExc_RuntimeError,
                    "Inference tensors cannot be saved for backward. To work around you can make a "
                    "clone to get a normal tensor and use it in autograd, or use no_grad() instead "
                    "of inference_mode().");
    return -1;
}

static int keep(Saved *s, PyTensor *p)
{
    if (p->t->flags & TD_FLAG_INFERENCE) return keep_inference(s, p);
    td_tensor *alias;
    PyObject *object = NULL;
    if (p->dispatches)
        object = s->key < TD_KEY_RESULT ? Py_NewRef((PyObject *)p)
                                        : td_dispatcher.below(td_detach_function(), (PyObject *)p);
    if (p->dispatches && !object) return -1;
    td_status status = td_tensor_alias(&alias, p->t);
    if (!status) return keep_handle(s, p, alias, object);
    Py_XDECREF(object);
    return td_raised(status);
}

static int save_history(Saved *s, PyTensor *p) /* where the gradient of an argument flows to */
{
    if (!td_requires_grad(p)) return 0;
    Edge edge;
    if (td_gradient_edge(p, &edge) < 0) return -1;
    s->nr = edge.nr;
    if (p->node) s->node = edge.node;
    else {
        s->leaf = (PyTensor *)Py_NewRef((PyObject *)p);
        Py_XDECREF((PyObject *)edge.node);
    }
    return 0;
}

int td_save(Saved *s, PyTensor *p, int key, int index)
{
    start(s, key, index);
    return save_history(s, p) < 0 ? -1 : keep(s, p);
}

int td_save_copy(Saved *s, PyTensor *p, int key)
{
    td_tensor *copy;
    start(s, key, -1);
    if (save_history(s, p) < 0) return -1;
    const td_tensor *t = p->t;
    int traced =
        td_here.layers & ~td_here.excluded & TD_LAYER_TRACE; /* whose graph needs the copy */
    if (p->dispatches || traced) return save_clone(s, p);
    td_status status = td_tensor_empty_like(&copy, t, (td_dtype)t->dtype);
    if (status) return td_raised(status);
    td_storage *pin = td_pin(t->storage); /* other threads run while it is copied */
    if (!td_is_meta(copy)) status = td_copy(copy, t);
    td_unpin(pin);
    if (status) return td_tensor_free(copy), td_raised(status);
    return keep_handle(s, p, copy, NULL);
}

int td_save_result(Saved *s, PyTensor *p, int key, int index)
{
    start(s, key, index);
    s->nr = p->nr;
    return keep(s, p);
}

int td_save_facts(Saved *s, const td_tensor *t, int key, int index)
{
    start(s, key, index);
    s->facts_only = 1;
    td_status status = facts_of(&s->t, t);
    return status ? td_raised(status) : 0;
}

static PyObject *modified(const Node *n, const Saved *s)
{
    char shape[TD_SHAPE_TEXT];
    return PyErr_Format(
        PyExc_RuntimeError,
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation: [%s of shape %s], %s of %s, is at version %u; expected version %u instead. "
        "Hint: clone() it before the write, or use detect_anomaly to find the forward operation",
        td_dtypes[s->t->dtype].name, td_shape_text(s->t->ndim, s->t->sizes, shape),
        s->key >= TD_KEY_RESULT ? "output" : "input",
        n->schema ? n->schema->op.name : "a custom Function", td_version_of(s->t), s->version);
}

static int give_tangent(const Node *n, const Saved *s, PyTensor *p)
{
    if (td_version_of(s->tangent->t) == s->tangent_version)
        return td_forward.set_tangent(p, s->tangent);
    PyErr_Format(PyExc_RuntimeError,
                 "the tangent of an %s of %s, needed for gradient computation, has been modified "
                 "by an inplace operation: it is at version %u; expected version %u instead. Hint: "
                 "clone() it before the write",
                 s->key >= TD_KEY_RESULT ? "output" : "input",
                 n->schema ? n->schema->op.name : "a custom Function", td_version_of(s->tangent->t),
                 s->tangent_version);
    return -1;
}

static PyObject *unpack_hooked(const Saved *s)
{
    uint32_t excluded = td_as_caller();
    PyObject *made = PyObject_CallFunctionObjArgs(s->unpack, s->packed, NULL);
    td_here.excluded = excluded;
    if (!made) return NULL;
    if (!td_is_tensor(made)) {
        PyErr_Format(
            PyExc_TypeError,
            "Output of saved tensor unpack_hook expected to be a Tensor but got result of type %S",
            Py_TYPE(made));
        Py_CLEAR(made);
        return NULL;
    }
    PyObject *apart = ((PyTensor *)made)->dispatches
                          ? td_dispatcher.below(td_detach_function(), made)
                          : wrap_alias(TD_T(made));
    Py_DECREF(made);
    return apart;
}

/* The kept object; where a node computed it that it does not know of (it is a result or a copy),
 * another one outside the graph. */
static PyObject *unpack_object(const Saved *s, const Node *owner)
{
    const PyTensor *p = (PyTensor *)s->packed;
    return p->node == owner ? Py_NewRef(s->packed)
                            : td_dispatcher.below(td_detach_function(), s->packed);
}

/* A result that was written through a view came to be part of the base, so its history is the
 * base's. */
static int set_origin(PyTensor *p, Node *owner, const Saved *s)
{
    Node *w = s->key == TD_KEY_RESULT ? owner->outer : NULL;
    Edge edge = {w ? w : owner, w ? 0 : s->nr};
    if (w && owner->view) w = NULL, edge.node = owner->view;
    Py_INCREF((PyObject *)edge.node);
    if (w && td_view_history(edge, w->slices->base, w->slices->view, p->t->device, &edge) < 0)
        return -1;
    p->node = edge.node;
    p->nr = edge.nr;
    p->node_version = td_version_of(p->t);
    return 0;
}

static PyObject *freed(void)
{
    return PyErr_Format(
        PyExc_RuntimeError,
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed). Saved intermediate values of the graph are freed "
        "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
        "backward through the graph a second time or if you need to access saved tensors after "
        "calling backward.");
}

static int takes_hooks(const Node *n, const Saved *s)
{
    if (s->undefined)
        PyErr_SetString(PyExc_RuntimeError,
                        "Calling register_hooks on a saved tensor with value None is forbidden");
    else if (!s->t) freed();
    else if (s->unpack)
        PyErr_SetString(PyExc_RuntimeError,
                        "Calling register_hooks on a saved tensor whose hooks have already been "
                        "set. Hint: only one pair of hooks is allowed at a time");
    else if (td_version_of(s->t) != s->version) modified(n, s);
    return PyErr_Occurred() ? -1 : 0;
}

int td_saved_hooks(const Node *n, Saved *s, PyObject *hook, PyObject *unpack)
{
    if (takes_hooks(n, s) < 0) return -1;
    PyObject *argument = apart_of(s), *made = argument ? packed_by(s, hook, argument) : NULL;
    Py_XDECREF(argument);
    if (!made) return -1;
    if (takes_hooks(n, s) < 0) return Py_DECREF(made), -1; /* the hook may have freed the graph */
    return replace(s, made, unpack);
}

PyObject *td_unpack(const Node *n, Saved *s)
{
    if (s->undefined) return Py_NewRef(Py_None);
    if (!s->t) return freed();
    if (!s->unpack && td_version_of(s->t) != s->version) return modified(n, s);
    if (s->leaf && !s->unpack) return Py_NewRef((PyObject *)s->leaf);
    Node *owner = s->key >= TD_KEY_RESULT && s->requires_grad ? (Node *)n : s->node;
    PyObject *made = s->unpack   ? unpack_hooked(s)
                     : s->packed ? unpack_object(s, owner)
                                 : wrap_alias(s->t);
    if (!made) return NULL;
    PyTensor *p = (PyTensor *)made;
    int has_tangent = s->tangent && s->level == td_dual_level;
    if (made ==
        s->packed) { /* the very argument, with its history, or a copy, without its tangent */
        if (has_tangent && !td_tangent(p) && give_tangent(n, s, p) < 0) Py_CLEAR(made);
        return made;
    }
    if (owner) {
        if (set_origin(p, owner, s) < 0) return Py_DECREF(made), NULL;
    } else if (s->leaf) { /* a hooked leaf: its gradient still goes to the leaf */
        Edge edge;
        if (td_gradient_edge(s->leaf, &edge) < 0) return Py_DECREF(made), NULL;
        p->node = edge.node;
    }
    if (has_tangent && give_tangent(n, s, p) < 0) Py_CLEAR(made);
    return made;
}

/* As a tensor it would be rounded to the default dtype by the first function that a rule applies to
 * it. */
PyObject *td_unpack_argument(const Node *n, Saved *s)
{
    return s->t && !s->packed && !s->undefined && s->t->flags & TD_FLAG_WRAPPED ? td_item(s->t)
                                                                                : td_unpack(n, s);
}

void td_saved_clear(Saved *s)
{
    td_tensor_free(s->t);
    s->t = NULL;
    Py_CLEAR(s->node);
    Py_CLEAR(s->leaf);
    Py_CLEAR(s->tangent);
    Py_CLEAR(s->packed);
    Py_CLEAR(s->unpack);
}
