/* files.c - what Python's os module lacks for files. */
#define _GNU_SOURCE
#include "python/py.h"
#include <fcntl.h>

/* start_writeback(descriptor, offset, count): the device begins to write these bytes; nobody waits, and no error is told,
 * for the sync at the end tells it */
static PyObject *start_writeback(PyObject *m, PyObject *args)
{
    int descriptor;
    long long offset, count;
    if (!PyArg_ParseTuple(args, "iLL", &descriptor, &offset, &count)) return NULL;
#ifdef __linux__
    Py_BEGIN_ALLOW_THREADS
    (void)sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
    Py_END_ALLOW_THREADS
#endif
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"start_writeback", start_writeback, METH_VARARGS, "start_writeback(descriptor, offset, count): begin to write to the device."}, {0}};
PyMethodDef *td_files_methods(void) { return methods; }
