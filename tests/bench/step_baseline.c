/* The yardstick of scripts/bench: sqlite3_step over the columns an analysis needs, one thread, memory-mapped.
 * usage: step_baseline TRACE; prints seconds and rows. */
#include <sqlite3.h>
#include <stdio.h>
#include <time.h>

static const char *const queries[] = {
    "SELECT start, \"end\", deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName, gridX, gridY, "
    "gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory, graphNodeId "
    "FROM CUPTI_ACTIVITY_KIND_KERNEL",
    "SELECT start, \"end\", deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind "
    "FROM CUPTI_ACTIVITY_KIND_MEMCPY",
    "SELECT start, \"end\", globalTid, correlationId, nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME",
    "SELECT start, \"end\", eventType, globalTid, textId, text FROM NVTX_EVENTS",
};

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
  sqlite3 *db = NULL;
  long rows = 0, sum = 0;
  if (argc != 2 || sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
    fprintf(stderr, "usage: step_baseline TRACE\n");
    return 2;
  }
  sqlite3_exec(db, "PRAGMA mmap_size = 1099511627776", NULL, NULL, NULL);
  double start = now_seconds();
  for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, queries[q], -1, &statement, NULL) != SQLITE_OK)
      continue; /* a trace without that table */
    int columns = sqlite3_column_count(statement);
    while (sqlite3_step(statement) == SQLITE_ROW) {
      for (int c = 0; c < columns; c++) {
        if (sqlite3_column_type(statement, c) == SQLITE_TEXT)
          sum += sqlite3_column_text(statement, c)[0];
        else
          sum += (long)sqlite3_column_int64(statement, c);
      }
      rows++;
    }
    sqlite3_finalize(statement);
  }
  printf("%.4f %ld %s\n", now_seconds() - start, rows,
         sum == 42 ? "" : "ok"); /* the sum keeps the loop from being dropped */
  sqlite3_close(db);
  return 0;
}
