import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type LeaseRequest, type LimitStore, leaseFrom, leasesTogether } from './store.ts';
import { WINDOW_SLOTS, Window } from './window.ts';

// Leases lock the file for less than a millisecond, so a longer wait means that another process hangs.
const BUSY_MS = 1_000;
/** More than the leases of one turn of the event loop. */
const STALE_ROWS_PER_TURN = 100;

/** Counts in a separate file beside the database, for any number of processes on one machine. */
export function sqliteStore(file: string): LimitStore {
  mkdirSync(dirname(file), { recursive: true });
  const db = openOrReplace(file);
  const read = db.prepare('select counts from limits where bucket = ?');
  const write = db.prepare(
    'insert into limits values (?, ?, ?) on conflict (bucket) do update set slot = excluded.slot, counts = excluded.counts',
  );
  const prune = db.prepare(
    `delete from limits where bucket in (select bucket from limits where slot <= ? order by slot limit ${STALE_ROWS_PER_TURN})`,
  );
  const begin = db.prepare('begin immediate');
  const commit = db.prepare('commit');
  const leaseInTransaction = (request: LeaseRequest) => {
    const row = read.get(request.bucket) as { counts: string } | undefined;
    const window = new Window(row ? JSON.parse(row.counts) : []);
    const lease = leaseFrom(window, request);
    write.run(request.bucket, request.slot, JSON.stringify(window.pairs));
    return lease;
  };
  return {
    lease: leasesTogether(async (requests) => {
      begin.run();
      try {
        const leases = requests.map(leaseInTransaction);
        prune.run(requests[0]!.slot - WINDOW_SLOTS);
        commit.run();
        return leases;
      } catch (error) {
        if (db.isTransaction) db.exec('rollback');
        throw error;
      }
    }),
    close: async () => db.close(),
  };
}

/** The file is written without fsync, so a power failure may corrupt it; its content is valid for a minute only. */
function openOrReplace(file: string): DatabaseSync {
  try {
    return open(file);
  } catch (error) {
    if (!isBroken(error)) throw error;
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    return open(file);
  }
}

function open(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: BUSY_MS });
  try {
    db.exec('pragma journal_mode = wal; pragma synchronous = off; pragma temp_store = memory');
    const { quick_check } = db.prepare('pragma quick_check(1)').get() as { quick_check: string };
    if (quick_check !== 'ok') throw Object.assign(new Error(quick_check), { errcode: SQLITE_CORRUPT });
    db.exec(`create table if not exists limits (bucket text primary key, slot integer not null, counts text not null) without rowid;
      create index if not exists limits_by_slot on limits (slot)`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

function isBroken(error: unknown): boolean {
  const primary = ((error as { errcode?: number }).errcode ?? 0) & 0xff;
  return primary === SQLITE_CORRUPT || primary === SQLITE_NOTADB;
}
