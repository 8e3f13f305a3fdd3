/* module.h - what the cffi module compiles and offers: one call that adds the C types to a Python
 * module. */
#ifndef TD_MODULE_H
#define TD_MODULE_H
/* cdef: begin */
void td_register(void);
/* cdef: end */
#endif
