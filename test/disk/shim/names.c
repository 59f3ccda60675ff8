// The calls of libc that change names: rename, link, unlink, mkdir, rmdir.
#define _GNU_SOURCE
#include "disk.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Returns -1 with errno if the change must fail.
static int refused(enum disk_kind kind) {
  int failure = disk_failure(kind);
  if (failure == 0) return 0;
  errno = failure < 0 ? -failure : failure;
  return -1;
}

static int two_names(char op, long number, int from_fd, const char *from, int to_fd, const char *to, unsigned flags) {
  char old_name[PATH_MAX];
  char new_name[PATH_MAX];
  disk_lock();
  int old_inside = disk_path(from_fd, from, old_name);
  int new_inside = disk_path(to_fd, to, new_name);
  int result = new_inside ? refused(DISK_NAME) : 0;
  if (result == 0) result = (int)disk_raw(number, from_fd, from, to_fd, to, flags);
  int error = errno;
  if (result == 0 && (old_inside || new_inside)) {
    if (!old_inside || !new_inside || (op == 'R' && flags != 0))
      disk_unmodelled("a rename or link across the root, or with flags,", new_inside ? new_name : old_name);
    else disk_record(op, 0, 0, old_name, new_name, strlen(new_name));
  }
  disk_unlock();
  errno = error;
  return result;
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags) {
  return two_names('R', SYS_renameat2, from_fd, from, to_fd, to, flags);
}
int renameat(int from_fd, const char *from, int to_fd, const char *to) { return renameat2(from_fd, from, to_fd, to, 0); }
int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }
int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags) {
  return two_names('L', SYS_linkat, from_fd, from, to_fd, to, (unsigned)flags);
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int fd, const char *path, int flags) {
  char below[PATH_MAX];
  disk_lock();
  int inside = disk_path(fd, path, below);
  int result = (int)disk_raw(SYS_unlinkat, fd, path, flags);
  int error = errno;
  if (result == 0 && inside) disk_record((flags & AT_REMOVEDIR) ? 'D' : 'U', 0, 0, below, "", 0);
  disk_unlock();
  errno = error;
  return result;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
  int result = unlink(path);
  return result != 0 && (errno == EISDIR || errno == EPERM) ? rmdir(path) : result;
}

int mkdirat(int fd, const char *path, mode_t mode) {
  char below[PATH_MAX];
  disk_lock();
  int inside = disk_path(fd, path, below);
  struct stat status;
  int exists = inside && fstatat(fd, path, &status, AT_SYMLINK_NOFOLLOW) == 0;
  int result = inside && !exists ? refused(DISK_NAME) : 0;
  if (result == 0) result = (int)disk_raw(SYS_mkdirat, fd, path, mode);
  int error = errno;
  if (result == 0 && inside) disk_record('N', 0, 0, below, "", 0);
  disk_unlock();
  errno = error;
  return result;
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int symlinkat(const char *target, int fd, const char *path) {
  char below[PATH_MAX];
  disk_lock();
  if (disk_path(fd, path, below)) disk_unmodelled("a symbolic link", below);
  int result = (int)disk_raw(SYS_symlinkat, target, fd, path);
  disk_unlock();
  return result;
}
int symlink(const char *target, const char *path) { return symlinkat(target, AT_FDCWD, path); }

// libc chooses the name, so it is replaced here as a whole: any free name will do.
static int fill(char *path, int suffix, int directory) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  size_t length = strlen(path);
  if (length < 6 + (size_t)suffix) {
    errno = EINVAL;
    return -1;
  }
  char *holes = path + length - 6 - suffix;
  for (int attempt = 0; attempt < 1000; attempt++) {
    unsigned char random[6];
    if (disk_raw(SYS_getrandom, random, sizeof random, 0) != sizeof random) return -1;
    for (int i = 0; i < 6; i++) holes[i] = letters[random[i] % 62];
    int result = directory ? mkdir(path, 0700) : open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (result >= 0 || errno != EEXIST) return result;
  }
  return -1;
}
char *mkdtemp(char *path) { return fill(path, 0, 1) < 0 ? NULL : path; }
int mkstemp(char *path) { return fill(path, 0, 0); }
int mkstemp64(char *path) { return fill(path, 0, 0); }
int mkostemp(char *path, int flags) {
  (void)flags;
  return fill(path, 0, 0);
}
int mkostemp64(char *path, int flags) { return mkostemp(path, flags); }
