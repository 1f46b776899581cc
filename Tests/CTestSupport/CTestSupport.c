#include "CTestSupport.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

int postercache_run_in_child(int (*body)(void *), void *context) {
  pid_t child = fork();
  if (child == -1) return -1;
  if (child == 0) _exit(body(context));
  int status;
  while (waitpid(child, &status, 0) == -1)
    if (errno != EINTR) return -1;
  return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}
