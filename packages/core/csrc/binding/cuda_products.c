/* cuda_products.c - cuBLASLt is found by Python; what products may round. */
#include "binding/cuda.h"
#include "cpu/conv/conv_run.h"
#include "cuda/cublaslt.h"
#include "cuda/driver.h"

static td_status ask_python(int major, void **library)
{
    static PyObject *open_product_library;
    PyObject *made = NULL;
    if (td_python_function(&open_product_library, "taeda.cuda._blas", "open_product_library"))
        made = PyObject_CallFunction(open_product_library, "i", major);
    *library = made ? PyLong_AsVoidPtr(made) : NULL;
    Py_XDECREF(made);
    return PyErr_Occurred() ? TD_PYTHON_ERROR : TD_OK;
}

static td_status open_library(int major, void **library)
{
    PyGILState_STATE state = PyGILState_Ensure();
    td_status status = ask_python(major, library);
    PyGILState_Release(state);
    return status;
}

/* product_rounding(flag, on) -> all that are on */
static PyObject *product_rounding(PyObject *m, PyObject *args)
{
    int flag, on;
    if (!PyArg_ParseTuple(args, "ip", &flag, &on)) return NULL;
    td_lt_allowed = on ? td_lt_allowed | flag : td_lt_allowed & ~flag;
    return PyLong_FromLong(td_lt_allowed);
}

/* conv_columns(bytes) -> what it was */
static PyObject *conv_columns(PyObject *m, PyObject *args)
{
    int64_t before = td_conv_columns_bytes;
    long long bytes;
    if (!PyArg_ParseTuple(args, "L", &bytes)) return NULL;
    if (bytes < 1) return PyErr_Format(PyExc_ValueError, "columns need bytes, got %lld", bytes);
    td_conv_columns_bytes = bytes;
    return PyLong_FromLongLong(before);
}

/* driver_version() -> 13000 for CUDA 13.0 */
static PyObject *driver_version(PyObject *m, PyObject *unused)
{
    int version = 0;
    TD_PY(td_cuda_driver_open());
    int code = td_cu.cuDriverGetVersion(&version);
    if (code) return td_raise(td_cuda_failed(code, "asking for the version of the driver"));
    return PyLong_FromLong(version);
}

static PyMethodDef methods[] = {
    {"cuda_product_rounding", product_rounding, METH_VARARGS,
     "Set a flag of what products may round: 1 TF32; 2, 4 no partial sums in float16, bfloat16."},
    {"cuda_conv_columns", conv_columns, METH_VARARGS,
     "Let gradients of convolution weights make so many bytes of columns at once: what it was."},
    {"cuda_driver_version", driver_version, METH_NOARGS, "The CUDA that the driver serves."},
    {NULL, NULL, 0, NULL},
};

int td_add_cuda_products(PyObject *module)
{
    td_lt_open = open_library;
    return PyModule_AddFunctions(module, methods);
}
