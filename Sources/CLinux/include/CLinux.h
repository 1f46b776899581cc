#pragma once
// What Glibc's module does not give Swift: calls and macros behind _GNU_SOURCE, variadic calls.
// One system call a function, no logic. A compiled target rather than a module map, because the
// importer reads headers without _GNU_SOURCE.
#include <getopt.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/types.h>
#include <sys/uio.h>

// Open-file-description locks (fcntl F_OFD_SETLK) belong to the descriptor, not to the process: two
// openings in one process exclude each other, and closing another descriptor releases nothing.
// `type` is F_RDLCK, F_WRLCK or F_UNLCK. Fails with EAGAIN where another holds the range.
int postercache_ofd_lock(int fd, short type, int64_t start, int64_t length);

// The same, but waits until the lock can be had.
int postercache_ofd_lock_wait(int fd, short type, int64_t start, int64_t length);

// Whether another descriptor holds a lock in the range: 1, 0, or -1 with errno. If so, `lock_start` and
// `lock_length` say where one of them is; a length of 0 reaches to the end.
int postercache_ofd_is_locked(
    int fd, int64_t start, int64_t length, int64_t *lock_start, int64_t *lock_length);

// Gives the blocks wholly inside the range back to the file system; the size stays.
int postercache_punch_hole(int fd, int64_t offset, int64_t length);

// The first byte at or behind `offset` that has a block behind it, or that has none; -1 with ENXIO
// where there is none up to the file's end. File systems that do not know holes say that every byte
// has a block.
int64_t postercache_next_data(int fd, int64_t offset);
int64_t postercache_next_hole(int fd, int64_t offset);

// Allocates blocks for a range without changing the file's size.
int postercache_allocate(int fd, int64_t offset, int64_t length);

// Has what is overwritten in files that will be made in the directory stay where it is, on file systems
// that would write it elsewhere (FS_NOCOW_FL).
int postercache_disable_copy_on_write(int directory);

// Has forks noticed from now on: in a child made by fork afterwards, and in its children, the second
// function returns 1. Returns 0, or an error number.
int postercache_watch_forks(void);
int postercache_is_forked_child(void);

// Notes that the calling thread begins or ends to use an index, and tells whether it does: for handlers
// of signals.
void postercache_enter_index(void);
void postercache_leave_index(void);
int postercache_is_in_index(void);

int postercache_open(const char *path, int flags, mode_t mode);
int postercache_openat(int directory, const char *path, int flags, mode_t mode);

// Columns of the terminal behind fd, 0 if it is none.
int postercache_terminal_columns(int fd);

// Names the calling thread; at most 15 bytes.
int postercache_name_thread(const char *name);

// The number of the calling thread: 1 for the first that asks, and so on; numbers are not used again. Read
// on every look into memory, hence inline: one load once the thread has its number.
extern _Thread_local unsigned postercache_known_thread_number;
unsigned postercache_new_thread_number(void);
static inline unsigned postercache_thread_number(void) {
  unsigned number = postercache_known_thread_number;
  return number ? number : postercache_new_thread_number();
}

// One option as getopt_long finds it. Swift 6 refuses C's global variables, so this carries what
// getopt_long leaves in them.
struct postercache_option {
  int value;             // getopt_long's result: '?' and ':' for errors, -1 at the end
  const char *argument;  // optarg
  int next;              // optind
  int offending;         // optopt
};

// The next option of an argument vector; `restart` begins a new one. Not for several threads at
// once: getopt_long keeps its place in global variables.
struct postercache_option postercache_next_option(
    int count, char *const *arguments, const char *short_options,
    const struct option *long_options, int restart);
