/* lock.c - Python's lock, as an extension meets it: nothing unwinds through its frames, and a
 * kernel may give the lock up. */
#include <unistd.h>
#include "abi/abi.h"

/* Before 3.14 an interpreter that ends unwinds each thread which asks it for its lock. Through an
 * extension's frames that would run what is written there against exceptions, and C++ ends a
 * process whose handler stops such an unwinding. So it ends at the table: the thread waits, as it
 * does from 3.14 on, until the process is gone. */
void td_abi_stay(void *unused)
{
    for (;;) pause();
}

/* Only the thread in which a kernel was called holds the lock on its behalf. */
static TD_THREAD_LOCAL short kernels;
TD_THREAD_LOCAL short td_abi_loops; /* short, as the segment of such variables is small */
int td_abi_in_loop(void) { return td_abi_loops > 0; }
static TD_THREAD_LOCAL void *given_up;

void *td_abi_python_release(void)
{
    if (!kernels || given_up || td_in_parallel() || !td_unlock_hook) return NULL;
    return given_up = td_unlock_hook();
}

void td_abi_python_acquire(void *token)
{
    if (!token || token != given_up) return;
    given_up = NULL;
    TD_NO_UNWIND_BEGIN
    td_relock_hook(token);
    TD_NO_UNWIND_END
}

int32_t td_abi_run(taeda_kernel kernel, const taeda_call *call)
{
    void *before = given_up; /* of a kernel that called this one, through an operator */
    given_up = NULL;
    kernels++;
    int32_t code = kernel(call);
    kernels--;
    if (given_up) {
        td_abi_python_acquire(given_up);
        if (!code)
            code = td_abi_fail(call->error, TAEDA_RUNTIME_ERROR,
                               "the kernel gave Python's lock up and did not take it back");
    }
    given_up = before;
    return code;
}
