import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { AsideAnswer, AsideRequest } from './sqlite-aside.ts';

const db = new DatabaseSync(workerData as string, { timeout: 10_000 });
db.exec(`pragma query_only = on; pragma temp_store = memory; pragma cache_size = -16384;
  pragma case_sensitive_like = on`);

parentPort!.on('message', ({ id, sql, parameters }: AsideRequest) => {
  const answer = (message: AsideAnswer) => parentPort!.postMessage(message);
  try {
    answer({ id, rows: db.prepare(sql).all(...(parameters as SQLInputValue[])) });
  } catch (error) {
    answer({ id, error: error as Error });
  }
});
