// A link of a given rate and round-trip time between two network namespaces.
//
// usage: link RATE RTT [QUEUE] -- COMMAND ...   runs COMMAND at the client's end
//        link RATE RTT [QUEUE]                  holds the link until the standard input ends
//
// RATE is in Mbit/s, RTT and QUEUE are in milliseconds. The server's end is 10.77.0.1, the client's
// 10.77.0.2. Each end is a namespace of its own with a tun device; what one end sends is handed to
// the other half a round trip later by this program, as kernels without netem cannot do that. The
// rate is kept by a token bucket (tbf) on the server's device, whose queue holds QUEUE milliseconds
// (200 unless told otherwise) before it drops; the way back to the server is not narrowed. The TCP of
// both ends is the kernel's own: cubic, with slow start on each new connection, and nothing
// remembered from one connection to the next.
//
// Once the link is there, "SERVER CLIENT" is written to the standard output when holding: paths of
// the two namespaces for `nsenter --net=PATH`. A command gets the server's as POSTERCACHE_LINK_SERVER.
// Needs root, or CAP_NET_ADMIN and CAP_SYS_ADMIN. Exit status: the command's, or 1.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { mtu = 1500, capacity = 1 << 14 };

// Packets on their way in one direction, in the order of their arrival.
struct direction {
  int from, to;
  unsigned first, count;
  struct packet {
    uint64_t due;
    ssize_t length;
    char bytes[mtu];
  } *ring;
};

static void fail(const char *what) {
  fprintf(stderr, "link: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// Runs a command of the shell and fails unless it succeeds.
__attribute__((format(printf, 1, 2))) static void run(const char *format, ...) {
  char command[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(command, sizeof command, format, arguments);
  va_end(arguments);
  if (system(command) != 0) {
    fprintf(stderr, "link: this failed: %s\n", command);
    exit(1);
  }
}

static void set(const char *name, const char *value) {
  char path[128];
  snprintf(path, sizeof path, "/proc/sys/net/ipv4/%s", name);
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0 || write(file, value, strlen(value)) < 0) fail(path);
  close(file);
}

// Moves into a new namespace with one end of the link and returns the end's device; `space` becomes a
// descriptor of the namespace.
static int make_end(const char *address, int *space) {
  if (unshare(CLONE_NEWNET) != 0) fail("cannot make a network namespace (are you root?)");
  *space = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  if (*space < 0) fail("/proc/self/ns/net");
  int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (device < 0) fail("/dev/net/tun");
  struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
  strcpy(request.ifr_name, "shaped");
  if (ioctl(device, TUNSETIFF, &request) != 0) fail("TUNSETIFF");
  set("tcp_no_metrics_save", "1");
  run("ip link set lo up");
  // One packet at a time: a bucket lets whole bursts of a large send pass at once.
  run("ip link set shaped mtu %d txqueuelen 4000 gso_max_segs 1 up", mtu);
  run("ip address add %s/24 dev shaped", address);
  // By the route, as a namespace may choose only what the machine allows to everybody.
  run("ip route replace 10.77.0.0/24 dev shaped src %s congctl cubic", address);
  return device;
}

static void receive(struct direction *way, uint64_t delay) {
  uint64_t due = now() + delay;
  while (way->count < capacity) {
    struct packet *packet = &way->ring[(way->first + way->count) % capacity];
    packet->length = read(way->from, packet->bytes, mtu);
    if (packet->length <= 0) return;
    packet->due = due;
    way->count++;
  }
}

// Hands over what is due; returns when the next packet is.
static uint64_t deliver(struct direction *way, uint64_t time) {
  while (way->count > 0) {
    struct packet *packet = &way->ring[way->first];
    if (packet->due > time) return packet->due;
    // A device that takes no more loses the packet, as a device does.
    ssize_t written = write(way->to, packet->bytes, (size_t)packet->length);
    (void)written;
    way->first = (way->first + 1) % capacity;
    way->count--;
  }
  return UINT64_MAX;
}

// Relays until `last` says that the link is no longer needed, which it does by ending.
static void relay(int server, int client, uint64_t delay, int last) {
  struct direction ways[2] = {{.from = server, .to = client}, {.from = client, .to = server}};
  for (int way = 0; way < 2; way++) {
    ways[way].ring = calloc(capacity, sizeof *ways[way].ring);
    if (!ways[way].ring) fail("memory");
  }
  prctl(PR_SET_TIMERSLACK, 1);
  struct pollfd polled[3] = {
      {.fd = server, .events = POLLIN}, {.fd = client, .events = POLLIN}, {.fd = last, .events = POLLIN}};
  for (;;) {
    uint64_t time = now(), next = UINT64_MAX;
    for (int way = 0; way < 2; way++) {
      receive(&ways[way], delay);
      uint64_t due = deliver(&ways[way], time);
      if (due < next) next = due;
    }
    uint64_t wait = next > time ? next - time : 0;
    struct timespec timeout = {
        .tv_sec = (time_t)(wait / 1000000000u), .tv_nsec = (long)(wait % 1000000000u)};
    if (ppoll(polled, 3, next == UINT64_MAX ? NULL : &timeout, NULL) < 0 && errno != EINTR) fail("ppoll");
    if (polled[2].revents) {
      char bytes[64];
      if (!(polled[2].revents & POLLIN) || read(last, bytes, sizeof bytes) <= 0) return;
    }
  }
}

int main(int count, char **arguments) {
  char **command = NULL;
  for (int place = 1; place < count; place++) {
    if (strcmp(arguments[place], "--") != 0) continue;
    command = &arguments[place + 1];
    count = place;
    break;
  }
  if (count < 3 || count > 4 || (command && !*command)) {
    fprintf(stderr, "usage: link RATE(Mbit/s) RTT(ms) [QUEUE(ms)] [-- COMMAND ...]\n");
    return 2;
  }
  double rate = atof(arguments[1]), round_trip = atof(arguments[2]);
  double queue = count > 3 ? atof(arguments[3]) : 200;
  if (!(rate >= 0.1 && rate <= 10000 && round_trip >= 0 && round_trip <= 10000 && queue >= 1)) {
    fprintf(stderr, "link: rate, round trip or queue out of range\n");
    return 2;
  }

  int server_space, client_space;
  int server = make_end("10.77.0.1", &server_space);
  // A bucket of two milliseconds, so that a timer that comes late loses nothing.
  double bytes_per_ms = rate * 125;
  run("tc qdisc add dev shaped root tbf rate %.0fbit burst %.0f limit %.0f", rate * 1e6,
      bytes_per_ms * 2 < 3 * mtu ? 3.0 * mtu : bytes_per_ms * 2,
      bytes_per_ms * queue < 16 * mtu ? 16.0 * mtu : bytes_per_ms * queue);
  int client = make_end("10.77.0.2", &client_space);
  uint64_t delay = (uint64_t)(round_trip / 2 * 1e6);
  char server_path[64];
  snprintf(server_path, sizeof server_path, "/proc/%d/fd/%d", getpid(), server_space);

  if (!command) {
    printf("%s /proc/%d/fd/%d\n", server_path, getpid(), client_space);
    fflush(stdout);
    relay(server, client, delay, 0);
    return 0;
  }
  int ends[2];
  if (pipe2(ends, 0) != 0) fail("pipe");
  pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    // The other end of the pipe closes when the command ends, and whoever inherits it.
    close(ends[0]);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid_t own = fork();
    if (own == 0) {
      setenv("POSTERCACHE_LINK_SERVER", server_path, 1);
      execvp(command[0], command);
      fail(command[0]);
    }
    int status = 1;
    while (waitpid(own, &status, 0) < 0 && errno == EINTR) {}
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  close(ends[1]);
  relay(server, client, delay, ends[0]);
  int status = 1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WEXITSTATUS(status);
}
