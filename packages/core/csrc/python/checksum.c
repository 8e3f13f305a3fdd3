/* checksum.c - crc32() for Python: checkpoints are read and written at the speed of memory. */
#include "python/py.h"
#include "runtime/checksum.h"

static PyObject *crc32(PyObject *m, PyObject *args)
{
    Py_buffer view;
    unsigned int before = 0;
    if (!PyArg_ParseTuple(args, "y*|I:crc32", &view, &before)) return NULL;
    uint32_t sum;
    Py_BEGIN_ALLOW_THREADS
    sum = td_crc32(before, view.buf, (size_t)view.len);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    return PyLong_FromUnsignedLong(sum);
}

static PyMethodDef methods[] = {{"crc32", crc32, METH_VARARGS, "crc32(bytes, before=0): zlib's checksum, faster."}, {0}};
PyMethodDef *td_checksum_methods(void) { return methods; }
