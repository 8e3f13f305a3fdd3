/* error.c - the message of a thread's last failure. */
#include "runtime/error.h"
#include <stdarg.h>
#include <stdio.h>

static _Thread_local char message[2048];

td_status td_fail(td_status kind, const char *format, ...)
{
    char text[sizeof message]; /* apart, as the arguments may quote the old message */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    __builtin_memcpy(message, text, sizeof text);
    return kind;
}

const char *td_error_message(void) { return message; }
