/* binding.h - the parts of the tensor type and of the module, a file each. */
#ifndef TD_BINDING_H
#define TD_BINDING_H
#include "object/py.h"

int td_add_tensor_type(PyObject *module);
extern PyType_Slot td_number_slots[]; /* slots.c */
PyMethodDef *td_tensor_methods(void); /* tensor_methods.c */

/* ---- getitem.c ---- */
PyObject *td_getitem(PyObject *self, PyObject *key);
int td_setitem(PyObject *self, PyObject *key, PyObject *value);
PyObject *td_basic_view(PyObject *module, PyObject *args);

/* ---- tensor_fields.c ---- */
PyGetSetDef *td_tensor_fields(void);
/* 0, or -1 with an exception */
int td_set_requires_grad(PyObject *tensor, PyObject *on, void *unused);
/* __torch_function__ of questions that are no operators: Tensor.<name> is what was called */
int td_is_asked(PyObject *tensor); /* a mode or its type wants to answer */
PyObject *td_ask(PyObject *tensor, const char *name, PyObject *argument); /* NULL: none */
PyObject *td_ask_with(PyObject *tensor, const char *name, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames);

/* ---- functions of the module, by the file that has them ---- */
PyMethodDef *td_exchange_methods(void);
PyMethodDef *td_living_methods(void);
PyMethodDef *td_sequence_methods(void);
PyMethodDef *td_checksum_methods(void);
PyMethodDef *td_shared_methods(void);
PyMethodDef *td_layout_methods(void); /* layouts.c */
PyMethodDef *td_files_methods(void);
#endif
