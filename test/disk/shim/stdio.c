// Streams for writing: libc's own stdio reaches the kernel without a call that could be interposed, so such a stream gets functions of
// its own below libc's buffer. LevelDB 1.20 writes its logs and tables through stdio.
#define _GNU_SOURCE
#include "disk.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// A macro of libc.
#undef fread_unlocked

#define MAX_STREAMS 1024

static struct {
  FILE *stream;
  int fd;
} streams[MAX_STREAMS];

// Streams for reading below the root, which remain libc's own; a closed one is forgotten when its address is used again.
static FILE *readers[MAX_STREAMS];
static int last_reader;

static ssize_t stream_write(void *cookie, const char *data, size_t length) {
  int fd = (int)(intptr_t)cookie;
  size_t done = 0;
  while (done < length) {
    ssize_t count = write(fd, data + done, length - done);
    if (count < 0) break;
    done += (size_t)count;
  }
  return (ssize_t)done;
}

static int stream_close(void *cookie) {
  int fd = (int)(intptr_t)cookie;
  disk_lock();
  for (int i = 0; i < MAX_STREAMS; i++)
    if (streams[i].stream != NULL && streams[i].fd == fd) streams[i].stream = NULL;
  disk_unlock();
  return close(fd);
}

static FILE *open_stream(const char *path, const char *mode, const char *symbol) {
  char below[PATH_MAX];
  if ((mode[0] == 'w' || mode[0] == 'a') && disk_path(AT_FDCWD, path, below)) {
    if (strchr(mode, '+') != NULL) {
      disk_lock();
      disk_unmodelled("fopen for reading and writing", below);
      disk_unlock();
    }
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (mode[0] == 'w' ? O_TRUNC : O_APPEND);
    int fd = open(path, flags, 0666);
    if (fd < 0) return NULL;
    cookie_io_functions_t functions = {NULL, stream_write, NULL, stream_close};
    FILE *stream = fopencookie((void *)(intptr_t)fd, mode[0] == 'w' ? "w" : "a", functions);
    // As with a file: a full buffer of a block is written.
    setvbuf(stream, NULL, _IOFBF, 4096);
    disk_lock();
    for (int i = 0; i < MAX_STREAMS; i++) {
      if (streams[i].stream != NULL) continue;
      streams[i].stream = stream;
      streams[i].fd = fd;
      break;
    }
    disk_unlock();
    return stream;
  }
  FILE *(*next)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, symbol);
  FILE *stream = next(path, mode);
  if (stream == NULL) return NULL;
  disk_lock();
  for (int i = 0; i < MAX_STREAMS; i++)
    if (readers[i] == stream) readers[i] = NULL;
  if (disk_path(AT_FDCWD, path, below)) readers[last_reader++ % MAX_STREAMS] = stream;
  disk_unlock();
  return stream;
}

// LevelDB reads its logs so.
size_t fread_unlocked(void *data, size_t size, size_t count, FILE *stream) {
  size_t (*next)(void *, size_t, size_t, FILE *) =
      (size_t(*)(void *, size_t, size_t, FILE *))dlsym(RTLD_NEXT, "fread_unlocked");
  int failure = 0;
  disk_lock();
  for (int i = 0; i < MAX_STREAMS && failure == 0; i++)
    if (readers[i] == stream) failure = disk_failure(DISK_READ);
  disk_unlock();
  if (failure == 0) return next(data, size, count, stream);
  errno = failure;
  return 0;
}

FILE *fopen(const char *path, const char *mode) { return open_stream(path, mode, "fopen"); }
FILE *fopen64(const char *path, const char *mode) { return open_stream(path, mode, "fopen64"); }

// A stream with functions of its own has no descriptor for libc.
int fileno(FILE *stream) {
  disk_lock();
  for (int i = 0; i < MAX_STREAMS; i++) {
    if (streams[i].stream == stream) {
      int fd = streams[i].fd;
      disk_unlock();
      return fd;
    }
  }
  disk_unlock();
  int (*next)(FILE *) = (int (*)(FILE *))dlsym(RTLD_NEXT, "fileno");
  return next(stream);
}

int fileno_unlocked(FILE *stream) { return fileno(stream); }
