// Records every change below one directory in a log, in order, and makes changes fail on request. README.md describes the variables.
#define _GNU_SOURCE
#include "disk.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_FDS 65536

struct entry {
  uint32_t handle;
  dev_t device;
  ino_t inode;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct entry entries[MAX_FDS];
static uint32_t last_handle;
static char root[PATH_MAX];
static size_t root_length;
static char control[PATH_MAX];
static char full[PATH_MAX];
static char remote[PATH_MAX];
static char remote_text[128];
static char count_file[PATH_MAX];
static int log_fd = -1;
static unsigned long changes;
static unsigned long fail_at;
static unsigned long fail_times;
static int fail_errno = ENOSPC;
static int cut_next;
static int reads;

// The system calls themselves, so that nothing here is interposed.
long disk_raw(long number, ...) {
  static long (*next)(long, ...);
  if (next == NULL) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  va_list arguments;
  va_start(arguments, number);
  long a = va_arg(arguments, long), b = va_arg(arguments, long), c = va_arg(arguments, long);
  long d = va_arg(arguments, long), e = va_arg(arguments, long), f = va_arg(arguments, long);
  va_end(arguments);
  return next(number, a, b, c, d, e, f);
}
static long raw_open(const char *path, int flags) { return disk_raw(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600); }

static int errno_of(const char *name) {
  if (strncmp(name, "EIO", 3) == 0) return EIO;
  if (strncmp(name, "EDQUOT", 6) == 0) return EDQUOT;
  if (strncmp(name, "EROFS", 5) == 0) return EROFS;
  return ENOSPC;
}

__attribute__((constructor)) static void start(void) {
  // A child that is forked while another thread holds the lock could never take it.
  pthread_atfork(disk_lock, disk_unlock, disk_unlock);
  // Several processes may share a log.
  last_handle = (uint32_t)(getpid() & 0xfff) << 20;
  const char *value = getenv("HARVEST_DISK_ROOT");
  if (value == NULL || realpath(value, root) == NULL) {
    root[0] = 0;
    return;
  }
  root_length = strlen(root);
  if ((value = getenv("HARVEST_DISK_CONTROL")) != NULL) snprintf(control, sizeof control, "%s", value);
  if ((value = getenv("HARVEST_DISK_FULL")) != NULL) snprintf(full, sizeof full, "%s", value);
  if ((value = getenv("HARVEST_DISK_REMOTE")) != NULL) snprintf(remote, sizeof remote, "%s", value);
  if (getenv("HARVEST_DISK_READS") != NULL) reads = 1;
  if ((value = getenv("HARVEST_DISK_COUNT")) != NULL) snprintf(count_file, sizeof count_file, "%s", value);
  if ((value = getenv("HARVEST_DISK_FAIL_AT")) != NULL) fail_at = strtoul(value, NULL, 10);
  if ((value = getenv("HARVEST_DISK_FAIL_TIMES")) != NULL) fail_times = strtoul(value, NULL, 10);
  if ((value = getenv("HARVEST_DISK_ERRNO")) != NULL) fail_errno = errno_of(value);
  if ((value = getenv("HARVEST_DISK_LOG")) != NULL) {
    log_fd = (int)raw_open(value, O_WRONLY | O_CREAT | O_APPEND);
    if (log_fd < 0) {
      fprintf(stderr, "disk shim: the log %s cannot be opened\n", value);
      abort();
    }
  }
}

// Each process adds a line when it ends by itself.
__attribute__((destructor)) static void end(void) {
  if (count_file[0] == 0) return;
  char number[32];
  int size = snprintf(number, sizeof number, "%lu\n", changes);
  int fd = (int)raw_open(count_file, O_WRONLY | O_CREAT | O_APPEND);
  if (fd < 0) return;
  if (disk_raw(SYS_write, fd, number, size) != size) abort();
  disk_raw(SYS_close, fd);
}

void disk_lock(void) { pthread_mutex_lock(&mutex); }
void disk_unlock(void) { pthread_mutex_unlock(&mutex); }

// Removes ".", ".." and repeated slashes; the root has no symbolic links, and none can be made below it.
static void normalize(char *path) {
  char *out = path;
  const char *in = path;
  while (*in) {
    while (*in == '/') in++;
    const char *end = strchrnul(in, '/');
    size_t length = (size_t)(end - in);
    if (length == 2 && in[0] == '.' && in[1] == '.') {
      while (out > path && *--out != '/') continue;
    } else if (length > 0 && !(length == 1 && in[0] == '.')) {
      *out++ = '/';
      memmove(out, in, length);
      out += length;
    }
    in = end;
  }
  *out = 0;
}

int disk_path(int dirfd, const char *path, char *out) {
  char full_path[2 * PATH_MAX];
  if (root_length == 0 || path == NULL) return 0;
  if (path[0] == '/') {
    snprintf(full_path, sizeof full_path, "%s", path);
  } else {
    char base[PATH_MAX] = "";
    if (dirfd == AT_FDCWD) {
      if (disk_raw(SYS_getcwd, base, sizeof base) < 0) return 0;
    } else {
      char link[64];
      snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
      long length = disk_raw(SYS_readlinkat, AT_FDCWD, link, base, sizeof base - 1);
      if (length < 0) return 0;
      base[length] = 0;
    }
    snprintf(full_path, sizeof full_path, "%s/%s", base, path);
  }
  normalize(full_path);
  if (strncmp(full_path, root, root_length) != 0) return 0;
  if (full_path[root_length] != 0 && full_path[root_length] != '/') return 0;
  snprintf(out, PATH_MAX, "%s", full_path + root_length + (full_path[root_length] == '/'));
  return 1;
}

int disk_is_control(const char *path) { return control[0] != 0 && path != NULL && strcmp(path, control) == 0; }

uint32_t disk_handle(int fd) {
  if (fd < 0 || fd >= MAX_FDS || entries[fd].handle == NO_HANDLE) return NO_HANDLE;
  if (entries[fd].handle == CONTROL_HANDLE) return CONTROL_HANDLE;
  // A number that was closed and opened again unseen belongs to another file.
  struct stat status;
  if (fstat(fd, &status) != 0 || status.st_ino != entries[fd].inode || status.st_dev != entries[fd].device)
    entries[fd].handle = NO_HANDLE;
  return entries[fd].handle;
}

void disk_set_handle(int fd, uint32_t handle) {
  if (fd < 0 || fd >= MAX_FDS) return;
  entries[fd].handle = handle;
  if (handle == NO_HANDLE || handle == CONTROL_HANDLE) return;
  struct stat status;
  if (fstat(fd, &status) != 0) return;
  entries[fd].inode = status.st_ino;
  entries[fd].device = status.st_dev;
}

uint32_t disk_new_handle(int fd) {
  disk_set_handle(fd, ++last_handle);
  return last_handle;
}

void disk_record(char op, uint32_t handle, uint64_t number, const char *text, const void *data, size_t length) {
  if (log_fd < 0) return;
  struct __attribute__((packed)) {
    char op;
    uint32_t handle;
    uint64_t number;
    uint32_t text;
    uint32_t data;
  } head = {op, handle, number, (uint32_t)strlen(text), (uint32_t)length};
  struct iovec pieces[3] = {{&head, sizeof head}, {(void *)text, head.text}, {(void *)data, length}};
  ssize_t total = (ssize_t)(sizeof head + head.text + length);
  if (disk_raw(SYS_writev, log_fd, pieces, 3) != total) {
    fprintf(stderr, "disk shim: the log cannot be written\n");
    abort();
  }
}

void disk_unmodelled(const char *what, const char *path) {
  if (log_fd < 0) return;
  fprintf(stderr, "disk shim: %s of %s is not modelled\n", what, path);
  disk_record('X', 0, 0, what, path, strlen(path));
}

// "mark TEXT" records a mark, "fail N ERRNO" fails from the Nth change on, "ok" ends it, "count" writes the changes to CONTROL.count.
void disk_command(const char *text, size_t length) {
  char line[PATH_MAX];
  snprintf(line, sizeof line, "%.*s", (int)length, text);
  line[strcspn(line, "\n")] = 0;
  if (strncmp(line, "mark ", 5) == 0) {
    disk_record('M', 0, 0, line + 5, "", 0);
  } else if (strncmp(line, "fail ", 5) == 0) {
    char *name;
    fail_at = changes + strtoul(line + 5, &name, 10);
    fail_times = 0;
    cut_next = 0;
    if (*name == ' ') fail_errno = errno_of(name + 1);
  } else if (strcmp(line, "ok") == 0) {
    fail_at = 0;
  } else if (strcmp(line, "count") == 0) {
    char path[PATH_MAX + 8];
    char number[32];
    snprintf(path, sizeof path, "%s.count", control);
    int size = snprintf(number, sizeof number, "%lu\n", changes);
    int fd = (int)raw_open(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0 || disk_raw(SYS_write, fd, number, size) != size) abort();
    disk_raw(SYS_close, fd);
  } else {
    fprintf(stderr, "disk shim: unknown command %s\n", line);
    abort();
  }
}

// Obeys the file that other processes write: its lines begin with a number, so that the same command can be given again.
static void obey_remote(void) {
  char text[sizeof remote_text];
  int fd = (int)raw_open(remote, O_RDONLY);
  if (fd < 0) return;
  long size = disk_raw(SYS_read, fd, text, sizeof text - 1);
  disk_raw(SYS_close, fd);
  if (size <= 0) return;
  text[size] = 0;
  if (strcmp(text, remote_text) == 0) return;
  memcpy(remote_text, text, sizeof text);
  const char *command = strchr(text, ' ');
  if (command != NULL) disk_command(command + 1, strlen(command + 1));
}

int disk_failure(enum disk_kind kind) {
  if (remote[0] != 0) obey_remote();
  if ((kind == DISK_READ) != reads) return 0;
  // A full disk still flushes what it has; a broken one does not.
  if (kind == DISK_SYNC && fail_errno != EIO) return 0;
  changes++;
  int fails = fail_at != 0 && changes >= fail_at && (fail_times == 0 || changes < fail_at + fail_times);
  if (!fails && full[0] != 0) {
    fails = disk_raw(SYS_faccessat, AT_FDCWD, full, F_OK) == 0;
    if (!fails) cut_next = 0;
  }
  if (!fails) return 0;
  if (kind == DISK_WRITE && fail_errno != EIO && !cut_next) {
    cut_next = 1;
    return -fail_errno;
  }
  disk_record('E', 0, (uint64_t)fail_errno, "", "", 0);
  return fail_errno;
}

ssize_t disk_write(int fd, uint32_t handle, const void *data, size_t length, off_t offset) {
  if (handle == CONTROL_HANDLE) {
    disk_command(data, length);
    return (ssize_t)length;
  }
  int failure = disk_failure(DISK_WRITE);
  // The first write that does not fit is cut: only what has space is written.
  if (failure < 0 && length < 2) failure = -failure;
  if (failure > 0) {
    errno = failure;
    return -1;
  }
  if (failure < 0) length /= 2;
  off_t at = offset;
  if (at < 0) {
    long flags = disk_raw(SYS_fcntl, fd, F_GETFL);
    struct stat status;
    if (flags & O_APPEND) at = fstat(fd, &status) == 0 ? status.st_size : 0;
    else at = lseek(fd, 0, SEEK_CUR);
  }
  ssize_t done = offset < 0 ? disk_raw(SYS_write, fd, data, length) : disk_raw(SYS_pwrite64, fd, data, length, offset);
  if (done > 0) disk_record('W', handle, (uint64_t)at, "", data, (size_t)done);
  return done;
}
