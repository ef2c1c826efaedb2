import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { handleRequests } from '../runtime/thread.ts';

const PROBLEMS_MAX = 10;

/** Reads every page of the database file, which may take minutes. */
handleRequests(async () => {
  const db = new DatabaseSync(workerData as string, { readOnly: true, timeout: 10_000 });
  try {
    const rows = db.prepare(`pragma quick_check(${PROBLEMS_MAX})`).all() as { quick_check: string }[];
    return { found: rows.map(({ quick_check }) => quick_check).filter((text) => text !== 'ok') };
  } catch (error) {
    return { found: [String(error)] };
  } finally {
    db.close();
  }
});
