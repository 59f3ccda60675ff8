// The calls of libc that change files or names. A call and its record are one step under a lock, so the log has the order of the changes.
#define _GNU_SOURCE
#include "disk.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// ---- opening and closing ----

static int open_at(int dirfd, const char *path, int flags, mode_t mode) {
  char below[PATH_MAX];
  disk_lock();
  int inside = disk_path(dirfd, path, below);
  int created = 0;
  if (inside && (flags & (O_CREAT | O_TRUNC))) {
    struct stat status;
    created = (flags & O_CREAT) && fstatat(dirfd, path, &status, AT_SYMLINK_NOFOLLOW) != 0;
    int failure = created ? disk_failure(DISK_NAME) : 0;
    if (failure != 0) {
      disk_unlock();
      errno = failure;
      return -1;
    }
  }
  int fd = (int)disk_raw(SYS_openat, dirfd, path, flags, mode);
  if (fd >= 0) {
    int error = errno;
    if (disk_is_control(path)) disk_set_handle(fd, CONTROL_HANDLE);
    else if (!inside) disk_set_handle(fd, NO_HANDLE);
    else {
      uint32_t handle = disk_new_handle(fd);
      int written = (flags & O_ACCMODE) != O_RDONLY;
      if (written && (flags & (O_DSYNC | O_SYNC | __O_TMPFILE) & ~O_DIRECTORY)) disk_unmodelled("open with O_SYNC or O_TMPFILE", below);
      disk_record('O', handle, (uint64_t)(created | (written && (flags & O_TRUNC) ? 2 : 0)), below, "", 0);
    }
    errno = error;
  }
  disk_unlock();
  return fd;
}

#define MODE_OF(flags, last)                          \
  mode_t mode = 0;                                    \
  if ((flags) & (O_CREAT | __O_TMPFILE)) {            \
    va_list arguments;                                \
    va_start(arguments, last);                        \
    mode = va_arg(arguments, mode_t);                 \
    va_end(arguments);                                \
  }

int open(const char *path, int flags, ...) { MODE_OF(flags, flags) return open_at(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE_OF(flags, flags) return open_at(AT_FDCWD, path, flags, mode); }
int openat(int fd, const char *path, int flags, ...) { MODE_OF(flags, flags) return open_at(fd, path, flags, mode); }
int openat64(int fd, const char *path, int flags, ...) { MODE_OF(flags, flags) return open_at(fd, path, flags, mode); }
int creat(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

int close(int fd) {
  disk_lock();
  disk_set_handle(fd, NO_HANDLE);
  int result = (int)disk_raw(SYS_close, fd);
  disk_unlock();
  return result;
}

static int copy_handle(int from, int to) {
  if (to >= 0 && to != from) disk_set_handle(to, disk_handle(from));
  return to;
}

int dup(int fd) {
  disk_lock();
  int result = copy_handle(fd, (int)disk_raw(SYS_dup, fd));
  disk_unlock();
  return result;
}
int dup3(int fd, int to, int flags) {
  disk_lock();
  int result = copy_handle(fd, (int)disk_raw(SYS_dup3, fd, to, flags));
  disk_unlock();
  return result;
}
int dup2(int fd, int to) { return fd == to ? to : dup3(fd, to, 0); }

static int control_of(int fd, int command, void *argument) {
  disk_lock();
  int result = (int)disk_raw(SYS_fcntl, fd, command, argument);
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) copy_handle(fd, result);
  disk_unlock();
  return result;
}

#define ARGUMENT(last)                     \
  va_list arguments;                       \
  va_start(arguments, last);               \
  void *argument = va_arg(arguments, void *); \
  va_end(arguments);

int fcntl(int fd, int command, ...) { ARGUMENT(command) return control_of(fd, command, argument); }
int fcntl64(int fd, int command, ...) { ARGUMENT(command) return control_of(fd, command, argument); }

// ---- content ----

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  disk_lock();
  uint32_t handle = disk_handle(fd);
  ssize_t result = -1;
  if (handle != NO_HANDLE) result = disk_write(fd, handle, data, length, offset);
  disk_unlock();
  if (handle != NO_HANDLE) return result;
  return offset < 0 ? disk_raw(SYS_write, fd, data, length) : disk_raw(SYS_pwrite64, fd, data, length, offset);
}
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) { return pwrite(fd, data, length, offset); }

// Other descriptors (sockets, pipes) may block, so they do not come near the lock for longer than the look-up.
ssize_t write(int fd, const void *data, size_t length) { return pwrite(fd, data, length, -1); }

ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset) {
  disk_lock();
  int known = disk_handle(fd) != NO_HANDLE;
  disk_unlock();
  if (!known) {
    if (offset < 0) return disk_raw(SYS_writev, fd, pieces, count);
    return disk_raw(SYS_pwritev, fd, pieces, count, (long)offset, (long)0);
  }
  ssize_t total = 0;
  for (int i = 0; i < count; i++) {
    if (pieces[i].iov_len == 0) continue;
    ssize_t done = pwrite(fd, pieces[i].iov_base, pieces[i].iov_len, offset < 0 ? -1 : offset + total);
    if (done < 0) return total > 0 ? total : -1;
    total += done;
    if ((size_t)done < pieces[i].iov_len) break;
  }
  return total;
}
ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off64_t offset) { return pwritev(fd, pieces, count, offset); }
ssize_t writev(int fd, const struct iovec *pieces, int count) { return pwritev(fd, pieces, count, -1); }

// Whether a read of a descriptor must fail now; sets errno.
static int read_fails(int fd) {
  disk_lock();
  uint32_t handle = disk_handle(fd);
  int failure = handle == NO_HANDLE || handle == CONTROL_HANDLE ? 0 : disk_failure(DISK_READ);
  disk_unlock();
  if (failure != 0) errno = failure;
  return failure != 0;
}
ssize_t read(int fd, void *data, size_t length) {
  return read_fails(fd) ? -1 : disk_raw(SYS_read, fd, data, length);
}
ssize_t readv(int fd, const struct iovec *pieces, int count) {
  return read_fails(fd) ? -1 : disk_raw(SYS_readv, fd, pieces, count);
}
ssize_t pread(int fd, void *data, size_t length, off_t offset) {
  return read_fails(fd) ? -1 : disk_raw(SYS_pread64, fd, data, length, offset);
}
ssize_t pread64(int fd, void *data, size_t length, off64_t offset) { return pread(fd, data, length, offset); }
ssize_t preadv(int fd, const struct iovec *pieces, int count, off_t offset) {
  return read_fails(fd) ? -1 : disk_raw(SYS_preadv, fd, pieces, count, (long)offset, (long)0);
}
ssize_t preadv64(int fd, const struct iovec *pieces, int count, off64_t offset) { return preadv(fd, pieces, count, offset); }

int ftruncate(int fd, off_t length) {
  disk_lock();
  uint32_t handle = disk_handle(fd);
  int result = (int)disk_raw(SYS_ftruncate, fd, length);
  if (result == 0 && handle != NO_HANDLE) disk_record('T', handle, (uint64_t)length, "", "", 0);
  disk_unlock();
  return result;
}
int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }

int truncate(const char *path, off_t length) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  int result = ftruncate(fd, length);
  int error = errno;
  close(fd);
  errno = error;
  return result;
}
int truncate64(const char *path, off64_t length) { return truncate(path, length); }

static int sync_file(int fd, long number) {
  disk_lock();
  uint32_t handle = disk_handle(fd);
  int failure = handle == NO_HANDLE ? 0 : disk_failure(DISK_SYNC);
  int result = -1;
  if (failure != 0) errno = failure;
  // The replay decides what reached the disk; flushing it really would only take time.
  else if (handle != NO_HANDLE) result = 0;
  else result = (int)disk_raw(number, fd);
  if (result == 0 && handle != NO_HANDLE) disk_record('F', handle, 0, "", "", 0);
  disk_unlock();
  return result;
}
int fsync(int fd) { return sync_file(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_file(fd, SYS_fdatasync); }

// Neither is in the log, so libuv falls back to reading and writing.
ssize_t sendfile(int out, int in, off_t *offset, size_t count) {
  disk_lock();
  int known = disk_handle(out) != NO_HANDLE;
  disk_unlock();
  if (!known) return disk_raw(SYS_sendfile, out, in, offset, count);
  errno = EINVAL;
  return -1;
}
ssize_t sendfile64(int out, int in, off64_t *offset, size_t count) { return sendfile(out, in, offset, count); }

int ioctl(int fd, unsigned long request, ...) {
  ARGUMENT(request)
  if (request == FICLONE || request == FICLONERANGE) {
    disk_lock();
    int known = disk_handle(fd) != NO_HANDLE;
    disk_unlock();
    if (known) {
      errno = EOPNOTSUPP;
      return -1;
    }
  }
  return (int)disk_raw(SYS_ioctl, fd, request, argument);
}

static void refuse(int fd, const char *what) {
  disk_lock();
  char path[PATH_MAX] = "";
  char link[64];
  if (disk_handle(fd) != NO_HANDLE) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long length = disk_raw(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    if (length >= 0) path[length] = 0;
    // SQLite rebuilds its shared memory after a crash, so its content does not matter.
    size_t end = strlen(path);
    if (end < 4 || strcmp(path + end - 4, "-shm") != 0) disk_unmodelled(what, path);
  }
  disk_unlock();
}

int fallocate(int fd, int mode, off_t offset, off_t length) {
  refuse(fd, "fallocate");
  return (int)disk_raw(SYS_fallocate, fd, mode, offset, length);
}
int fallocate64(int fd, int mode, off64_t offset, off64_t length) { return fallocate(fd, mode, offset, length); }
int posix_fallocate(int fd, off_t offset, off_t length) { return fallocate(fd, 0, offset, length) == 0 ? 0 : errno; }
int posix_fallocate64(int fd, off64_t offset, off64_t length) { return posix_fallocate(fd, offset, length); }

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  if (fd >= 0 && (flags & MAP_SHARED) && (protection & PROT_WRITE)) refuse(fd, "a writable shared mapping");
  return (void *)disk_raw(SYS_mmap, address, length, protection, flags, fd, offset);
}
void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset) {
  return mmap(address, length, protection, flags, fd, offset);
}

// libuv and Rust make some calls by number.
long syscall(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  long a = va_arg(arguments, long), b = va_arg(arguments, long), c = va_arg(arguments, long);
  long d = va_arg(arguments, long), e = va_arg(arguments, long), f = va_arg(arguments, long);
  va_end(arguments);
  switch (number) {
    case SYS_close:
      return close((int)a);
    case SYS_openat:
      return open_at((int)a, (const char *)b, (int)c, (mode_t)d);
    case SYS_write:
      return write((int)a, (const void *)b, (size_t)c);
    case SYS_pwrite64:
      return pwrite((int)a, (const void *)b, (size_t)c, (off_t)d);
    case SYS_pwritev:
      return pwritev((int)a, (const struct iovec *)b, (int)c, (off_t)d);
    case SYS_read:
      return read((int)a, (void *)b, (size_t)c);
    case SYS_pread64:
      return pread((int)a, (void *)b, (size_t)c, (off_t)d);
    case SYS_renameat2:
      return renameat2((int)a, (const char *)b, (int)c, (const char *)d, (unsigned)e);
    case SYS_unlinkat:
      return unlinkat((int)a, (const char *)b, (int)c);
    case SYS_io_uring_setup:
      // Operations in a ring are never seen.
      errno = ENOSYS;
      return -1;
    case SYS_copy_file_range: {
      disk_lock();
      int known = disk_handle((int)c) != NO_HANDLE;
      disk_unlock();
      if (!known) break;
      errno = ENOSYS;
      return -1;
    }
    default:
      break;
  }
  return disk_raw(number, a, b, c, d, e, f);
}
