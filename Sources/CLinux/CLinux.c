#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <unistd.h>

int postercache_ofd_lock(int fd, short type, int64_t start, int64_t length) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  return fcntl(fd, F_OFD_SETLK, &lock);
}

int postercache_ofd_lock_wait(int fd, short type, int64_t start, int64_t length) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  return fcntl(fd, F_OFD_SETLKW, &lock);
}

int postercache_ofd_is_locked(
    int fd, int64_t start, int64_t length, int64_t *lock_start, int64_t *lock_length) {
  struct flock lock = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  if (fcntl(fd, F_OFD_GETLK, &lock) == -1) return -1;
  *lock_start = lock.l_start;
  *lock_length = lock.l_len;
  return lock.l_type != F_UNLCK;
}

int postercache_punch_hole(int fd, int64_t offset, int64_t length) {
  return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}

int postercache_allocate(int fd, int64_t offset, int64_t length) {
  return fallocate(fd, FALLOC_FL_KEEP_SIZE, offset, length);
}

int postercache_disable_copy_on_write(int directory) {
  int flags;
  if (ioctl(directory, FS_IOC_GETFLAGS, &flags) == -1) return -1;
  flags |= FS_NOCOW_FL;
  return ioctl(directory, FS_IOC_SETFLAGS, &flags);
}

int64_t postercache_next_data(int fd, int64_t offset) {
  return lseek(fd, offset, SEEK_DATA);
}

int64_t postercache_next_hole(int fd, int64_t offset) {
  return lseek(fd, offset, SEEK_HOLE);
}

// Written by the only thread of a fresh child, before anything else runs there.
static volatile int is_forked_child;
static int watch_status;

static void note_fork(void) {
  is_forked_child = 1;
}

static void register_watch(void) {
  watch_status = pthread_atfork(NULL, NULL, note_fork);
}

int postercache_watch_forks(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  int status = pthread_once(&once, register_watch);
  return status ? status : watch_status;
}

int postercache_is_forked_child(void) {
  return is_forked_child;
}

static _Thread_local volatile int index_depth;

void postercache_enter_index(void) {
  index_depth++;
}

void postercache_leave_index(void) {
  index_depth--;
}

int postercache_is_in_index(void) {
  return index_depth > 0;
}

int postercache_open(const char *path, int flags, mode_t mode) {
  return open(path, flags, mode);
}

int postercache_openat(int directory, const char *path, int flags, mode_t mode) {
  return openat(directory, path, flags, mode);
}

int postercache_terminal_columns(int fd) {
  struct winsize size;
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int postercache_name_thread(const char *name) {
  return pthread_setname_np(pthread_self(), name);
}

_Thread_local unsigned postercache_known_thread_number;

unsigned postercache_new_thread_number(void) {
  static _Atomic unsigned last;
  unsigned number;
  // 0 means none: left out, should there ever have been so many.
  do number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
  while (number == 0);
  return postercache_known_thread_number = number;
}

struct postercache_option postercache_next_option(
    int count, char *const *arguments, const char *short_options,
    const struct option *long_options, int restart) {
  if (restart) optind = 0;
  opterr = 0;
  optarg = NULL;
  optopt = 0;
  int value = getopt_long(count, arguments, short_options, long_options, NULL);
  return (struct postercache_option){value, optarg, optind, optopt};
}
