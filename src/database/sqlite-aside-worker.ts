import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { answerEach } from '../thread.ts';
import type { AsideQuery } from './sqlite-aside.ts';

const db = new DatabaseSync(workerData as string, { timeout: 10_000 });
db.exec(`pragma query_only = on; pragma temp_store = memory; pragma cache_size = -16384;
  pragma case_sensitive_like = on`);

answerEach(async ({ sql, parameters }: AsideQuery) => ({
  found: db.prepare(sql).all(...(parameters as SQLInputValue[])),
}));
