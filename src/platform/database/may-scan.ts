/**
 * An always-true condition that marks queries that may scan every row. On SQLite they run in a worker thread with a
 * time limit (`sqlite-reader-worker.ts`), which imports this file and not the query builder.
 */
export const MAY_SCAN = '1 = 1 /* looking through */';
