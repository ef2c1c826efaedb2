import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { databaseUrl } from '../../composition/compose.ts';
import type { App } from '../../platform/app.ts';
import { folderOf } from '../../platform/config/folders.ts';

export type Row = Record<string, string | number | null>;

/** All reads see the database as it was at the first one. */
export interface Snapshot {
  /** In batches, so that memory stays bounded. */
  rows(select: string): AsyncGenerator<readonly Row[]>;
  close(): Promise<void>;
}

const ROWS_AT_ONCE = 500;

export function openSnapshot({ settings, environment }: App): Promise<Snapshot> {
  const url = databaseUrl(settings, environment);
  return url ? postgresSnapshot(url) : sqliteSnapshot(join(folderOf(settings, environment), 'modstead.sqlite'));
}

async function sqliteSnapshot(file: string): Promise<Snapshot> {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
  db.exec('begin');
  db.prepare('select count(*) from sqlite_master').get();
  return {
    rows: async function* (select) {
      let batch: Row[] = [];
      for (const row of db.prepare(select).iterate()) {
        batch.push(row as Row);
        if (batch.length < ROWS_AT_ONCE) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    },
    close: async () => db.close(),
  };
}

async function postgresSnapshot(url: string): Promise<Snapshot> {
  const { openLongClient } = await import('../../platform/database/postgres-connecting.ts');
  const client = await openLongClient(url, 'modstead export');
  await client.query('begin isolation level repeatable read read only');
  let cursors = 0;
  return {
    rows: async function* (select) {
      const cursor = `c${++cursors}`;
      await client.query(
        `declare ${cursor} no scroll cursor for select row_to_json(t)::text as line from (${select}) t`,
      );
      for (;;) {
        const { rows } = await client.query<{ line: string }>(`fetch ${ROWS_AT_ONCE} from ${cursor}`);
        if (rows.length === 0) break;
        yield rows.map(({ line }) => JSON.parse(line) as Row);
      }
      await client.query(`close ${cursor}`);
    },
    close: () => client.end(),
  };
}
