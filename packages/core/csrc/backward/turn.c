/* turn.c - threads that run backward at once add to the gradients of shared leaves one after the
 * other: a sum that lets the interpreter lock go would lose what another thread adds meanwhile. A
 * thread may take its turn again inside its turn. */
#include <pthread.h>
#include <time.h>
#include "backward/backward.h"

/* meaningful while depth > 0; both are guarded by the interpreter lock */
static unsigned long owner;
static int depth;

static void child_starts_fresh(void) /* the owner may be a thread that a fork left behind */
{
    if (owner != PyThread_get_thread_ident()) depth = 0;
}

static void wait_a_little(void)
{
    PyThreadState *state = PyEval_SaveThread();
    nanosleep(&(struct timespec){0, 50000}, NULL);
    PyEval_RestoreThread(state);
}

void td_turn_begin(void)
{
    static int registered;
    if (!registered) registered = !pthread_atfork(NULL, NULL, child_starts_fresh);
    unsigned long me = PyThread_get_thread_ident();
    while (depth && owner != me) wait_a_little();
    owner = me;
    depth++;
}

void td_turn_end(void) { depth--; }
