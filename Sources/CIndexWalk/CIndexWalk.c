#define _GNU_SOURCE
#include "CIndexWalk.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// Longer than any intact index takes: a damaged one may lead in circles.
enum { LONGEST_SECONDS = 300 };

// Keeps the compiler from leaving out reads whose result nobody needs.
static volatile unsigned char sink;

static void touch(const MDB_val *value) {
  const unsigned char *bytes = value->mv_data;
  // A byte of each page is enough to have it mapped; the first and last ones are its ends.
  for (size_t offset = 0; offset < value->mv_size; offset += 512) sink ^= bytes[offset];
  if (value->mv_size) sink ^= bytes[value->mv_size - 1];
}

// Walks one table; with `names` its keys are those of further tables, which are walked as well.
static int walk(MDB_txn *transaction, MDB_dbi table, int names) {
  MDB_cursor *cursor;
  int status = mdb_cursor_open(transaction, table, &cursor);
  if (status) return status;
  MDB_val key, value;
  for (int operation = MDB_FIRST;
       (status = mdb_cursor_get(cursor, &key, &value, operation)) == MDB_SUCCESS;
       operation = MDB_NEXT) {
    touch(&key);
    touch(&value);
    if (!names) continue;
    char name[64];
    if (key.mv_size >= sizeof name) return MDB_CORRUPTED;
    memcpy(name, key.mv_data, key.mv_size);
    name[key.mv_size] = 0;
    MDB_dbi named;
    status = mdb_dbi_open(transaction, name, 0, &named);
    if (!status) status = walk(transaction, named, 0);
    if (status) return status;
  }
  return status == MDB_NOTFOUND ? 0 : status;
}

static int walk_environment(int directory, unsigned table_count, unsigned reader_count) {
  MDB_env *environment;
  int status = mdb_env_create(&environment);
  if (status) return status;
  mdb_env_set_maxdbs(environment, table_count);
  mdb_env_set_maxreaders(environment, reader_count);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", directory);
  status = mdb_env_open(environment, path, MDB_RDONLY | MDB_NOTLS | MDB_NORDAHEAD, 0);
  if (status) return status;
  MDB_txn *transaction;
  status = mdb_txn_begin(environment, NULL, MDB_RDONLY, &transaction);
  if (status) return status;
  MDB_dbi names;
  status = mdb_dbi_open(transaction, NULL, 0, &names);
  // Table 0 is LMDB's list of free pages.
  if (!status) status = walk(transaction, 0, 0);
  if (!status) status = walk(transaction, names, 1);
  // Gives the reader's slot back; nothing else needs to be put in order.
  mdb_txn_abort(transaction);
  return status;
}

// Closes what the parent has open besides these two: descriptors carry its locks, which would outlive it.
static void close_others(int one, int other) {
  int low = one < other ? one : other;
  int high = one < other ? other : one;
  if (low > 3) close_range(3, (unsigned)low - 1, 0);
  if (high > low + 1) close_range((unsigned)low + 1, (unsigned)high - 1, 0);
  close_range((unsigned)high + 1, ~0U, 0);
}

static void run_child(
    int directory, unsigned table_count, unsigned reader_count, int output) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP, SIGXCPU};
  for (size_t index = 0; index < sizeof faults / sizeof *faults; index++)
    signal(faults[index], SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close_others(directory, output);
  struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  struct rlimit time = {LONGEST_SECONDS, LONGEST_SECONDS};
  setrlimit(RLIMIT_CPU, &time);
  // What LMDB says before it gives up is for its developers.
  int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
  int status = walk_environment(directory, table_count, reader_count);
  const char *text = status ? mdb_strerror(status) : "";
  char line[256];
  // What this process lacks says nothing about the index.
  int is_want = status == EMFILE || status == ENFILE || status == EAGAIN ||
                status == EACCES || status == ENOSPC || status == MDB_READERS_FULL;
  int length = snprintf(
      line, sizeof line, "%c%s", status == ENOMEM ? 'M' : is_want ? 'W' : status ? 'E' : 'K', text);
  if (write(output, line, (size_t)length) != length) _exit(2);
  _exit(0);
}

int postercache_walk_index(
    int directory, unsigned table_count, unsigned reader_count, char *finding, int size) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return -1;
  pid_t child = fork();
  if (child == -1) {
    int number = errno;
    close(ends[0]);
    close(ends[1]);
    errno = number;
    return -1;
  }
  if (child == 0) run_child(directory, table_count, reader_count, ends[1]);
  close(ends[1]);
  char line[256];
  size_t length = 0;
  while (length < sizeof line - 1) {
    ssize_t count = read(ends[0], line + length, sizeof line - 1 - length);
    if (count == -1 && errno == EINTR) continue;
    if (count <= 0) break;
    length += (size_t)count;
  }
  close(ends[0]);
  line[length] = 0;
  int status = 0;
  // An application that ignores SIGCHLD gets no status: then the pipe has to do.
  while (waitpid(child, &status, 0) == -1 && errno == EINTR) {
  }
  if (length > 0 && line[0] == 'K') return 0;
  if (length > 0 && (line[0] == 'M' || line[0] == 'W')) {
    snprintf(finding, (size_t)size, "%s", line + 1);
    return line[0] == 'M' ? 3 : 2;
  }
  if (length > 0)
    snprintf(finding, (size_t)size, "%s", line + 1);
  else if (WIFSIGNALED(status))
    snprintf(finding, (size_t)size, "reading it ends in %s", strsignal(WTERMSIG(status)));
  else
    snprintf(finding, (size_t)size, "reading it ends the reader");
  return 1;
}
