/* error.h - how the runtime and the operators report failure.
 * A function that can fail returns td_status; the text waits in a thread-local buffer until the
 * caller (the Python layer, or an extension) turns it into an exception of the named type. */
#ifndef TD_ERROR_H
#define TD_ERROR_H

typedef enum td_status {
    TD_OK = 0,
    TD_RUNTIME_ERROR,
    TD_TYPE_ERROR,
    TD_VALUE_ERROR,
    TD_INDEX_ERROR,
    TD_NOT_IMPLEMENTED, /* a RuntimeError of the subclass NotImplementedError */
    TD_MEMORY_ERROR,
    TD_LINALG_ERROR,
    TD_PYTHON_ERROR, /* a Python exception is already set; the message buffer is not used */
} td_status;

/* Store the printf-style message for this thread and return `kind`. */
td_status td_fail(td_status kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *td_error_message(void);

#define TD_TRY(call)                                      \
    do {                                                  \
        td_status td_try_status = (call);                 \
        if (td_try_status != TD_OK) return td_try_status; \
    } while (0)

#endif
