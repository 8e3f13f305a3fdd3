/* quiet.h - what `_parts/packages.py` has in C. */
#ifndef TD_PACKAGE_QUIET_H
#define TD_PACKAGE_QUIET_H
#include <Python.h>

/* Give the module its functions: be_quiet, be_open, after_fork. -1 and an exception on failure. */
int td_quiet_add_functions(PyObject *module);

#endif
