/* shared.c - storages on files and shared memory, for Python. */
#include "binding/binding.h"
#include "runtime/shared.h"

/* map_storage(fd, offset, nbytes, flags, name or None): the bytes of an open file as a tensor;
 * takes the descriptor over */
static PyObject *map_storage(PyObject *m, PyObject *args)
{
    int fd, flags;
    long long offset, nbytes;
    const char *name;
    if (!PyArg_ParseTuple(args, "iLLiz:map_storage", &fd, &offset, &nbytes, &flags, &name))
        return NULL;
    td_storage *s;
    td_tensor *t;
    TD_PY(td_shared_map(&s, fd, offset, nbytes, flags, name));
    int64_t n = nbytes, one = 1;
    td_status status = td_tensor_on_storage(&t, s, TD_U8, 1, &n, &one, 0);
    td_storage_drop(s);
    return status ? td_raise(status) : td_wrap(t);
}

/* move_storage(tensor, fd, offset, flags, name or None): write the bytes of its storage there, and
 * lie there from now on */
static PyObject *move_storage(PyObject *m, PyObject *args)
{
    PyObject *o;
    int fd, flags;
    long long offset;
    const char *name;
    if (!PyArg_ParseTuple(args, "OiLiz:move_storage", &o, &fd, &offset, &flags, &name)) return NULL;
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "move_storage: wanted a Tensor, got %S", Py_TYPE(o));
    if (td_has_parts((PyTensor *)o)) return td_refuse_memory(o, "share_memory_()");
    td_storage *s = td_pin(td_storage_keep(TD_T(o)->storage));
    td_tensor *there;
    td_status status;
    /* neither it nor what lies there changes hands before the pin is gone */
    const char *from = s->device == TD_CPU ? s->data : NULL;
    int64_t nbytes = s->nbytes;
    Py_BEGIN_ALLOW_THREADS
    status = td_shared_copy(&there, from, from ? nbytes : 0, fd, offset, flags, name);
    Py_END_ALLOW_THREADS
    if (!status) status = td_shared_land(s, there, from, fd, flags);
    td_unpin(s);
    td_storage_drop(s);
    if (status) return td_raise(status);
    Py_RETURN_NONE;
}

/* segment_facts(tensor): (shared, descriptor or -1, offset in the file, name or None), or None for
 * private memory */
static PyObject *segment_facts(PyObject *m, PyObject *o)
{
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "segment_facts: wanted a Tensor, got %S", Py_TYPE(o));
    const td_segment *s = td_segment_of(TD_T(o)->storage);
    if (!s) Py_RETURN_NONE;
    return Py_BuildValue("OiLz", s->shared ? Py_True : Py_False, s->fd, (long long)s->offset,
                         s->name);
}

/* is_fixed(tensor): whether the memory is somebody else's, or mapped, so that it cannot be resized
 */
static PyObject *is_fixed(PyObject *m, PyObject *o)
{
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "is_fixed: wanted a Tensor, got %S", Py_TYPE(o));
    return PyBool_FromLong(TD_T(o)->storage->fixed);
}

/* watch_storage(tensor, socket): tell the end of a named storage there; False if this process does
 * already */
static PyObject *watch_storage(PyObject *m, PyObject *args)
{
    PyObject *o;
    int socket;
    if (!PyArg_ParseTuple(args, "Oi:watch_storage", &o, &socket)) return NULL;
    if (!td_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "watch_storage: wanted a Tensor, got %S", Py_TYPE(o));
    return PyBool_FromLong(td_shared_watch(TD_T(o)->storage, socket));
}

static PyMethodDef methods[] = {
    {"map_storage", map_storage, METH_VARARGS,
     "map_storage(fd, offset, nbytes, flags, name): a uint8 tensor on an open file."},
    {"move_storage", move_storage, METH_VARARGS,
     "move_storage(tensor, fd, offset, flags, name): move a storage into an open file."},
    {"segment_facts", segment_facts, METH_O, "Where a mapped storage lies, or None."},
    {"is_fixed", is_fixed, METH_O, "Whether a storage cannot be resized."},
    {"watch_storage", watch_storage, METH_VARARGS,
     "watch_storage(tensor, socket): tell the end of a named storage."},
    {0}};
PyMethodDef *td_shared_methods(void) { return methods; }
