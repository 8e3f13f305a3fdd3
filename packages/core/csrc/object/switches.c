/* switches.c - a context that switches grad mode, inference mode and hidden layers of this thread.
 *
 * Python calls the handler of a signal between two instructions of Python, and the handler may
 * raise. So a context that is written in Python can be torn: what it switched, it has not noted
 * yet, or it has not begun to switch back. Here entering and leaving are one call of C each, which
 * happens or does not. */
#include "object/forward.h"

enum { LEAVE = 2 }; /* a mode that stays as it is */

typedef struct {
    PyObject_HEAD uint8_t grad, inference; /* 0, 1 or LEAVE */
    uint8_t begun;                         /* switched when it was made: entering notes nothing */
    uint32_t hide, show;                   /* bits of layers */
    struct {
        uint8_t grad, inference;
        uint32_t excluded;
    } before;
} Switches;

static int mode_from(PyObject *o, uint8_t *mode)
{
    int on = o == Py_None ? LEAVE : PyObject_IsTrue(o);
    if (on < 0) return -1;
    *mode = (uint8_t)on;
    return 0;
}

static PyObject *switches_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"grad", "inference", "hide", "show", NULL};
    PyObject *grad = Py_None, *inference = Py_None;
    unsigned int hide = 0, show = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OOII:Switches", names, &grad, &inference,
                                     &hide, &show))
        return NULL;
    Switches *s = (Switches *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!s) return NULL;
    s->hide = hide, s->show = show;
    if (mode_from(grad, &s->grad) < 0 || mode_from(inference, &s->inference) < 0) Py_CLEAR(s);
    return (PyObject *)s;
}

static void turn(Switches *s)
{
    if (s->grad != LEAVE) td_here.grad_mode = s->grad;
    if (s->inference != LEAVE) td_here.inference_mode = s->inference;
    td_here.excluded = (td_here.excluded | s->hide) & ~s->show;
}

static void note(Switches *s)
{
    s->before.grad = td_here.grad_mode;
    s->before.inference = td_here.inference_mode;
    s->before.excluded = td_here.excluded;
}

static PyObject *switches_enter(PyObject *o, PyObject *unused)
{
    Switches *s = (Switches *)o;
    if (!s->begun) note(s);
    turn(s);
    Py_RETURN_NONE;
}

static PyObject *switches_begin(PyObject *o, PyObject *unused)
{
    Switches *s = (Switches *)o;
    note(s);
    turn(s);
    s->begun = 1;
    Py_RETURN_NONE;
}

static PyObject *switches_exit(PyObject *o, PyObject *raised)
{
    Switches *s = (Switches *)o;
    uint32_t bits = s->hide | s->show;
    if (s->grad != LEAVE) td_here.grad_mode = s->before.grad;
    if (s->inference != LEAVE) td_here.inference_mode = s->before.inference;
    td_here.excluded = (td_here.excluded & ~bits) | (s->before.excluded & bits);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"__enter__", switches_enter, METH_NOARGS, "Note what is, and switch."},
    {"__exit__", switches_exit, METH_VARARGS, "Switch back to what was."},
    {"_begin", switches_begin, METH_NOARGS, "Switch now; entering then notes nothing."},
    {0}};

int td_add_switches(PyObject *module)
{
    static PyType_Slot slots[] = {{Py_tp_new, switches_new},
                                  {Py_tp_methods, methods},
                                  {Py_tp_doc, "Switches(grad=None, inference=None, hide=0, "
                                              "show=0): a context; None leaves a mode as it is."},
                                  {0}};
    static PyType_Spec spec = {"taeda._native.core.Switches", sizeof(Switches), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    PyObject *type = PyType_FromSpec(&spec);
    int status = type ? PyModule_AddObjectRef(module, "Switches", type) : -1;
    Py_XDECREF(type);
    return status;
}
