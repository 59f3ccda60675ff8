/*
 * Sends prepared requests over pipelined connections and counts the replies: one thread, epoll, the same code for SSTP and RESP except
 * for how the end of a reply is found.
 *
 *   load-client sstp|resp PORT CONNECTIONS DEPTH SECONDS REQUESTS
 *
 * REQUESTS contains a count (u32), for each request its length (u32), then the requests without separators. Every connection sends them
 * cyclically from a different start. DEPTH requests are in flight on a connection; each reply causes one more request, and those for
 * the replies of one read are sent by one write. With DEPTH 0, a connection sends as many as the system accepts, without end. Prints
 * one line of JSON.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 256 * 1024, KEPT_BYTES = 32 };

struct connection {
  int fd;
  uint32_t next;     /* the request to send next */
  uint32_t unsent;   /* number of requests that may be sent */
  size_t part;       /* bytes of the next request that are already sent */
  size_t kept;       /* bytes of an incomplete line, prepended to the next read */
  char keep[KEPT_BYTES];
  long elements;     /* RESP: remaining elements of a reply */
  size_t skip;       /* RESP: remaining bytes of an element */
};

static char *requests;
static size_t *offsets; /* count + 1 entries */
static uint32_t count;
static char *memory;
static uint64_t replies, octets, elements;
static int endless;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static void read_requests(const char *path) {
  int fd = open(path, O_RDONLY);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) < 0) fail(path);
  char *file = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
  if (file == MAP_FAILED) fail(path);
  count = *(uint32_t *)file;
  const uint32_t *lengths = (uint32_t *)file + 1;
  requests = file + 4 + 4 * (size_t)count;
  offsets = malloc((count + 1) * sizeof *offsets);
  offsets[0] = 0;
  for (uint32_t i = 0; i < count; i++) offsets[i + 1] = offsets[i] + lengths[i];
}

/* Sends as many of the permitted requests as the system accepts. */
static void send_some(struct connection *c) {
  while (c->unsent > 0) {
    uint32_t last = endless || c->unsent > count - c->next ? count : c->next + c->unsent;
    size_t from = offsets[c->next] + c->part;
    ssize_t sent = send(c->fd, requests + from, offsets[last] - from, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EAGAIN) return;
      fail("send");
    }
    size_t reached = from + sent;
    while (c->next < last && offsets[c->next + 1] <= reached) {
      c->next++;
      if (!endless) c->unsent--;
    }
    c->part = c->next < last ? reached - offsets[c->next] : 0;
    if (c->next == count) c->next = 0;
  }
}

/* Whether CR LF CR LF may begin in these 64 bytes: two comparisons per byte, which the compiler vectorizes. */
static int may_end(const char *bytes) {
  unsigned char found = 0;
  for (int i = 0; i < 64; i++) found |= (bytes[i] == '\r') & (bytes[i + 2] == '\r');
  return found;
}

/* Counts empty lines. The bytes that it leaves are too few for one. Returns the number of bytes used. */
static size_t count_sstp(const char *bytes, size_t length, uint32_t *ended) {
  size_t pos = 0;
  while (pos + 67 <= length) {
    if (may_end(bytes + pos))
      for (size_t i = pos; i < pos + 64; i++) *ended += memcmp(bytes + i, "\r\n\r\n", 4) == 0;
    pos += 64;
  }
  for (; pos + 4 <= length; pos++) *ended += memcmp(bytes + pos, "\r\n\r\n", 4) == 0;
  return pos;
}

/* Skips elements by their lengths. Returns the number of bytes used: all except an incomplete line. */
static size_t count_resp(struct connection *c, const char *bytes, size_t length, uint32_t *ended) {
  size_t pos = 0;
  while (pos < length) {
    if (c->skip > 0) {
      size_t step = c->skip < length - pos ? c->skip : length - pos;
      c->skip -= step;
      pos += step;
      if (c->skip > 0) return pos;
      if (--c->elements == 0) ++*ended;
      continue;
    }
    size_t line = pos + 1;
    long value = 0;
    while (line < length && bytes[line] >= '0' && bytes[line] <= '9') value = value * 10 + (bytes[line++] - '0');
    if (line + 2 > length) return pos;
    if (bytes[line] != '\r' || (bytes[pos] != '*' && bytes[pos] != '$')) {
      fprintf(stderr, "unexpected: %.80s\n", bytes + pos);
      exit(1);
    }
    if (bytes[pos] == '*') {
      c->elements = value;
      elements += value;
      if (value == 0) ++*ended;
    } else
      c->skip = value + 2;
    pos = line + 2;
  }
  return pos;
}

static void read_some(struct connection *c, int resp) {
  for (;;) {
    memcpy(memory, c->keep, c->kept);
    ssize_t got = recv(c->fd, memory + c->kept, READ_BYTES, 0);
    if (got == 0) {
      fprintf(stderr, "the server closed a connection\n");
      exit(1);
    }
    if (got < 0) {
      if (errno == EAGAIN) return;
      fail("recv");
    }
    octets += got;
    uint32_t ended = 0;
    size_t length = c->kept + got;
    size_t used = resp ? count_resp(c, memory, length, &ended) : count_sstp(memory, length, &ended);
    c->kept = length - used;
    memcpy(c->keep, memory + used, c->kept);
    replies += ended;
    if (!endless) c->unsent += ended;
    send_some(c);
    if (got < READ_BYTES) return;
  }
}

static void connect_to(struct connection *c, int port, int depth, uint32_t first) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  c->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
  int one = 1;
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  fcntl(c->fd, F_SETFL, O_NONBLOCK);
  c->next = first;
  c->unsent = endless ? 1 : depth;
}

int main(int argc, char **argv) {
  if (argc != 7) {
    fprintf(stderr, "usage: load-client sstp|resp PORT CONNECTIONS DEPTH SECONDS REQUESTS\n");
    return 2;
  }
  int resp = strcmp(argv[1], "resp") == 0;
  int connections = atoi(argv[3]);
  endless = atoi(argv[4]) == 0;
  read_requests(argv[6]);
  memory = malloc(READ_BYTES + KEPT_BYTES);
  struct connection *all = calloc(connections, sizeof *all);
  int poll = epoll_create1(0);
  for (int i = 0; i < connections; i++) {
    connect_to(&all[i], atoi(argv[2]), atoi(argv[4]), (uint64_t)count * i / connections);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = &all[i]};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, all[i].fd, &event) < 0) fail("epoll_ctl");
  }
  double began = now(), end = began + atof(argv[5]), time = began;
  struct epoll_event events[256];
  while (time < end) {
    int ready = epoll_wait(poll, events, 256, 100);
    for (int i = 0; i < ready; i++) {
      struct connection *c = events[i].data.ptr;
      if (events[i].events & EPOLLOUT) send_some(c);
      if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) read_some(c, resp);
    }
    time = now();
  }
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  double cpu = used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  printf("{\"replies\":%lu,\"bytes\":%lu,\"elements\":%lu,\"seconds\":%.6f,\"cpuSeconds\":%.6f}\n", replies, octets, elements,
         time - began, cpu);
  return 0;
}
