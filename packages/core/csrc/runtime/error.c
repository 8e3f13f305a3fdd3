/* error.c - the message of a thread's last failure. */
#include "runtime/error.h"
#include "runtime/thread_local.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 2048 };

/* ROOM bytes from the first failure on; NULL if there was no memory for them */
static TD_THREAD_LOCAL char *message;
static pthread_key_t at_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void thread_ends(void *text)
{
    message = NULL;
    free(text);
}

static void start(void) { pthread_key_create(&at_exit, thread_ends); }

static char *room(void)
{
    pthread_once(&once, start);
    message = malloc(ROOM);
    if (message) pthread_setspecific(at_exit, message);
    return message;
}

td_status td_fail(td_status kind, const char *format, ...)
{
    char text[ROOM]; /* apart, as the arguments may quote the old message */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (message || room()) memcpy(message, text, sizeof text);
    return kind;
}

const char *td_error_message(void)
{
    return message ? message : "out of memory: not even a message could be kept";
}
