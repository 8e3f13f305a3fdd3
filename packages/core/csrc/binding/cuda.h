/* cuda.h - the functions behind taeda.cuda. */
#ifndef TD_BINDING_CUDA_H
#define TD_BINDING_CUDA_H
#include "object/py.h"

int td_add_cuda(PyObject *module); /* 0, or -1 with an exception */
int td_add_cuda_memory(PyObject *module);
int td_add_cuda_ipc(PyObject *module);
int td_add_cuda_products(PyObject *module);
int td_add_cuda_graphs(PyObject *module); /* cuda_graphs.c */

#endif
