/* watch.h - somebody records what the operations of this thread are (TD_LAYER_TRACE) and has to
 * hear of what is none of them: a value that becomes a Python number, memory that is handed out or
 * exchanged. Not while the one tracer only reads noted calls. */
#ifndef TD_WATCH_H
#define TD_WATCH_H
#include "object/py.h"

/* calls taeda._layers.dispatch.note_untraced(what); raises nothing */
void td_tell_watcher(const char *what);
/* one that holds numbers of Python: calls taeda._layers.dispatch.note_made(tensor) */
void td_tell_made(PyObject *tensor);
static inline int td_watched(void)
{
    return (td_here.layers & ~td_here.excluded & TD_LAYER_TRACE) && !td_here.noting;
}
static inline void td_note_untraced(const char *what)
{
    if (__builtin_expect(td_watched(), 0)) td_tell_watcher(what);
}
#endif
