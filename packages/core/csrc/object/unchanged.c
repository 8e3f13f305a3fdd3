/* unchanged.c - core.Unchanged: do objects hold the very objects that they held? What guards of a
 * compiled program ask at each call.
 *
 *   (0, owner, name, value)       owner.name is value
 *   (1, dict, key, value)         dict[key] is value
 *   (2, dict, keys, values)       the dict has these keys and values, in this order
 *   (3, list, items, None)        the list has these items
 *   (4, dict, key, None)          the dict has no such key
 *   (5, dict, keys, None)         the dict has these keys, in this order
 *   (6, type, None, None)         operators of a type in C are the functions in C that they were
 *   (7, object, type, dict)       the object is of this type, and has this __dict__ */
#include "object/py.h"

enum { ATTRIBUTE, ITEM, DICT, LIST, ABSENT, KEYS, OPERATORS, INSTANCE };

/* Borrowed from the tuple of entries, which is kept. `keys` and `values` are parts of `cells`. */
typedef struct {
    int kind;
    Py_ssize_t n;
    PyObject *owner, *which, *value, **keys, **values;
} fact;

typedef struct {
    PyObject_HEAD PyObject *entries;
    fact *facts;
    PyObject **cells;
    Py_ssize_t count;
} Unchanged;

static allocfunc unchanged_alloc;
static freefunc unchanged_free;

/* What operators, items, truth, comparison and text of a type go through. */
static const int operator_slots[] = {Py_mp_ass_subscript,
                                     Py_mp_length,
                                     Py_mp_subscript,
                                     Py_nb_absolute,
                                     Py_nb_add,
                                     Py_nb_and,
                                     Py_nb_bool,
                                     Py_nb_divmod,
                                     Py_nb_float,
                                     Py_nb_floor_divide,
                                     Py_nb_index,
                                     Py_nb_inplace_add,
                                     Py_nb_inplace_and,
                                     Py_nb_inplace_floor_divide,
                                     Py_nb_inplace_lshift,
                                     Py_nb_inplace_matrix_multiply,
                                     Py_nb_inplace_multiply,
                                     Py_nb_inplace_or,
                                     Py_nb_inplace_power,
                                     Py_nb_inplace_remainder,
                                     Py_nb_inplace_rshift,
                                     Py_nb_inplace_subtract,
                                     Py_nb_inplace_true_divide,
                                     Py_nb_inplace_xor,
                                     Py_nb_int,
                                     Py_nb_invert,
                                     Py_nb_lshift,
                                     Py_nb_matrix_multiply,
                                     Py_nb_multiply,
                                     Py_nb_negative,
                                     Py_nb_or,
                                     Py_nb_positive,
                                     Py_nb_power,
                                     Py_nb_remainder,
                                     Py_nb_rshift,
                                     Py_nb_subtract,
                                     Py_nb_true_divide,
                                     Py_nb_xor,
                                     Py_sq_ass_item,
                                     Py_sq_concat,
                                     Py_sq_contains,
                                     Py_sq_inplace_concat,
                                     Py_sq_inplace_repeat,
                                     Py_sq_item,
                                     Py_sq_length,
                                     Py_sq_repeat,
                                     Py_tp_call,
                                     Py_tp_getattro,
                                     Py_tp_hash,
                                     Py_tp_iter,
                                     Py_tp_iternext,
                                     Py_tp_repr,
                                     Py_tp_richcompare,
                                     Py_tp_setattro,
                                     Py_tp_str};
enum { SLOTS = sizeof operator_slots / sizeof *operator_slots };

/* ---- the questions ---- */

static int same_attribute(const fact *f)
{
    PyObject *found = PyObject_GetAttr(f->owner, f->which);
    Py_XDECREF(found); /* only its identity is asked; the guard keeps the value alive */
    return found == f->value;
}

static int same_dict(const fact *f) /* values NULL: whichever */
{
    PyObject *key, *value;
    Py_ssize_t at = 0, i = 0;
    if (PyDict_Size(f->owner) != f->n) return 0;
    for (; PyDict_Next(f->owner, &at, &key, &value); i++)
        if (i == f->n || key != f->keys[i] || (f->values && value != f->values[i])) return 0;
    return i == f->n;
}

static int same_list(const fact *f)
{
    if (PyList_Size(f->owner) != f->n) return 0;
    for (Py_ssize_t i = 0; i < f->n; i++)
        if (PyList_GetItem(f->owner, i) != f->keys[i]) return 0;
    return 1;
}

static int same_operators(const fact *f)
{
    for (int i = 0; i < SLOTS; i++)
        if (PyType_GetSlot((PyTypeObject *)f->owner, operator_slots[i]) != (void *)f->keys[i])
            return 0;
    return 1;
}

static int same_instance(const fact *f)
{
    if (Py_TYPE(f->owner) != (PyTypeObject *)f->which) return 0;
    PyObject *found = PyObject_GenericGetDict(f->owner, NULL);
    Py_XDECREF(found);
    return found == f->value;
}

static int holds(const fact *f)
{
    switch (f->kind) {
        case ATTRIBUTE: return same_attribute(f);
        case ITEM: return PyDict_GetItemWithError(f->owner, f->which) == f->value;
        case ABSENT: return !PyDict_GetItemWithError(f->owner, f->which);
        case LIST: return same_list(f);
        case OPERATORS: return same_operators(f);
        case INSTANCE: return same_instance(f);
        default: return same_dict(f);
    }
}

/* True if every one holds; an exception on the way means no */
static PyObject *unchanged_call(PyObject *o, PyObject *args, PyObject *kw)
{
    const Unchanged *u = (Unchanged *)o;
    for (Py_ssize_t i = 0; i < u->count; i++) {
        int yes = holds(u->facts + i);
        if (PyErr_Occurred()) PyErr_Clear(), yes = 0;
        if (!yes) Py_RETURN_FALSE;
    }
    Py_RETURN_TRUE;
}

/* ---- making one ---- */

static int is_entry(PyObject *entry)
{
    if (!PyTuple_Check(entry) || PyTuple_Size(entry) != 4) return 0;
    PyObject *kind = PyTuple_GetItem(entry, 0), *owner = PyTuple_GetItem(entry, 1),
             *which = PyTuple_GetItem(entry, 2), *value = PyTuple_GetItem(entry, 3);
    if (!PyLong_Check(kind)) return 0;
    switch (PyLong_AsLong(kind)) {
        case ATTRIBUTE: return PyUnicode_Check(which);
        case ITEM:
        case ABSENT: return PyDict_Check(owner);
        case DICT:
            return PyDict_Check(owner) && PyTuple_Check(which) && PyTuple_Check(value) &&
                   PyTuple_Size(which) == PyTuple_Size(value);
        case LIST: return PyList_Check(owner) && PyTuple_Check(which);
        case KEYS: return PyDict_Check(owner) && PyTuple_Check(which);
        case OPERATORS: return PyType_Check(owner);
        case INSTANCE: return PyType_Check(which);
        default: return 0;
    }
}

/* How many cells an entry takes: for its keys, and for its values. */
static Py_ssize_t cells_of(PyObject *entry)
{
    long kind = PyLong_AsLong(PyTuple_GetItem(entry, 0));
    if (kind == OPERATORS) return SLOTS;
    if (kind != DICT && kind != LIST && kind != KEYS) return 0;
    return PyTuple_Size(PyTuple_GetItem(entry, 2)) * (kind == DICT ? 2 : 1);
}

static PyObject **copied(PyObject *tuple, PyObject **to)
{
    Py_ssize_t n = PyTuple_Size(tuple);
    for (Py_ssize_t i = 0; i < n; i++) to[i] = PyTuple_GetItem(tuple, i);
    return to + n;
}

/* Fills a fact, and gives the first cell that is free behind it. */
static PyObject **filled(fact *f, PyObject *entry, PyObject **cells)
{
    *f = (fact){.kind = (int)PyLong_AsLong(PyTuple_GetItem(entry, 0)),
                .owner = PyTuple_GetItem(entry, 1),
                .which = PyTuple_GetItem(entry, 2),
                .value = PyTuple_GetItem(entry, 3)};
    if (!cells_of(entry)) return cells; /* n is 0: an empty list or dict */
    f->keys = cells;
    if (f->kind == OPERATORS) {
        for (int i = 0; i < SLOTS; i++)
            cells[i] = PyType_GetSlot((PyTypeObject *)f->owner, operator_slots[i]);
        return cells + SLOTS;
    }
    f->n = PyTuple_Size(f->which);
    cells = copied(f->which, cells);
    if (f->kind != DICT) return cells;
    f->values = cells;
    return copied(f->value, cells);
}

static int fill(Unchanged *u, PyObject *entries)
{
    Py_ssize_t n = PyTuple_Size(entries), cells = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *entry = PyTuple_GetItem(entries, i);
        if (!is_entry(entry))
            return PyErr_Format(PyExc_TypeError, "Unchanged: %R is no entry", entry), -1;
        cells += cells_of(entry);
    }
    u->facts = PyMem_Malloc((size_t)(n + 1) * sizeof *u->facts);
    u->cells = PyMem_Malloc((size_t)(cells + 1) * sizeof *u->cells);
    if (!u->facts || !u->cells) return PyErr_NoMemory(), -1;
    PyObject **free_one = u->cells;
    for (Py_ssize_t i = 0; i < n; i++)
        free_one = filled(u->facts + i, PyTuple_GetItem(entries, i), free_one);
    u->entries = Py_NewRef(entries);
    u->count = n;
    return 0;
}

static PyObject *unchanged_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    PyObject *entries = NULL;
    if (kw && PyDict_Size(kw))
        return PyErr_SetString(PyExc_TypeError, "Unchanged takes no keywords"), NULL;
    if (!PyArg_ParseTuple(args, "O!:Unchanged", &PyTuple_Type, &entries)) return NULL;
    Unchanged *u = (Unchanged *)unchanged_alloc(type, 0);
    if (u && fill(u, entries) < 0) Py_CLEAR(u);
    return (PyObject *)u;
}

static int unchanged_traverse(PyObject *o, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(o));
    Py_VISIT(((Unchanged *)o)->entries);
    return 0;
}

static int unchanged_clear(PyObject *o)
{
    Unchanged *u = (Unchanged *)o;
    u->count = 0; /* what the facts name goes with the entries */
    Py_CLEAR(u->entries);
    return 0;
}

static void unchanged_dealloc(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    unchanged_clear(o);
    PyMem_Free(((Unchanged *)o)->facts);
    PyMem_Free(((Unchanged *)o)->cells);
    unchanged_free(o);
    Py_DECREF(type);
}

int td_add_unchanged(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_new, unchanged_new},
        {Py_tp_dealloc, unchanged_dealloc},
        {Py_tp_traverse, unchanged_traverse},
        {Py_tp_clear, unchanged_clear},
        {Py_tp_call, unchanged_call},
        {Py_tp_doc, "Unchanged(entries)(): do objects hold the very objects that they held?"},
        {0}};
    static PyType_Spec spec = {"taeda._native.core.Unchanged", sizeof(Unchanged), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
    PyObject *type = PyType_FromSpec(&spec);
    if (!type) return -1;
    unchanged_alloc = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
    unchanged_free = (freefunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_free);
    int status = PyModule_AddObjectRef(module, "Unchanged", type);
    Py_DECREF(type);
    return status;
}
