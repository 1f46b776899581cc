#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>
#include <pthread.h>
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

int postercache_punch_hole(int fd, int64_t offset, int64_t length) {
  return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}

int postercache_reserve(int fd, int64_t length) {
  return fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, length);
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
