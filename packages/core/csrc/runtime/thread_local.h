/* thread_local.h - variables of which every thread has its own.
 *
 * A shared library reaches them through a call (__tls_get_addr) unless they lie at a fixed distance
 * from the thread's own pointer. A call of an operator asks ten times, so they do where the C
 * library allows it. That space is small and shared with all other libraries (glibc keeps about
 * 1,600 bytes for those that are opened late): numbers and pointers only. */
#ifndef TD_THREAD_LOCAL_H
#define TD_THREAD_LOCAL_H
#include <stdint.h> /* says whether this is glibc */

#if defined(__GLIBC__)
#define TD_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define TD_THREAD_LOCAL _Thread_local
#endif
#endif
