/* getitem.c - x[...] and x[...] = v. Integers, slices, None and Ellipsis become one view here when
 * no gradient is wanted, and a chain of recorded views otherwise; everything else goes to
 * taeda._tensor.indexing. */
#include "binding/binding.h"
#include "dispatch/dispatch.h"
#include "backward/forward.h"
#include "graph/node.h"
#include "ops/view/view.h"
#include "runtime/wraps.h"

typedef enum ItemKind { ITEM_INT, ITEM_SLICE, ITEM_NONE, ITEM_ELLIPSIS } ItemKind;
/* int: a; slice: start a, stop b */
typedef struct Item {
    ItemKind kind;
    int64_t a, b, step;
} Item;
#define MAX_ITEMS (2 * TD_MAX_DIMS)

/* An end of a slice may be the size of a ragged dimension, which is a large number: refused as
 * elsewhere. */
static int check_end(PyObject *slice, const char *name, Py_ssize_t end)
{
    if (end < 1 << 30 || end == PY_SSIZE_T_MAX) return 0;
    int64_t unused;
    PyObject *given = PyObject_GetAttrString(slice, name);
    int status = given && (!td_is_ragged(given) || td_int_from(given, &unused) == 1) ? 0 : -1;
    Py_XDECREF(given);
    return status;
}

static int read_slice(PyObject *o, Item *item)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(o, &start, &stop, &step) < 0) return -1;
    if (check_end(o, "start", start) < 0 || check_end(o, "stop", stop) < 0) return -1;
    if (step <= 0) return PyErr_SetString(PyExc_ValueError, "step must be greater than zero"), -1;
    *item = (Item){ITEM_SLICE, start, stop, step};
    return 1;
}

static int is_whole(const Item *i) { return i->a == 0 && i->b == PY_SSIZE_T_MAX && i->step == 1; }

static int read_item(PyObject *o, Item *item) /* 1, 0 advanced, -1 */
{
    if (o == Py_None) return item->kind = ITEM_NONE, 1;
    if (o == Py_Ellipsis) return item->kind = ITEM_ELLIPSIS, 1;
    if (PySlice_Check(o)) return read_slice(o, item);
    if (PyBool_Check(o) || PyList_Check(o) || PyTuple_Check(o)) return 0;
    if (td_is_tensor(o) && TD_T(o)->ndim) return 0;
    item->kind = ITEM_INT;
    if (PyLong_Check(o) || td_is_tensor(o)) return td_int_from(o, &item->a);
    return PyIndex_Check(o) && !PyObject_HasAttrString(o, "ndim") ? td_int_from(o, &item->a) : 0;
}

static int read_key(PyObject *key, Item *items, int *n)
{
    if (!PyTuple_Check(key)) return *n = 1, read_item(key, items);
    Py_ssize_t count = PyTuple_Size(key);
    if (count > MAX_ITEMS) return 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int status = read_item(PyTuple_GetItem(key, i), &items[i]);
        if (status != 1) return status;
    }
    *n = (int)count;
    return 1;
}

static int too_many(const td_tensor *t, int used)
{
    PyErr_Format(PyExc_IndexError, "too many indices for tensor of dimension %d: %d were given",
                 t->ndim, used);
    return -1;
}

/* ---- one view, without a record ---- */
typedef struct View {
    int64_t sizes[MAX_ITEMS + TD_MAX_DIMS], strides[MAX_ITEMS + TD_MAX_DIMS], offset;
    int ndim;
} View;

static int take_int(View *v, const td_tensor *t, int dim, int64_t index)
{
    int64_t size = t->sizes[dim], at = index < 0 ? index + size : index;
    if (at < 0 || at >= size) {
        PyErr_Format(PyExc_IndexError,
                     "index %lld is out of bounds for dimension %d with size %lld",
                     (long long)index, dim, (long long)size);
        return -1;
    }
    v->offset = td_wrapping_add(v->offset, td_wrapping_mul(at, t->strides[dim]));
    return 0;
}

static void take_slice(View *v, const td_tensor *t, int dim, Item s)
{
    int64_t length;
    td_slice_bounds(t->sizes[dim], &s.a, s.b, s.step, &length);
    if (length) v->offset = td_wrapping_add(v->offset, td_wrapping_mul(s.a, t->strides[dim]));
    v->sizes[v->ndim] = length;
    int64_t stride;
    v->strides[v->ndim++] =
        td_mul_overflows(t->strides[dim], s.step, &stride) ? t->strides[dim] : stride;
}

static int dims_used(const Item *items, int n, int *ellipses)
{
    int used = 0;
    *ellipses = 0;
    for (int i = 0; i < n; i++) {
        used += items[i].kind == ITEM_INT || items[i].kind == ITEM_SLICE;
        *ellipses += items[i].kind == ITEM_ELLIPSIS;
    }
    return used;
}

static int make_view(const td_tensor *t, const Item *items, int n, View *v)
{
    int ellipses, used = dims_used(items, n, &ellipses), dim = 0;
    if (used > t->ndim) return too_many(t, used);
    if (ellipses > 1)
        return PyErr_SetString(PyExc_IndexError,
                               "an index can only have a single ellipsis ('...')"),
               -1;
    *v = (View){.offset = t->offset};
    for (int i = 0; i <= n; i++) {
        int keep = i == n ? t->ndim - dim : items[i].kind == ITEM_ELLIPSIS ? t->ndim - used : 0;
        for (; keep; keep--, dim++) {
            v->sizes[v->ndim] = t->sizes[dim];
            v->strides[v->ndim++] = t->strides[dim];
        }
        if (i == n) break;
        if (items[i].kind == ITEM_NONE) {
            v->sizes[v->ndim] = 1;
            v->strides[v->ndim] =
                dim < t->ndim ? td_wrapping_mul(t->sizes[dim], t->strides[dim]) : 1;
            v->ndim++;
        } else if (items[i].kind == ITEM_INT) {
            if (take_int(v, t, dim++, items[i].a) < 0) return -1;
        } else if (items[i].kind == ITEM_SLICE) take_slice(v, t, dim++, items[i]);
    }
    return 0;
}

static PyObject *plain_view(PyTensor *self, const Item *items, int n)
{
    View v;
    td_tensor *t;
    if (make_view(self->t, items, n, &v) < 0) return NULL;
    if (v.ndim > TD_MAX_DIMS)
        return PyErr_Format(PyExc_RuntimeError,
                            "the view would have %d dimensions, at most %d are possible", v.ndim,
                            TD_MAX_DIMS);
    TD_PY(td_tensor_view(&t, self->t, v.ndim, v.sizes, v.strides, v.offset));
    PyTensor *made = (PyTensor *)td_wrap(t);
    if (!made) return NULL;
    made->base = (PyTensor *)Py_NewRef((PyObject *)(self->base ? self->base : self));
    made->apart = self->apart;
    made->node_version = td_version_of(t);
    made->creation = self->creation != TD_VIEW_PLAIN ? self->creation
                     : td_here.inference_mode        ? TD_VIEW_INFERENCE
                     : td_here.grad_mode             ? TD_VIEW_PLAIN
                                                     : TD_VIEW_NO_GRAD;
    if (td_here.inference_mode) t->flags |= self->t->flags & TD_FLAG_INFERENCE;
    return (PyObject *)made;
}

/* ---- a chain of recorded views ---- */
static PyObject *step_view(PyObject *x, const char *text, int n, const int64_t *values)
{
    td_schema *s = td_find_schema(text);
    if (!s) return PyErr_Format(PyExc_RuntimeError, "the op table has no %s", text);
    td_function single = {s->op.name, "", "", &s, 1, 1, 0, 0};
    PyObject *args[5] = {x};
    for (int i = 0; i < n; i++) args[i + 1] = PyLong_FromLongLong(values[i]);
    PyObject *made = td_apply(&single, n + 1, args);
    for (int i = 0; i < n; i++) Py_XDECREF(args[i + 1]);
    return made;
}

static PyObject *recorded_view(PyTensor *self, const Item *items, int n)
{
    View v;
    if (make_view(self->t, items, n, &v) < 0) return NULL; /* the checks, once */
    int ellipses, used = dims_used(items, n, &ellipses), dim = 0;
    PyObject *x = Py_NewRef((PyObject *)self), *next;
    for (int i = 0; x && i < n; i++) {
        next = NULL;
        if (items[i].kind == ITEM_ELLIPSIS) dim += self->t->ndim - used;
        else if (items[i].kind == ITEM_NONE)
            next = step_view(x, "unsqueeze", 1, (int64_t[]){dim++});
        else if (items[i].kind == ITEM_INT)
            next = step_view(x, "select.int", 2, (int64_t[]){dim, items[i].a});
        else if (is_whole(&items[i])) dim++;
        else
            next = step_view(x, "slice.Tensor", 4,
                             (int64_t[]){dim++, items[i].a, items[i].b, items[i].step});
        if (next) Py_SETREF(x, next);
        else if (PyErr_Occurred()) Py_CLEAR(x);
    }
    return x == (PyObject *)self ? (Py_DECREF(x), step_view((PyObject *)self, "alias", 0, NULL))
                                 : x;
}

/* ---- Python's part ---- */
static PyObject *in_python(const char *name, PyObject *self, PyObject *key, PyObject *value)
{
    PyObject *module = PyImport_ImportModule("taeda._tensor.indexing"),
             *call = module ? PyObject_GetAttrString(module, name) : NULL;
    Py_XDECREF(module);
    PyObject *made = call ? PyObject_CallFunctionObjArgs(call, self, key, value, NULL) : NULL;
    Py_XDECREF(call);
    return made;
}

static int layered(PyObject *self)
{
    if (td_here.layers & ~td_here.excluded & (TD_LAYER_FUNCTION_MODE | TD_LAYER_TRANSFORM))
        return 1;
    return !td_is_exact(self) && !(td_here.excluded & TD_LAYER_OVERRIDE) && td_has_override(self);
}

static int recorded(PyObject *self) /* somebody wants to see each view */
{
    return (td_here.grad_mode && td_requires_grad((PyTensor *)self)) ||
           ((PyTensor *)self)->dispatches || ((PyTensor *)self)->named ||
           (td_here.layers & ~td_here.excluded) || td_forward_on();
}

PyObject *td_getitem(PyObject *self, PyObject *key)
{
    Item items[MAX_ITEMS];
    int n;
    if (layered(self)) return in_python("getitem_layered", self, key, NULL);
    int status = read_key(key, items, &n);
    if (status < 0)
        return td_is_for_others(&key, 1, 1) ? in_python("getitem_layered", self, key, NULL) : NULL;
    if (status == 0) return in_python("getitem", self, key, NULL);
    return recorded(self) ? recorded_view((PyTensor *)self, items, n)
                          : plain_view((PyTensor *)self, items, n);
}

/* basic_view(tensor, key): the view of a basic key, recorded where needed; None if the key is an
 * advanced one, or for somebody else */
PyObject *td_basic_view(PyObject *m, PyObject *args)
{
    PyObject *self, *key;
    Item items[MAX_ITEMS];
    int n;
    if (!PyArg_ParseTuple(args, "OO", &self, &key)) return NULL;
    if (!td_is_tensor(self))
        return PyErr_Format(PyExc_TypeError, "wanted a Tensor, got %S", Py_TYPE(self));
    int status = read_key(key, items, &n);
    if (status < 0 && !td_is_for_others(&key, 1, 1)) return NULL;
    if (status <= 0) Py_RETURN_NONE;
    return recorded(self) ? recorded_view((PyTensor *)self, items, n)
                          : plain_view((PyTensor *)self, items, n);
}

int td_setitem(PyObject *self, PyObject *key, PyObject *value)
{
    if (!value)
        return PyErr_SetString(PyExc_TypeError, "elements of a tensor cannot be deleted"), -1;
    PyObject *done = in_python(layered(self) ? "setitem_layered" : "setitem", self, key, value);
    Py_XDECREF(done);
    return done ? 0 : -1;
}
