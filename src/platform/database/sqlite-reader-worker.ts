import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { handleRequests } from '../runtime/thread.ts';
import { TOOK_TOO_LONG } from './failures.ts';
import { MAY_SCAN } from './may-scan.ts';
import { fitsPattern, type Pattern, patternOf } from './patterns.ts';
import type { ReaderOptions, ReaderQuery } from './sqlite-reader.ts';

/** CPU time is checked after this many steps; a row or 64 characters of text are one step. */
const STEPS_BETWEEN = 4_096;
const CHARACTERS_PER_STEP = 64;
const PATTERNS_KEPT = 100;
const STATEMENTS_KEPT = 200;

const { location, readOnly, budgetMs } = workerData as ReaderOptions;
const db = new DatabaseSync(location, { readOnly, timeout: 10_000 });
db.exec('pragma query_only = on; pragma temp_store = memory; pragma cache_size = -16384');

const usedMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};
let begunMs = 0;
let steps = 0;

function step(count: number): void {
  steps += count;
  if (steps < STEPS_BETWEEN) return;
  steps = 0;
  if (usedMs() - begunMs <= budgetMs) return;
  throw Object.assign(new Error(`a query took more than ${budgetMs} ms of the processor`), { code: TOOK_TOO_LONG });
}

/** Memoises by text and clears the cache when it is full. */
function madeOnce<T>(most: number, make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>();
  return (text) => {
    const known = made.get(text) ?? make(text);
    if (made.size >= most) made.clear();
    made.set(text, known);
    return known;
  };
}

const patternFor = madeOnce<Pattern>(PATTERNS_KEPT, patternOf);
const statementFor = madeOnce<StatementSync>(STATEMENTS_KEPT, (text) =>
  db.prepare(text.replaceAll(MAY_SCAN, 'in_time()')),
);

// SQLite cannot be interrupted from another thread, so each row calls this function.
db.function('in_time', () => {
  step(1);
  return 1;
});
db.function('like', { deterministic: true }, (like, text, _escape) => {
  if (text === null) return null;
  step(1 + String(text).length / CHARACTERS_PER_STEP);
  return fitsPattern(String(text), patternFor(String(like))) ? 1 : 0;
});

handleRequests(async ({ sql, parameters }: ReaderQuery) => {
  begunMs = usedMs();
  steps = 0;
  return { found: statementFor(sql).all(...(parameters as SQLInputValue[])) };
});
