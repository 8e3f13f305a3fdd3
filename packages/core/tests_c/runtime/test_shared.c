/* test_shared.c - storages on files: found again, refused where the file is too short, and whole
 * when the system fails. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "harness.h"
#include "runtime/alloc.h"
#include "runtime/shared.h"

static int file(int64_t bytes)
{
    int fd = memfd_create("test", 0);
    if (fd < 0 || ftruncate(fd, bytes)) FAIL("no file");
    return fd;
}

TEST(writes_reach_the_file_and_both_handles_are_one_storage)
{
    int fd = file(10000);
    td_storage *a, *b;
    NEED(td_shared_map(&a, fd, 4097, 100, TD_MAP_SHARED | TD_MAP_KEEP_FD, "name"));
    strcpy(a->data, "hello");
    char text[6];
    CHECK(pread(fd, text, 6, 4097) == 6 && !strcmp(text, "hello"));
    NEED(td_shared_map(&b, fd, 4097, 100, TD_MAP_SHARED | TD_MAP_KEEP_FD | TD_MAP_FIND, NULL));
    CHECK(a == b && td_segment_of(a)->shared);
    td_storage_drop(b);
    NEED(td_shared_map(&b, dup(fd), 0, 100, TD_MAP_SHARED | TD_MAP_FIND, NULL)); /* another place */
    CHECK(a != b);
    td_storage *c;
    /* found beside another in its bucket */
    NEED(td_shared_map(&c, dup(fd), 4097, 100, TD_MAP_SHARED | TD_MAP_FIND, NULL));
    CHECK(c == a);
    td_storage_drop(c);
    td_storage_drop(a);
    td_storage_drop(b);
}

TEST(private_mappings_leave_the_file_alone)
{
    int fd = file(5000);
    td_storage *s;
    NEED(td_shared_map(&s, dup(fd), 0, 5000, 0, NULL));
    s->data[0] = 'x';
    char byte = 'y';
    CHECK(pread(fd, &byte, 1, 0) == 1 && byte == 0);
    td_storage_drop(s);
    NEED(td_shared_map(&s, dup(fd), 10, 0, TD_MAP_SHARED, NULL)); /* no bytes: nothing is mapped */
    CHECK(!s->data && td_segment_of(s));
    td_storage_drop(s);
    close(fd);
}

TEST(what_cannot_be_mapped_is_refused)
{
    int fd = file(100);
    td_storage *s = NULL;
    REFUSED(td_shared_map(&s, fd, 0, 101, 0, NULL), TD_RUNTIME_ERROR,
            "the file has 100 bytes, 101 are needed");
    REFUSED(td_shared_map(&s, fd, -1, 5, 0, NULL), TD_RUNTIME_ERROR, "cannot exist");
    REFUSED(td_shared_map(&s, fd, 0, -5, 0, NULL), TD_RUNTIME_ERROR, "cannot exist");
    REFUSED(td_shared_map(&s, fd, INT64_MAX, 5, 0, NULL), TD_RUNTIME_ERROR, "cannot exist");
    REFUSED(td_shared_map(&s, -1, 0, 5, TD_MAP_FIND, "n"), TD_RUNTIME_ERROR,
            "cannot look at a file");
    fail_call(CALL_MMAP, 1);
    REFUSED(td_shared_map(&s, fd, 0, 50, 0, "n"), TD_RUNTIME_ERROR, "cannot map 50 bytes");
    fail_call(CALL_CALLOC, 1);
    REFUSED(td_shared_map(&s, fd, 0, 50, 0, NULL), TD_MEMORY_ERROR, "segment");
    fail_call(CALL_CALLOC, 0);
    fail_call(CALL_STRDUP, 1);
    REFUSED(td_shared_map(&s, fd, 0, 50, 0, "n"), TD_MEMORY_ERROR, "segment");
    td_alloc_fail_at(1);
    REFUSED(td_shared_map(&s, fd, 0, 50, 0, NULL), TD_MEMORY_ERROR, "storage");
    CHECK(!s && lseek(fd, 0, SEEK_END) == 100); /* the descriptor is still the caller's */
    close(fd);
}

TEST(a_storage_moves_to_a_file_in_two_steps)
{
    int fd = file(0);
    td_storage *s;
    td_tensor *there;
    NEED(td_storage_new(&s, 3000, TD_CPU));
    memset(s->data, 7, 3000);
    char *old = s->data;
    s->exported = 1;
    harness_short_write = 100; /* the first write stops early, and goes on */
    NEED(td_shared_copy(&there, s->data, 3000, fd, 0, TD_MAP_SHARED, "moved"));
    NEED(td_shared_land(s, there, old, fd, TD_MAP_SHARED));
    CHECK(s->data != old && s->data[2999] == 7 && old[0] == 7 && td_segment_of(s)->before);
    int ends[2];
    CHECK(!socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
    CHECK(td_shared_watch(s, ends[0]) && !td_shared_watch(s, ends[0]));
    td_tensor *again;
    NEED(td_tensor_empty(&again, TD_U8, TD_CPU, 1, (int64_t[]){3000}));
    REFUSED(td_shared_land(s, again, s->data, -1, 0), TD_RUNTIME_ERROR, "shared already");
    td_storage_drop(s);
    char told[16] = {0};
    CHECK(recv(ends[1], told, sizeof told, MSG_DONTWAIT) > 0 && !strcmp(told, "-moved"));
    close(ends[0]);
    close(ends[1]);
}

TEST(landing_is_refused_where_the_bytes_have_changed_places)
{
    td_storage *s, *meta;
    td_tensor *there;
    NEED(td_storage_new(&s, 64, TD_CPU));
    NEED(td_tensor_empty(&there, TD_U8, TD_CPU, 1, (int64_t[]){64}));
    REFUSED(td_shared_land(s, there, s->data + 1, -1, 0), TD_RUNTIME_ERROR,
            "resized while its bytes were copied");
    NEED(td_tensor_empty(&there, TD_U8, TD_CPU, 1, (int64_t[]){32}));
    REFUSED(td_shared_land(s, there, s->data, -1, 0), TD_RUNTIME_ERROR, "resized");
    NEED(td_storage_new(&meta, 64, TD_META));
    NEED(td_tensor_empty(&there, TD_U8, TD_CPU, 1, (int64_t[]){64}));
    REFUSED(td_shared_land(meta, there, NULL, -1, 0), TD_RUNTIME_ERROR, "no bytes to share");
    CHECK(!td_shared_watch(s, 3) && !td_segment_of(s));
    td_storage_drop(s);
    td_storage_drop(meta);
}

TEST(copying_that_fails_leaves_the_storage_alone)
{
    int fd = file(0);
    td_tensor *there = NULL;
    fail_call(CALL_PWRITE, 1);
    REFUSED(td_shared_copy(&there, "abc", 3, fd, 0, TD_MAP_SHARED, NULL), TD_RUNTIME_ERROR,
            "Free some space");
    harness_short_write = 1; /* interrupted: tried again */
    NEED(td_shared_copy(&there, "abc", 3, fd, 0, TD_MAP_SHARED, NULL));
    td_tensor_free(there);
    for (int n = 1; n < 3; n++) {
        td_alloc_fail_at(n);
        REFUSED(td_shared_copy(&there, "abc", 3, fd, 0, TD_MAP_SHARED, NULL), TD_MEMORY_ERROR,
                "out of memory");
    }
    td_alloc_fail_at(0);
    fail_call(CALL_MMAP, 1);
    REFUSED(td_shared_copy(&there, "abc", 3, fd, 0, TD_MAP_SHARED, "n"), TD_RUNTIME_ERROR,
            "cannot map");
    REFUSED(td_shared_copy(&there, "abc", 3, -1, 0, 0, NULL), TD_RUNTIME_ERROR, "cannot write");
    close(fd);
}

TEST(a_descriptor_can_be_kept_and_the_watch_may_be_deaf)
{
    int fd = file(100);
    td_storage *s;
    NEED(td_shared_map(&s, fd, 0, 100, TD_MAP_KEEP_FD, "kept"));
    EQUAL(td_segment_of(s)->fd, fd);
    CHECK(td_shared_watch(s, -1)); /* nobody is told */
    td_storage_drop(s);
    CHECK(close(fd) == -1);
}

TEST(another_length_at_the_same_place_is_another_storage)
{
    int fd = file(100), other = file(100);
    td_storage *a, *b, *c;
    NEED(td_shared_map(&a, fd, 0, 100, TD_MAP_SHARED | TD_MAP_KEEP_FD, NULL));
    NEED(td_shared_map(&b, dup(fd), 0, 50, TD_MAP_SHARED | TD_MAP_FIND, NULL));
    NEED(td_shared_map(&c, other, 0, 50, TD_MAP_SHARED | TD_MAP_FIND, NULL));
    CHECK(a != b && b != c);
    CHECK(!td_shared_watch(a, 3)); /* without a name there is nothing to tell */
    td_storage_drop(a);
    td_storage_drop(c);
    td_storage_drop(b);
}

TEST(no_bytes_and_private_bytes_can_move_too)
{
    int fd = file(10);
    td_storage *s, *empty;
    td_tensor *there;
    NEED(td_shared_map(&s, dup(fd), 0, 10, 0, NULL));
    int next = file(0);
    NEED(td_shared_copy(&there, s->data, 10, next, 0, TD_MAP_SHARED, NULL));
    NEED(td_shared_land(s, there, s->data, next, TD_MAP_SHARED));
    CHECK(td_segment_of(s)->shared);
    NEED(td_storage_new(&empty, 0, TD_CPU));
    NEED(td_shared_copy(&there, NULL, 0, fd, 0, TD_MAP_SHARED, NULL));
    NEED(td_shared_land(empty, there, NULL, fd, TD_MAP_SHARED));
    td_storage_drop(s);
    td_storage_drop(empty);
}

TEST(a_full_quota_is_told_like_a_full_disk)
{
    td_tensor *there;
    int fd = file(0);
    harness_short_write = -1;
    REFUSED(td_shared_copy(&there, "abc", 3, fd, 0, TD_MAP_SHARED, NULL), TD_RUNTIME_ERROR,
            "Free some space");
    close(fd);
}

#ifndef __SANITIZE_THREAD__
TEST(a_fork_does_not_tell_the_end)
{
    int fd = file(10), ends[2];
    td_storage *s;
    NEED(td_shared_map(&s, fd, 0, 10, TD_MAP_SHARED, "forked"));
    CHECK(!socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) && td_shared_watch(s, ends[0]));
    pid_t child = fork();
    if (child == 0) {
        td_storage_drop(s);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    char told[16];
    CHECK(recv(ends[1], told, sizeof told, MSG_DONTWAIT) < 0);
    td_storage_drop(s);
    CHECK(recv(ends[1], told, sizeof told, MSG_DONTWAIT) == 7);
}
#endif
