/* shared.h - storages on memory that other processes see: files, memfds, POSIX shared memory.
 *
 *   td_storage ──context──▶ td_segment ──fd──▶ the file        a storage is `nbytes` of the file from `offset`;
 *        └──data──▶ inside [base, base + length)                the mapping begins at the page before
 *
 * Nothing here writes to a page that the system has not promised: bytes go in by pwrite, which
 * reports a full disk or a full /dev/shm, where a store through the mapping would kill the process.
 */
#ifndef TD_SHARED_H
#define TD_SHARED_H
#include <stdbool.h>
#include <sys/types.h>
#include "runtime/tensor.h"

enum {
    TD_MAP_SHARED = 1,  /* writes reach the file */
    TD_MAP_KEEP_FD = 2, /* the descriptor stays open, for sending it on */
    TD_MAP_FIND = 4     /* the storage that lies there already, if this process has one */
};

typedef struct td_segment {
    int fd; /* -1: closed */
    int shared;
    dev_t device; /* which file it is, whatever it is called */
    ino_t inode;
    char *base;
    int64_t length;
    int64_t offset; /* of the storage in the file */
    char *name;     /* as the caller gave it, or NULL */
    int watch;      /* socket on which the end of a named segment is told, or -1; not owned */
    /* the process whose socket it is: a fork inherits the number, not the duty */
    pid_t watcher_of;
    td_storage *next; /* among the storages that are found by their file */
    /* owned: where the storage lay before it was moved, while somebody may hold that address */
    td_storage *before;
} td_segment;

/* A new storage on bytes [offset, offset + nbytes) of `fd`, which is taken over on success. The
 * file must be that long. */
td_status td_shared_map(td_storage **out, int fd, int64_t offset, int64_t nbytes, int flags,
                        const char *name);
/* Sharing a storage that exists, in two steps, because the first takes its time and the second may
 * not be seen half done.
 *   copy  writes bytes into `fd` from `offset` on, and gives a handle on them there
 *   land  with the interpreter lock held: `s`, and every view of it, lies there from now on. Takes
 * the handle over, always, and
 *         `fd` on success. Fails without a change if `s` is shared already, or does not lie at `from` any more. */
td_status td_shared_copy(td_tensor **out, const char *from, int64_t nbytes, int fd, int64_t offset,
                         int flags, const char *name);
td_status td_shared_land(td_storage *s, td_tensor *there, const char *from, int fd, int flags);
/* NULL for a storage that is not mapped. */
const td_segment *td_segment_of(const td_storage *s);
/* Tell the end of a named segment on `socket`, as "-name"; false if this process does so already.
 */
bool td_shared_watch(td_storage *s, int socket);
/* One owner of a listed storage leaves; true if it was the last. */
bool td_shared_leave(td_storage *s);

#endif
