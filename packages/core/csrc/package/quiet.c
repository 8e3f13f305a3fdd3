/* quiet.c - stretches of code amid which nothing of the program runs: no handler of a signal and no
 * finalizer that a collection calls.
 *
 * Python runs handlers in its main thread, whichever thread the system gave the signal to. So to
 * block signals in one thread is not enough: another takes them. While the main thread is in a
 * stretch, signals that have a handler come to `note` below, and are sent again at its end.
 * Handlers of Python keep their place in its table, the flags of the system's entry are kept (a
 * call that is interrupted begins again or not, as ever), and a descriptor that wakes an event loop
 * gets one byte, at the end. Signals that tell of the instruction at hand cannot wait.
 *
 * All of it is done under the interpreter's lock, and no line of Python runs within: no handler
 * finds a door that is half open. */
#include "package/quiet.h"
#include <signal.h>
#include <unistd.h>

enum { MOST = 64 };

static _Thread_local int depth;      /* stretches that this thread is in */
static _Thread_local int holds;      /* whether its first one holds signals */
static int threads;                  /* how many have a depth */
static int collects;                 /* whether collections were on before the first of them */
static unsigned long long held;      /* bit n - 1: signal n comes to `note` */
static struct sigaction plain[MOST]; /* what was there before */
static volatile sig_atomic_t came[MOST];

static void note(int number) { came[number - 1] = 1; }

static int tells_of_an_instruction(int number)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if (numbers[i] == number) return 1;
    return 0;
}

/* Whether Python runs handlers in this thread; -1 on failure. Its `signal` says so before it looks
 * at what it was given, here no handler: nothing changes. */
static int runs_handlers(PyObject *module)
{
    PyObject *done = PyObject_CallMethod(module, "signal", "iO", SIGINT, Py_None);
    if (done) { /* no Python does that */
        Py_DECREF(done);
        return 0;
    }
    int here = PyErr_ExceptionMatches(PyExc_TypeError);
    if (!here && !PyErr_ExceptionMatches(PyExc_ValueError)) return -1;
    PyErr_Clear();
    return here;
}

/* Whether Python has a handler for the signal; -1 on failure. */
static int has_handler(PyObject *module, int number)
{
    PyObject *handler = PyObject_CallMethod(module, "getsignal", "i", number);
    if (!handler && PyErr_ExceptionMatches(PyExc_ValueError)) { /* there is no such signal */
        PyErr_Clear();
        return 0;
    }
    if (!handler) return -1;
    int has = PyCallable_Check(handler);
    Py_DECREF(handler);
    return has;
}

static int is_noted(const struct sigaction *action)
{
    return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == note;
}

static void hold(int number)
{
    struct sigaction *before = &plain[number - 1];
    if (sigaction(number, NULL, before) || is_noted(before)) return;
    if (!(before->sa_flags & SA_SIGINFO) &&
        (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN))
        return; /* somebody's C took it away from Python */
    struct sigaction own = *before;
    own.sa_flags &= ~(SA_SIGINFO | SA_RESETHAND);
    own.sa_handler = note;
    if (!sigaction(number, &own, NULL)) held |= 1ull << (number - 1);
}

static int hold_signals(void)
{
    PyObject *name = PyUnicode_FromString("_signal");
    PyObject *module = name ? PyImport_GetModule(name) : NULL; /* none: no handlers */
    int here = module ? runs_handlers(module) : -(PyErr_Occurred() != NULL);
    for (int number = 1; here > 0 && number <= MOST && number < NSIG; number++) {
        int has = tells_of_an_instruction(number) ? 0 : has_handler(module, number);
        if (has > 0) hold(number);
        if (has < 0) here = -1;
    }
    Py_XDECREF(name);
    Py_XDECREF(module);
    return here;
}

/* Put all back, but what was changed meanwhile. */
static void put_back(void)
{
    for (int number = 1; number <= MOST; number++) {
        struct sigaction now;
        if (!(held >> (number - 1) & 1) || sigaction(number, NULL, &now)) continue;
        if (is_noted(&now)) sigaction(number, &plain[number - 1], NULL);
    }
    held = 0;
}

static void let_signals(void)
{
    put_back();
    for (int number = 1; number <= MOST; number++) {
        if (!came[number - 1]) continue;
        came[number - 1] = 0;
        kill(getpid(),
             number); /* its handler runs when Python looks next, after the function below */
    }
}

static void leave(void)
{
    if (--depth) return;
    if (!--threads && collects) PyGC_Enable();
    if (holds) let_signals();
    holds = 0;
}

static PyObject *be_quiet(PyObject *module, PyObject *unused)
{
    if (depth++) return Py_NewRef(Py_None);
    if (!threads++) collects = PyGC_Disable();
    int here = hold_signals();
    holds = here != 0;
    if (here >= 0) return Py_NewRef(Py_None);
    leave();
    return NULL;
}

static PyObject *be_open(PyObject *module, PyObject *unused)
{
    leave();
    return Py_NewRef(Py_None);
}

/* In a child of a fork, which has one thread: what the others held is nobody's there, and what came
 * was for the parent. */
static PyObject *after_fork(PyObject *module, PyObject *unused)
{
    if (threads && !depth && collects) PyGC_Enable();
    threads = depth > 0;
    if (holds) return Py_NewRef(Py_None);
    put_back();
    for (int i = 0; i < MOST; i++) came[i] = 0;
    return Py_NewRef(Py_None);
}

int td_quiet_add_functions(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"be_quiet", be_quiet, METH_NOARGS,
         "Nothing of the program runs amid what this thread does."},
        {"be_open", be_open, METH_VARARGS,
         "Ends the last `be_quiet`; after the first, what waited runs."},
        {"after_fork", after_fork, METH_NOARGS,
         "What other threads held ends in the child of a fork."},
        {0}};
    return PyModule_AddFunctions(module, methods);
}
