import { type Database, statement } from '../database/database.ts';
import type { LimitStore } from './store.ts';

const LEASE = statement('select granted, frees_at from lease_limit(?, ?, ?, ?, ?, ?)');

/** Counts in PostgreSQL, for processes on any number of machines; one round trip per lease. */
export function postgresStore(db: Database): LimitStore {
  return {
    async lease({ bucket, slot, limit, want, unspent, unspentSlot }) {
      const values = [bucket, slot, limit, want, unspent, unspentSlot];
      const row = (await db.first<{ granted: number; frees_at: number }>(LEASE, values))!;
      return { granted: row.granted, freesAt: row.frees_at };
    },
    close: async () => {},
  };
}
