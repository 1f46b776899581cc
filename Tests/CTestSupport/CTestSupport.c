#include "CTestSupport.h"

#include <malloc.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST_SECONDS = 60 };

int postercache_run_in_child(int (*body)(void *), void *context) {
  pid_t child = fork();
  if (child == -1) return -1;
  if (child == 0) {
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    signal(SIGALRM, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
    alarm(LONGEST_SECONDS);
    _exit(body(context));
  }
  int status;
  while (waitpid(child, &status, 0) == -1)
    if (errno != EINTR) return -1;
  return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

long postercache_allocated_bytes(void) {
  struct mallinfo2 information = mallinfo2();
  // Large blocks are mapped, and counted apart.
  return (long)(information.uordblks + information.hblkhd);
}
