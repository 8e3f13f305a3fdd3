/* program.c - core.Program: a list of kernel calls that runs without Python between them.
 *
 *   inputs ─▶ slots[0..n) ─▶ step: row, constants, slots ─▶ slots ─▶ ... ─▶ outputs
 *
 * A step is a call as the dispatcher makes it below every layer: in-place and out= forms write the
 * very tensors, views are views. Nothing is recorded for backward. A slot is emptied behind its
 * last reader, so memory is used again within one run. A gradient is assigned in its turn, so a run
 * that ends in the middle leaves what the program would have left there. */
#include "dispatch/chains.h"
#include "dispatch/custom.h"
#include "dispatch/dispatch.h"
#include "graph/node.h"
#include "ops/pointwise/waiting.h"

/* item -1: the argument itself, else an item of it */
typedef struct Patch {
    int16_t param, item;
    int32_t slot;
} Patch;
enum {
    PLAIN,
    INPLACE,
    OUT,
    VIEW,    /* as_strided, its offset counted from where the tensor begins */
    DATA,    /* the same, with a version of its own */
    GRADIENT /* no row: the first target's .grad becomes the second, or None */
};
enum { EXACT, ANY_HISTORY, ANY_LAYOUT }; /* how like its example an input has to be */

typedef struct Step {
    td_schema *schema;
    td_function function;
    PyObject *args; /* owned: constants, None where a slot goes */
    Patch *patches;
    /* slots of results (-1: not kept), of what is written, of what nobody reads later */
    int32_t *outs, *targets, *ends;
    /* joins: elementwise, and may wait for its neighbours (waiting.h) */
    int npatches, nouts, ntargets, nends, form, joins;
} Step;

typedef struct Facts { /* what an input has to be */
    td_tensor *like;   /* owned; without memory. NULL: it is a float of Python */
    PyTypeObject *type;
    uint8_t requires_grad, computed, hooked, asked; /* EXACT and so on */
} Facts;

typedef struct Program {
    PyObject_HEAD Step *steps;
    Facts *facts;
    int32_t *outputs;
    int *chained; /* of each step, the chain that it was a part of in the last run, or -1 */
    int nsteps, ninputs, nslots, noutputs;
} Program;

/* ---- made from tuples ---- */
static int take_slots(PyObject *tuple, int32_t **list, int *n, int nslots)
{
    Py_ssize_t count = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (count < 0)
        return PyErr_Format(PyExc_TypeError, "Program: slots are a tuple, got %R", Py_TYPE(tuple)),
               -1;
    if (!(*list = PyMem_Malloc(sizeof **list * (size_t)(count + 1)))) return td_no_memory(), -1;
    for (*n = 0; *n < count; (*n)++) {
        long slot = PyLong_AsLong(PyTuple_GetItem(tuple, *n));
        if (PyErr_Occurred()) return -1;
        if (slot < -1 || slot >= nslots)
            return PyErr_Format(PyExc_ValueError, "Program: there is no slot %ld", slot), -1;
        (*list)[*n] = (int32_t)slot;
    }
    return 0;
}

static int fits_template(const Step *s, int param, int item)
{
    if (param < 0 || param >= s->schema->nparams) return 0;
    PyObject *value = PyTuple_GetItem(s->args, param);
    return item < 0 || (PyTuple_Check(value) && item < PyTuple_Size(value));
}

static int take_patches(Step *s, PyObject *tuple, int nslots)
{
    Py_ssize_t n = PyTuple_Size(tuple);
    if (n < 0 || !(s->patches = PyMem_Calloc((size_t)n + 1, sizeof *s->patches)))
        return n < 0 ? -1 : (td_no_memory(), -1);
    for (; s->npatches < n; s->npatches++) {
        int param, item, slot;
        if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, s->npatches), "iii", &param, &item, &slot))
            return -1;
        if (!fits_template(s, param, item) || slot < 0 || slot >= nslots)
            return PyErr_Format(PyExc_ValueError, "Program: %s has no place (%d, %d) for slot %d",
                                s->schema->text, param, item, slot),
                   -1;
        s->patches[s->npatches] = (Patch){(int16_t)param, (int16_t)item, slot};
    }
    return 0;
}

static int check_slots(const int32_t *list, int n) /* read, so they must be slots */
{
    for (int i = 0; i < n; i++)
        if (list[i] < 0)
            return PyErr_Format(PyExc_ValueError, "Program: a slot that is read is -1"), -1;
    return 0;
}

static int take_row(Step *s, const char *text, PyObject *args)
{
    if (!(s->schema = td_find_schema(text)))
        return PyErr_Format(PyExc_ValueError, "the op table has no '%s'", text), -1;
    if (s->schema->kind == TD_KIND_COMPOSITE || PyTuple_Size(args) != s->schema->nparams)
        return PyErr_Format(PyExc_ValueError,
                            "Program: %s is made of others, or its arguments are not all there",
                            text),
               -1;
    s->function = (td_function){s->schema->op.name,
                                s->schema->namespace_,
                                "",
                                &s->schema,
                                1,
                                1,
                                0,
                                s->form == INPLACE,
                                NULL};
    return 0;
}

/* (row, form, constants, patches, outs, targets, ends, joins) */
static int take_step(Step *s, PyObject *given, int nslots)
{
    const char *text;
    PyObject *args, *patches, *outs, *targets, *ends;
    if (!PyArg_ParseTuple(given, "siO!O!OOOp", &text, &s->form, &PyTuple_Type, &args, &PyTuple_Type,
                          &patches, &outs, &targets, &ends, &s->joins))
        return -1;
    if (s->form != GRADIENT && take_row(s, text, args) < 0) return -1;
    s->args = Py_NewRef(args);
    if (take_patches(s, patches, nslots) < 0 || take_slots(outs, &s->outs, &s->nouts, nslots) < 0 ||
        take_slots(targets, &s->targets, &s->ntargets, nslots) < 0 ||
        take_slots(ends, &s->ends, &s->nends, nslots) < 0)
        return -1;
    if (s->form == GRADIENT && (s->npatches || s->nouts || s->ntargets < 1 || s->ntargets > 2))
        return PyErr_Format(PyExc_ValueError,
                            "Program: a gradient is assigned to one slot, from one or none"),
               -1;
    return check_slots(s->targets, s->ntargets) < 0 ? -1 : check_slots(s->ends, s->nends);
}

/* A gradient that arrives at it calls somebody. */
static int hooked(const PyTensor *p)
{
    return p->hooks || (p->accumulate && p->accumulate->has_hooks);
}

static int take_input(Facts *f, PyObject *o, int asked)
{
    f->asked = (uint8_t)asked;
    if (PyFloat_CheckExact(o))
        return f->type = (PyTypeObject *)Py_NewRef((PyObject *)Py_TYPE(o)), 0;
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "Program: an input is a Tensor or a float, got %R",
                            Py_TYPE(o)),
               -1;
    if (td_has_parts((PyTensor *)o)) return td_refuse_memory(o, "an input of a Program"), -1;
    if (((PyTensor *)o)->named) return td_refuse_names("an input of a Program"), -1;
    const td_tensor *t = TD_T(o);
    td_status status = td_tensor_empty_strided(&f->like, (td_dtype)t->dtype, TD_META, t->ndim,
                                               t->sizes, t->strides);
    if (status) return td_raised(status);
    f->like->device = t->device;
    f->like->flags = t->flags & (TD_FLAG_CONJ | TD_FLAG_NEG | TD_FLAG_INFERENCE | TD_FLAG_WRAPPED);
    f->type = (PyTypeObject *)Py_NewRef((PyObject *)Py_TYPE(o));
    f->requires_grad = (uint8_t)td_requires_grad((PyTensor *)o);
    f->computed = ((PyTensor *)o)->node != NULL;
    f->hooked = (uint8_t)hooked((PyTensor *)o);
    return 0;
}

static int fill(Program *p, PyObject *steps, PyObject *examples, PyObject *outputs,
                const int *given) /* how many inputs are EXACT, how many ANY_HISTORY */
{
    Py_ssize_t nsteps = PyTuple_Size(steps), ninputs = PyTuple_Size(examples);
    p->steps = PyMem_Calloc((size_t)nsteps + 1, sizeof *p->steps);
    p->facts = PyMem_Calloc((size_t)ninputs + 1, sizeof *p->facts);
    p->chained = PyMem_Calloc((size_t)nsteps + 1, sizeof *p->chained);
    if (!p->steps || !p->facts || !p->chained) return td_no_memory(), -1;
    if (p->nslots < ninputs)
        return PyErr_Format(PyExc_ValueError, "Program: %d slots are too few for the inputs",
                            p->nslots),
               -1;
    for (; p->ninputs < ninputs; p->ninputs++) {
        int n = p->ninputs, asked = EXACT;
        if (n >= given[0]) asked = n < given[0] + given[1] ? ANY_HISTORY : ANY_LAYOUT;
        if (take_input(&p->facts[n], PyTuple_GetItem(examples, n), asked) < 0) return -1;
    }
    memset(p->chained, -1, sizeof *p->chained * ((size_t)nsteps + 1));
    for (; p->nsteps < nsteps; p->nsteps++)
        if (take_step(&p->steps[p->nsteps], PyTuple_GetItem(steps, p->nsteps), p->nslots) < 0)
            return p->nsteps++, -1;
    if (take_slots(outputs, &p->outputs, &p->noutputs, p->nslots) < 0) return -1;
    return check_slots(p->outputs, p->noutputs);
}

/* Program(steps, number of slots, examples of the inputs, slots of the outputs[, exact, layouts]):
 * the first `exact` inputs have to be like their examples in all, of the next `layouts` type and
 * history may be another, of the rest the strides as well */
static PyObject *program_new(PyTypeObject *type, PyObject *given, PyObject *kw)
{
    PyObject *steps, *examples, *outputs;
    int nslots, kinds[2] = {INT32_MAX / 2, 0};
    if (!PyArg_ParseTuple(given, "O!iO!O!|ii", &PyTuple_Type, &steps, &nslots, &PyTuple_Type,
                          &examples, &PyTuple_Type, &outputs, &kinds[0], &kinds[1]))
        return NULL;
    if (kinds[0] < 0 || kinds[1] < 0 || kinds[1] > INT32_MAX / 2)
        return PyErr_Format(PyExc_ValueError, "Program: numbers of inputs are not below 0");
    Program *p = (Program *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!p) return NULL;
    p->nslots = nslots;
    if (fill(p, steps, examples, outputs, kinds) < 0) Py_CLEAR(p);
    return (PyObject *)p;
}

static void program_dealloc(PyObject *o)
{
    Program *p = (Program *)o;
    PyTypeObject *type = Py_TYPE(o);
    for (int i = 0; i < p->nsteps; i++) {
        Step *s = &p->steps[i];
        Py_XDECREF(s->args);
        PyMem_Free(s->patches);
        PyMem_Free(s->outs);
        PyMem_Free(s->targets);
        PyMem_Free(s->ends);
    }
    for (int i = 0; i < p->ninputs; i++) {
        td_tensor_free(p->facts[i].like);
        Py_XDECREF((PyObject *)p->facts[i].type);
    }
    PyMem_Free(p->steps);
    PyMem_Free(p->facts);
    PyMem_Free(p->outputs);
    PyMem_Free(p->chained);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(o);
    Py_DECREF(type);
}

/* ---- run ---- */
static int same_layout(const td_tensor *a, const td_tensor *b, int strides)
{
    size_t bytes = sizeof(int64_t) * (size_t)a->ndim;
    uint8_t flags = TD_FLAG_CONJ | TD_FLAG_NEG | TD_FLAG_INFERENCE | TD_FLAG_WRAPPED;
    return a->dtype == b->dtype && a->device == b->device && a->ndim == b->ndim &&
           (a->flags & flags) == (b->flags & flags) && !memcmp(a->sizes, b->sizes, bytes) &&
           !(strides && memcmp(a->strides, b->strides, bytes));
}

static int fits(const Facts *f, PyObject *o)
{
    if (!f->like || f->asked == EXACT ? Py_TYPE(o) != f->type : !td_is_tensor(o)) return 0;
    if (f->like && (td_has_parts((PyTensor *)o) || ((PyTensor *)o)->named)) return 0;
    if (!f->like) return 1;
    const PyTensor *p = (PyTensor *)o;
    if (f->asked != EXACT) return same_layout(f->like, p->t, f->asked < ANY_LAYOUT) && !p->dual;
    return same_layout(f->like, p->t, 1) && td_requires_grad(p) == f->requires_grad &&
           (p->node != NULL) == f->computed && hooked(p) == f->hooked && !p->dual;
}

static PyObject *argument(td_frame *f, const Step *s, int k, int *at,
                          PyObject **values) /* patches come in the order of their places */
{
    PyObject *value = PyTuple_GetItem(s->args, k);
    if (*at == s->npatches || s->patches[*at].param != k) return value;
    if (s->patches[*at].item < 0) return values[s->patches[(*at)++].slot];
    Py_ssize_t n = PyTuple_Size(value);
    PyObject *made = td_frame_hold(f, PyTuple_New(n));
    for (Py_ssize_t i = 0; made && i < n; i++) {
        int patched = *at < s->npatches && s->patches[*at].param == k && s->patches[*at].item == i;
        PyTuple_SetItem(
            made, i,
            Py_NewRef(patched ? values[s->patches[(*at)++].slot] : PyTuple_GetItem(value, i)));
    }
    return made;
}

static int bind(td_frame *f, const Step *s, PyObject **values)
{
    for (int k = 0, at = 0; k < s->schema->nparams; k++) {
        PyObject *value = argument(f, s, k, &at, values);
        if (!value)
            return PyErr_Occurred()
                       ? -1
                       : (PyErr_Format(PyExc_RuntimeError, "Program: %s reads an empty slot",
                                       s->schema->text),
                          -1);
        int status = td_bind(f, k, value);
        if (status == 0 && s->schema->params[k].type == TD_T_TENSOR && td_is_number(value))
            status = td_bind_number(f, k, value);
        if (status == 1) continue;
        if (status == 0)
            PyErr_Format(PyExc_TypeError, "Program: %s: argument %d got %R", s->schema->text, k,
                         Py_TYPE(value));
        return -1;
    }
    return 0;
}

static int set_form(td_frame *f, const Step *s, PyObject **values)
{
    f->inplace = s->form == INPLACE;
    if (s->form != OUT) return 0;
    if (s->ntargets == 1) return f->out = values[s->targets[0]], 0;
    PyObject *made = f->out = td_frame_hold(f, PyTuple_New(s->ntargets));
    for (int i = 0; made && i < s->ntargets; i++)
        PyTuple_SetItem(made, i, Py_NewRef(values[s->targets[i]]));
    return made ? 0 : -1;
}

/* None when the steps were made: an optional result of an operator that was defined at run time */
static int was_missing(const Step *s, int i)
{
    return td_is_defined(s->schema->custom) &&
           (s->schema->list_result || s->schema->return_alias[i] < 0);
}

static int refuse_extra(const Step *s, int i)
{
    PyErr_Format(PyExc_RuntimeError, "Program: %s has a result %d where it had None",
                 s->schema->text, i);
    return -1;
}

static int keep(const Step *s, PyObject *made, PyObject **values) /* takes it over */
{
    int list = s->schema->list_result || s->nouts > 1, status = 0;
    if (list && PyList_Check(made)) /* as operators that were defined at run time give them */
        Py_SETREF(made, PyList_AsTuple(made));
    if (!made) return -1;
    if (list && (!PyTuple_Check(made) || PyTuple_Size(made) != s->nouts)) {
        PyErr_Format(PyExc_RuntimeError, "Program: %s has other results than it had",
                     s->schema->text);
        status = -1;
    }
    for (int i = 0; status == 0 && i < s->nouts; i++) {
        PyObject *one = list ? PyTuple_GetItem(made, i) : made;
        if (s->outs[i] >= 0) Py_XSETREF(values[s->outs[i]], Py_NewRef(one));
        else if (was_missing(s, i) && one != Py_None) status = refuse_extra(s, i);
    }
    Py_DECREF(made);
    return status;
}

/* Does a view lie within the storage of its base? */
static int within(const td_tensor *base, int ndim, const int64_t *sizes, const int64_t *strides,
                  int64_t offset)
{
    int64_t first = offset, last = offset,
            room = base->storage->nbytes / td_itemsize((td_dtype)base->dtype);
    for (int i = 0; i < ndim; i++) {
        if (sizes[i] <= 0) return 1;
        int64_t far, *end = strides[i] < 0 ? &first : &last;
        if (td_mul_overflows(strides[i], sizes[i] - 1, &far) || td_add_overflows(*end, far, end))
            return 0;
    }
    return first >= 0 && last < room;
}

static int run_view(const Step *s, PyObject **values) /* VIEW and DATA */
{
    td_frame f;
    td_frame_open(&f);
    td_frame_row(&f, &s->function, s->schema);
    int ready = bind(&f, s, values) == 0 && f.call.args[1].kind == TD_ARG_INTS &&
                f.call.args[2].kind == TD_ARG_INTS && f.call.args[3].kind == TD_ARG_INT &&
                f.call.args[1].n == f.call.args[2].n && f.call.args[1].n <= TD_MAX_DIMS &&
                s->nouts == 1 && s->outs[0] >= 0;
    td_tensor *made = NULL;
    if (ready) {
        const td_tensor *base = f.call.args[0].tensor;
        int ndim = (int)f.call.args[1].n;
        int64_t offset = base->offset + f.call.args[3].i;
        if (!within(base, ndim, f.call.args[1].ints, f.call.args[2].ints, offset))
            PyErr_Format(PyExc_RuntimeError, "Program: a view is outside of its tensor's memory");
        else {
            td_status status =
                td_tensor_view(&made, base, ndim, f.call.args[1].ints, f.call.args[2].ints, offset);
            if (!status && s->form == DATA && (status = td_tensor_detach_version(made)))
                td_tensor_free(made);
            if (status) made = NULL, td_raise(status);
        }
    } else if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError,
                     "Program: a view wants a tensor, sizes, strides and an offset");
    PyObject *o = made ? td_wrap(made) : NULL;
    td_frame_close(&f);
    if (o) Py_XSETREF(values[s->outs[0]], o);
    return o ? 0 : -1;
}

static int run_gradient(const Step *s, PyObject **values)
{
    PyObject *leaf = values[s->targets[0]], *gradient = NULL;
    if (s->ntargets == 2) gradient = values[s->targets[1]];
    if (!leaf || !td_is_tensor(leaf) || (s->ntargets == 2 && !(gradient && td_is_tensor(gradient))))
        return PyErr_Format(PyExc_RuntimeError, "Program: a gradient reads an empty slot"), -1;
    td_gradients_set++;
    Py_XSETREF(((PyTensor *)leaf)->grad, (PyTensor *)Py_XNewRef(gradient));
    return 0;
}

static int run_step(const Step *s, PyObject **values)
{
    if (s->form == GRADIENT) return run_gradient(s, values);
    if (s->form == VIEW || s->form == DATA) return run_view(s, values);
    td_frame f;
    td_frame_open(&f);
    td_frame_row(&f, &s->function, s->schema);
    int ready = bind(&f, s, values) == 0 && set_form(&f, s, values) == 0;
    PyObject *made = ready ? td_run(&f) : NULL;
    td_frame_close(&f);
    return made ? keep(s, made, values) : -1;
}

/* ---- elementwise steps wait for each other; meanwhile what they read stays ---- */
typedef struct Waiting {
    td_waiting *joined; /* owned; NULL until a step joins */
    PyObject *held;     /* owned list: values that nobody reads later */
    int64_t bytes;
} Waiting;

#define TD_WAIT_BYTES ((int64_t)1 << 30)

static int settle(Waiting *w)
{
    if (!w->joined) return 0;
    td_wait_run(w->joined);
    w->bytes = 0;
    return PyList_SetSlice(w->held, 0, PyList_Size(w->held), NULL);
}

static int begin_step(Waiting *w, const Program *p, int n)
{
    const Step *s = &p->steps[n];
    if (s->form == GRADIENT) return 0; /* reads no value: the others may go on waiting */
    if (!s->joins) return settle(w);
    if (!w->joined) {
        if (!(w->joined = PyMem_Malloc(sizeof *w->joined)) || !(w->held = PyList_New(0)))
            return td_no_memory(), -1;
        td_wait_begin(w->joined);
        w->joined->chained = p->chained;
    }
    w->joined->tag = n;
    td_waits = w->joined;
    return w->bytes > TD_WAIT_BYTES ? settle(w) : 0;
}

static int end_slot(Waiting *w, PyObject **slot) /* nobody reads it later */
{
    PyObject *o = *slot;
    if (!o || !w->joined || !w->joined->n) {
        Py_CLEAR(*slot);
        return 0;
    }
    if (td_is_tensor(o) && td_sole_owner(o)) td_wait_dead(w->joined, td_data(TD_T(o)));
    w->bytes += td_is_tensor(o) ? TD_T(o)->storage->nbytes : 0;
    *slot = NULL;
    int status = PyList_Append(w->held, o);
    Py_DECREF(o);
    return status;
}

static TD_THREAD_LOCAL int stopped_at = -1; /* the step at which this thread's last run ended */

static int run_steps(const Program *p, PyObject **values)
{
    Waiting w = {0};
    int status = 0;
    for (int n = 0; status == 0 && n < p->nsteps; n++) {
        const Step *s = &p->steps[n];
        status = begin_step(&w, p, n);
        if (status == 0) status = run_step(s, values);
        td_waits = NULL;
        if (status < 0) stopped_at = n;
        for (int i = 0; status == 0 && i < s->nends; i++)
            status = end_slot(&w, &values[s->ends[i]]);
    }
    /* after a failure too: what was written before it is written */
    if (settle(&w) < 0) status = -1, stopped_at = p->nsteps;
    PyMem_Free(w.joined);
    Py_XDECREF(w.held);
    return status == 0 ? td_tell_of_chains() : status;
}

static PyObject *collect(const Program *p, PyObject **values)
{
    PyObject *made = PyTuple_New(p->noutputs);
    for (int i = 0; made && i < p->noutputs; i++)
        PyTuple_SetItem(made, i,
                        Py_NewRef(values[p->outputs[i]] ? values[p->outputs[i]] : Py_None));
    return made;
}

/* run(inputs): the outputs, or NotImplemented before anything ran if an input is not like its
 * example */
static PyObject *program_run(PyObject *o, PyObject *inputs)
{
    const Program *p = (Program *)o;
    if (!PyTuple_Check(inputs) || PyTuple_Size(inputs) != p->ninputs)
        return PyErr_Format(PyExc_TypeError, "Program: wanted a tuple of %d tensors", p->ninputs);
    for (int i = 0; i < p->ninputs; i++)
        if (!fits(&p->facts[i], PyTuple_GetItem(inputs, i))) Py_RETURN_NOTIMPLEMENTED;
    PyObject **values = PyMem_Calloc((size_t)p->nslots + 1, sizeof *values), *made = NULL;
    if (!values) return td_no_memory();
    for (int i = 0; i < p->ninputs; i++) values[i] = Py_NewRef(PyTuple_GetItem(inputs, i));
    uint8_t grad_mode = td_here.grad_mode;
    td_here.grad_mode = 0;
    int status = run_steps(p, values);
    if (status == 0) stopped_at = -1;
    td_here.grad_mode = grad_mode;
    if (status == 0) made = collect(p, values);
    for (int i = 0; i < p->nslots; i++) Py_XDECREF(values[i]);
    PyMem_Free(values);
    return made;
}

/* storage_key(tensor): a number that tensors share as long as they share memory */
static PyObject *storage_key(PyObject *m, PyObject *o)
{
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "storage_key: wanted a Tensor, got %R", Py_TYPE(o));
    return PyLong_FromVoidPtr(TD_T(o)->storage);
}

/* next_age(): memory that is made from now on, by any thread, is of this age at least */
static PyObject *next_age(PyObject *m, PyObject *ignored)
{
    return PyLong_FromUnsignedLong(__atomic_add_fetch(&td_storage_age, 1, __ATOMIC_RELAXED));
}

/* age_of(tensor): of its memory */
static PyObject *age_of(PyObject *m, PyObject *o)
{
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "age_of: wanted a Tensor, got %R", Py_TYPE(o));
    return PyLong_FromUnsignedLong(TD_T(o)->storage->born);
}

/* stopped_at(): at which step the last run of this thread raised; -1 if it did not */
static PyObject *get_stopped_at(PyObject *m, PyObject *ignored)
{
    return PyLong_FromLong(stopped_at);
}

/* gradient_count(): how often a .grad was assigned in this process */
static PyObject *gradient_count(PyObject *m, PyObject *ignored)
{
    return PyLong_FromUnsignedLongLong(td_gradients_set);
}

/* version_key(tensor): a number that tensors share as long as they share their version */
static PyObject *version_key(PyObject *m, PyObject *o)
{
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "version_key: wanted a Tensor, got %R", Py_TYPE(o));
    const td_tensor *t = TD_T(o);
    return PyLong_FromVoidPtr(t->own_version ? (void *)t->own_version : (void *)t->storage);
}

/* set_version(tensor, number): for who has put back what the tensor held at that version */
static PyObject *set_version(PyObject *m, PyObject *given)
{
    PyObject *o;
    unsigned int number;
    if (!PyArg_ParseTuple(given, "OI", &o, &number)) return NULL;
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "set_version: wanted a Tensor, got %R", Py_TYPE(o));
    td_version *own = TD_T(o)->own_version;
    *(own ? &own->value : &TD_T(o)->storage->version) = number;
    Py_RETURN_NONE;
}

/* chains(): of each step, the chain that it was a part of in the last run, or -1 */
static PyObject *program_chains(PyObject *o, PyObject *ignored)
{
    const Program *p = (Program *)o;
    PyObject *made = PyTuple_New(p->nsteps);
    for (int i = 0; made && i < p->nsteps; i++)
        PyTuple_SetItem(made, i, PyLong_FromLong(p->chained[i]));
    return made;
}

static PyMethodDef methods[] = {
    {"chains", program_chains, METH_NOARGS,
     "chains(): the number of the chain of which each step was a part in the last run, or -1."},
    {"run", program_run, METH_O,
     "run(inputs): the outputs, or NotImplemented if an input is not like its example."},
    {0}};
/* number_in(tensor): the Python number that it stands for, or None if it is a tensor by right */
static PyObject *number_in(PyObject *m, PyObject *o)
{
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "number_in: wanted a Tensor, got %R", Py_TYPE(o));
    if (!(TD_T(o)->flags & TD_FLAG_WRAPPED)) Py_RETURN_NONE;
    return td_item(TD_T(o));
}

static PyMethodDef functions[] = {
    {"call_key", td_call_key, METH_O,
     "call_key(args): what a call is like, and its tensors; None if an argument is none."},
    {"gradients_are", td_gradients_are, METH_VARARGS,
     "gradients_are(tensors, numbers, there): are these leaves with a gradient, or without one?"},
    {"number_in", number_in, METH_O, "The Python number that a tensor stands for, or None."},
    {"storage_key", storage_key, METH_O, "A number that tensors share while they share memory."},
    {"set_version", set_version, METH_VARARGS,
     "set_version(tensor, number): for who has put back what it held at that version."},
    {"version_key", version_key, METH_O, "A number that tensors share while they share a version."},
    {"next_age", next_age, METH_NOARGS, "Memory that is made from now on is of this age at least."},
    {"age_of", age_of, METH_O, "The age of a tensor's memory."},
    {"stopped_at", get_stopped_at, METH_NOARGS,
     "The step at which this thread's last run of a program raised; -1 if it did not."},
    {"gradient_count", gradient_count, METH_NOARGS, "How often a .grad was assigned so far."},
    {0}};

int td_add_program(PyObject *module)
{
    static PyType_Slot slots[] = {{Py_tp_new, program_new},
                                  {Py_tp_dealloc, program_dealloc},
                                  {Py_tp_methods, methods},
                                  {Py_tp_doc, "A list of kernel calls, run in one go."},
                                  {0}};
    static PyType_Spec spec = {"taeda._native.core.Program", sizeof(Program), 0, Py_TPFLAGS_DEFAULT,
                               slots};
    PyObject *type = PyType_FromSpec(&spec);
    int status = type ? PyModule_AddObjectRef(module, "Program", type) : -1;
    if (status == 0) status = PyModule_AddFunctions(module, functions);
    if (status == 0) status = td_add_chains(module);
    if (status == 0) status = td_add_plans(module);
    if (status == 0) status = td_add_unchanged(module);
    Py_XDECREF(type);
    return status;
}
