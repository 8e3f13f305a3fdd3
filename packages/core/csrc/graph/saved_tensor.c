/* saved_tensor.c - what a node keeps, by name: `_saved_self` is the value, `_raw_saved_self` a
 * SavedTensor, on which a program sets hooks for this one tensor. */
#include "graph/node.h"

typedef struct SavedTensor {
    PyObject_HEAD Node *node;
    /* owned: of a custom Function the list of capsules that it keeps, which backward empties; else
     * NULL */
    PyObject *list;
    Py_ssize_t number; /* in that list, or among the saved tensors of the node */
} SavedTensor;

static PyTypeObject *SavedTensorT;

static Saved *saved_of(PyObject *o) /* borrowed */
{
    static Saved none = {.undefined = 1}, freed;
    const SavedTensor *p = (SavedTensor *)o;
    if (!p->list) return &p->node->saved[p->number];
    if (p->number >= PyList_Size(p->list)) return &freed;
    PyObject *capsule = PyList_GetItem(p->list, p->number);
    return capsule == Py_None ? &none : PyCapsule_GetPointer(capsule, TD_SAVED_CAPSULE);
}

/* New reference to what holds it: a hook may free the graph meanwhile. */
static PyObject *holder_of(PyObject *o)
{
    const SavedTensor *p = (SavedTensor *)o;
    return Py_NewRef(p->list && p->number < PyList_Size(p->list)
                         ? PyList_GetItem(p->list, p->number)
                         : (PyObject *)p->node);
}

static PyObject *raw(Node *n, PyObject *list, Py_ssize_t number)
{
    SavedTensor *p =
        (SavedTensor *)((allocfunc)PyType_GetSlot(SavedTensorT, Py_tp_alloc))(SavedTensorT, 0);
    if (!p) return NULL;
    p->node = (Node *)Py_NewRef((PyObject *)n);
    p->list = Py_XNewRef(list);
    p->number = number;
    return (PyObject *)p;
}

PyObject *td_raw_saved(Node *n, PyObject *list)
{
    PyObject *made = PyTuple_New(PyList_Size(list));
    for (Py_ssize_t i = 0; made && i < PyTuple_Size(made); i++) {
        PyObject *one = raw(n, list, i);
        if (!one || PyTuple_SetItem(made, i, one) < 0) Py_CLEAR(made);
    }
    return made;
}

static int visit_raw(PyObject *o, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(o));
    Py_VISIT((PyObject *)((SavedTensor *)o)->node);
    Py_VISIT(((SavedTensor *)o)->list);
    return 0;
}

static void free_raw(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    Py_CLEAR(((SavedTensor *)o)->node);
    Py_CLEAR(((SavedTensor *)o)->list);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(o);
    Py_DECREF((PyObject *)type);
}

static PyObject *raw_data(PyObject *o, void *unused)
{
    PyObject *holder = holder_of(o);
    Saved *s = saved_of(o);
    PyObject *kept = s ? td_unpack(((SavedTensor *)o)->node, s) : NULL;
    Py_DECREF(holder);
    if (!kept || kept == Py_None) return kept;
    PyObject *apart = td_dispatcher.below(td_detach_function(), kept);
    Py_DECREF(kept);
    return apart;
}

static PyObject *register_hooks(PyObject *o, PyObject *args)
{
    PyObject *pack, *unpack;
    if (!PyArg_ParseTuple(args, "OO:register_hooks", &pack, &unpack)) return NULL;
    if (!PyCallable_Check(pack) || !PyCallable_Check(unpack))
        return PyErr_Format(
            PyExc_TypeError,
            "register_hooks(pack_hook, unpack_hook) takes two functions, not %S and %S",
            Py_TYPE(PyCallable_Check(pack) ? unpack : pack), Py_TYPE(unpack));
    PyObject *holder = holder_of(o);
    Saved *s = saved_of(o);
    int status = s ? td_saved_hooks(((SavedTensor *)o)->node, s, pack, unpack) : -1;
    if (status == 0 && saved_of(o) != s) /* the hook freed the graph: this one refuses */
        status = td_saved_hooks(((SavedTensor *)o)->node, saved_of(o), pack, unpack);
    Py_DECREF(holder);
    if (status < 0) return NULL;
    Py_RETURN_NONE;
}

/* The name of a saved tensor: of an argument its own; of a result "result", and its number after
 * the first. */
static PyObject *name_of(const Node *n, const Saved *s, const char *prefix)
{
    if (s->key < TD_KEY_RESULT)
        return PyUnicode_FromFormat("%s%s", prefix, n->schema->params[s->key].name);
    int result = s->key - TD_KEY_RESULT;
    return result ? PyUnicode_FromFormat("%sresult%d", prefix, result)
                  : PyUnicode_FromFormat("%sresult", prefix);
}

/* Number of the saved tensor of this name, or -1. */
static int find(const Node *n, const char *text)
{
    for (int i = 0; i < n->nsaved; i++) {
        const Saved *s = &n->saved[i];
        const char *own = s->key >= TD_KEY_RESULT ? "result" : n->schema->params[s->key].name;
        if (!s->facts_only && !strncmp(own, text, strlen(own)) &&
            (!text[strlen(own)] || s->key >= TD_KEY_RESULT))
            return i;
    }
    return -1;
}

PyObject *td_kept(Node *n, const char *name)
{
    int wants_raw = !strncmp(name, "_raw_saved_", 11);
    if (!wants_raw && strncmp(name, "_saved_", 7)) return NULL;
    if (n->kind != TD_NODE_OP) return NULL;
    const char *own = name + (wants_raw ? 11 : 7);
    int i = find(n, own);
    if (i >= 0) return wants_raw ? raw(n, NULL, i) : td_unpack_argument(n, &n->saved[i]);
    for (int k = 0; !wants_raw && n->args && k < n->schema->nparams; k++)
        if (!strcmp(n->schema->params[k].name, own)) return Py_NewRef(PyTuple_GetItem(n->args, k));
    return NULL;
}

static int add_name(PyObject *names, PyObject *name) /* takes the name over */
{
    int status = name ? PyList_Append(names, name) : -1;
    Py_XDECREF(name);
    return status;
}

static int add_names(PyObject *names, const Node *n)
{
    for (int i = 0; i < n->nsaved; i++)
        if (!n->saved[i].facts_only &&
            (add_name(names, name_of(n, &n->saved[i], "_saved_")) < 0 ||
             add_name(names, name_of(n, &n->saved[i], "_raw_saved_")) < 0))
            return -1;
    for (int k = 0; n->args && k < n->schema->nparams; k++)
        if (PyTuple_GetItem(n->args, k) != Py_None &&
            add_name(names, PyUnicode_FromFormat("_saved_%s", n->schema->params[k].name)) < 0)
            return -1;
    return 0;
}

static int add_names_of(PyObject *names, PyObject *context) /* what a custom Function's has */
{
    PyObject *own = PyObject_Dir(context);
    Py_ssize_t n = PyList_Size(names);
    int status = own ? PyList_SetSlice(names, n, n, own) : -1;
    Py_XDECREF(own);
    return status;
}

PyObject *td_node_dir(PyObject *o, PyObject *unused)
{
    const Node *n = (Node *)o;
    PyObject *names = PyObject_CallMethod((PyObject *)&PyBaseObject_Type, "__dir__", "O", o);
    int status = 0;
    if (names && n->kind == TD_NODE_OP) status = add_names(names, n);
    if (names && n->kind == TD_NODE_PYTHON && n->py) status = add_names_of(names, n->py);
    if (status < 0) Py_CLEAR(names);
    return names;
}

int td_add_saved_tensor(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"register_hooks", register_hooks, METH_VARARGS,
         "register_hooks(pack_hook, unpack_hook)\n\nKeep what `pack_hook` makes of the tensor, "
         "now, in its place; backward calls `unpack_hook` with that.\n\n"
         "Args:\n"
         "    pack_hook: called with the tensor; returns anything. It must not write into it\n"
         "    unpack_hook: called with that; returns a tensor of the same values\n\n"
         "Raises:\n"
         "    RuntimeError: the graph was freed, hooks are there, or the tensor was written\n"},
        {0}};
    static PyGetSetDef fields[] = {
        {"data", raw_data, 0, "The tensor as backward will see it, without its history.", 0}, {0}};
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, free_raw},
        {Py_tp_traverse, visit_raw},
        {Py_tp_methods, methods},
        {Py_tp_getset, fields},
        {Py_tp_doc, "A tensor that a node keeps for backward: `node._raw_saved_self`.\n\n"
                    ">>> x = taeda.ones(2, requires_grad=True)\n"
                    ">>> y = x.exp()\n"
                    ">>> kept = y.grad_fn._raw_saved_result\n"
                    ">>> kept.register_hooks(lambda t: t.numpy().copy(), taeda.from_numpy)\n"
                    ">>> y.sum().backward()\n"
                    ">>> x.grad\ntensor([2.7183, 2.7183])"},
        {0}};
    static PyType_Spec spec = {
        "taeda.autograd.graph.SavedTensor", sizeof(SavedTensor), 0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    if (!(SavedTensorT = (PyTypeObject *)PyType_FromSpec(&spec))) return -1;
    return PyModule_AddObjectRef(module, "SavedTensor", (PyObject *)SavedTensorT);
}
