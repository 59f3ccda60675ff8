// What the interposed functions (calls.c, stdio.c) share: which descriptors lie below the root, the log, and the injected failures.
#ifndef HARVEST_DISK_H
#define HARVEST_DISK_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NO_HANDLE 0u

// The handle of a descriptor below the root, NO_HANDLE for any other one. The control file has a handle of its own.
#define CONTROL_HANDLE 0xffffffffu

extern long disk_raw(long number, ...);
extern void disk_lock(void);
extern void disk_unlock(void);

// Path below the root, without a leading slash, in `out` (PATH_MAX bytes); 0 if the path is not below it. "" is the root itself.
extern int disk_path(int dirfd, const char *path, char *out);
extern int disk_is_control(const char *path);

extern uint32_t disk_handle(int fd);
extern uint32_t disk_new_handle(int fd);
extern void disk_set_handle(int fd, uint32_t handle);

// Appends a record to the log. `text` is a path or a reason, `data` the bytes written or a second path.
extern void disk_record(char op, uint32_t handle, uint64_t number, const char *text, const void *data, size_t length);
// A change that the replay does not know: recorded, and said on stderr if there is a log.
extern void disk_unmodelled(const char *what, const char *path);
// What the program writes to the control file.
extern void disk_command(const char *text, size_t length);

enum disk_kind { DISK_WRITE, DISK_NAME, DISK_SYNC, DISK_READ };
// Counts a change, or a read if HARVEST_DISK_READS is set, and returns the error number with which it must fail now, or 0.
extern int disk_failure(enum disk_kind kind);

extern ssize_t disk_write(int fd, uint32_t handle, const void *data, size_t length, off_t offset);
#endif
