/* files.c - what Python's os module lacks for files. */
#include "binding/binding.h"
#include "object/py.h" /* Python.h asks for the names of GNU */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* start_writeback(descriptor, offset, count): the device begins to write these bytes; nobody waits,
 * and no error is told, for the sync at the end tells it */
static PyObject *start_writeback(PyObject *m, PyObject *args)
{
    int descriptor;
    long long offset, count;
    if (!PyArg_ParseTuple(args, "iLL", &descriptor, &offset, &count)) return NULL;
#ifdef __linux__
    Py_BEGIN_ALLOW_THREADS(void)
    sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
    Py_END_ALLOW_THREADS
#endif
    Py_RETURN_NONE;
}

static void *close_one(void *descriptor)
{
    close((int)(intptr_t)descriptor);
    return NULL;
}

/* close_aside(descriptor): closes it in a thread of its own, which nobody waits for. The last close
 * of a file that was replaced frees its blocks, and some disks make one wait for that. Not a thread
 * of Python's: the interpreter would hand its lock to one that is not running yet. Where there can
 * be no thread, it is closed here. */
static PyObject *close_aside(PyObject *m, PyObject *args)
{
    int descriptor;
    if (!PyArg_ParseTuple(args, "i", &descriptor)) return NULL;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all); /* signals are for the program's threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, NULL, close_one, (void *)(intptr_t)descriptor);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        Py_BEGIN_ALLOW_THREADS
        close(descriptor);
        Py_END_ALLOW_THREADS
    } else {
        pthread_detach(thread);
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"start_writeback", start_writeback, METH_VARARGS,
     "start_writeback(descriptor, offset, count): begin to write to the device."},
    {"close_aside", close_aside, METH_VARARGS,
     "close_aside(descriptor): close it beside the program."},
    {0}};
PyMethodDef *td_files_methods(void) { return methods; }
