/* checksum.c - crc32() and crc32c() for Python: files are read and written at the speed of memory.
 */
#include "binding/binding.h"
#include "runtime/checksum.h"

static PyObject *checksum(PyObject *args, uint32_t (*compute)(uint32_t, const void *, size_t))
{
    Py_buffer view;
    unsigned int before = 0;
    if (!PyArg_ParseTuple(args, "y*|I", &view, &before)) return NULL;
    uint32_t sum;
    /* giving the lock back costs more */
    if (view.len < 1 << 16) sum = compute(before, view.buf, (size_t)view.len);
    else {
        Py_BEGIN_ALLOW_THREADS
        sum = compute(before, view.buf, (size_t)view.len);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&view);
    return PyLong_FromUnsignedLong(sum);
}
static PyObject *crc32(PyObject *m, PyObject *args) { return checksum(args, td_crc32); }
static PyObject *crc32c(PyObject *m, PyObject *args) { return checksum(args, td_crc32c); }

static PyMethodDef methods[] = {
    {"crc32", crc32, METH_VARARGS, "crc32(bytes, before=0): zlib's checksum, faster."},
    {"crc32c", crc32c, METH_VARARGS, "crc32c(bytes, before=0): the checksum of checkpoints."},
    {0}};
PyMethodDef *td_checksum_methods(void) { return methods; }
