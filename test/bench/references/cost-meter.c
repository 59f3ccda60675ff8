/*
 * Runs a program and appends a line of JSON with its cost to REPORT: seconds by the clock, processor seconds of the program and its
 * children, and the largest resident set in bytes. Exits with the status of the program.
 *
 *   cost-meter REPORT PROGRAM [ARGUMENT...]
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: cost-meter REPORT PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  double began = now();
  pid_t child = fork();
  if (child < 0) return perror("fork"), 1;
  if (child == 0) {
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    _exit(127);
  }
  int status;
  struct rusage used;
  if (wait4(child, &status, 0, &used) < 0) return perror("wait4"), 1;
  FILE *report = fopen(argv[1], "a");
  if (report == NULL) return perror(argv[1]), 1;
  fprintf(report, "{\"seconds\":%.3f,\"cpuSeconds\":%.3f,\"maxRss\":%ld}\n", now() - began,
          used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
          used.ru_maxrss * 1024);
  fclose(report);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
