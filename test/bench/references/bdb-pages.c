/*
 * Reads pages of links from a local Berkeley DB: a cursor on the key, at most ROWS duplicates.
 *
 *   bdb-pages DATABASE KEYS SECONDS ROWS
 *
 * DATABASE: a BTREE with duplicates whose keys and data are u32, as db_load creates it from a dump of refdb or hubsdb. KEYS: a file of
 * u32, read cyclically for SECONDS. Prints one line of JSON.
 */
#include <db.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { CACHE_BYTES = 256 << 20, KEYS_BETWEEN_CLOCKS = 64 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static double cpu_seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void fail(const char *what, int code) {
  fprintf(stderr, "%s: %s\n", what, db_strerror(code));
  exit(1);
}

/* Returns the number of rows read. */
static int read_page(DB *database, uint32_t id, int rows, uint32_t *sum) {
  DBC *cursor;
  DBT key, data;
  memset(&key, 0, sizeof key);
  memset(&data, 0, sizeof data);
  key.data = &id;
  key.size = sizeof id;
  int code = database->cursor(database, NULL, &cursor, 0);
  if (code) fail("cursor", code);
  int read = 0;
  for (code = cursor->get(cursor, &key, &data, DB_SET); code == 0 && read < rows;) {
    uint32_t value;
    memcpy(&value, data.data, sizeof value);
    *sum += value;
    if (++read < rows) code = cursor->get(cursor, &key, &data, DB_NEXT_DUP);
  }
  cursor->close(cursor);
  return read;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: bdb-pages DATABASE KEYS SECONDS ROWS\n");
    return 2;
  }
  FILE *file = fopen(argv[2], "r");
  if (file == NULL) return perror(argv[2]), 1;
  fseek(file, 0, SEEK_END);
  size_t count = ftell(file) / sizeof(uint32_t);
  rewind(file);
  uint32_t *keys = malloc(count * sizeof *keys);
  if (fread(keys, sizeof *keys, count, file) != count) return perror(argv[2]), 1;
  fclose(file);
  DB *database;
  int code = db_create(&database, NULL, 0);
  if (code) fail("db_create", code);
  database->set_cachesize(database, 0, CACHE_BYTES, 1);
  code = database->open(database, NULL, argv[1], NULL, DB_UNKNOWN, DB_RDONLY, 0);
  if (code) fail(argv[1], code);
  int rows = atoi(argv[4]);
  uint64_t pages = 0, read = 0;
  uint32_t sum = 0;
  double seconds = atof(argv[3]), began = now();
  /* Warms the cache: one unmeasured pass, for at most SECONDS. */
  for (size_t i = 0; i < count && (i % KEYS_BETWEEN_CLOCKS > 0 || now() < began + seconds); i++)
    read_page(database, keys[i], rows, &sum);
  sum = 0;
  began = now();
  double cpu = cpu_seconds(), time = began, end = began + seconds;
  for (size_t next = 0; time < end; time = now())
    for (int i = 0; i < KEYS_BETWEEN_CLOCKS; i++, pages++) {
      read += read_page(database, keys[next], rows, &sum);
      if (++next == count) next = 0;
    }
  printf("{\"replies\":%lu,\"elements\":%lu,\"sum\":%u,\"seconds\":%.6f,\"cpuSeconds\":%.6f}\n", pages, read, sum, time - began,
         cpu_seconds() - cpu);
  database->close(database, 0);
  return 0;
}
