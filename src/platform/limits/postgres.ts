import type { Database, Statement } from '../database/database.ts';
import type { Lease, LeaseRequest, LimitStore } from './store.ts';

/** In the order of the locks that `lease_limit` takes, so that two processes cannot deadlock. */
const LEASES: Statement = {
  text: '',
  postgres: `select r.place, l.granted, l.frees_at from (
      select * from json_to_recordset($1::json) as wanted
        (place int, bucket text, slot bigint, "limit" bigint, want bigint, unspent bigint, "unspentSlot" bigint)
      order by hashtext(bucket)
    ) r cross join lateral lease_limit(r.bucket, r.slot, r."limit", r.want, r.unspent, r."unspentSlot") l`,
};

interface Waiting {
  readonly request: LeaseRequest;
  resolve(lease: Lease): void;
  reject(error: unknown): void;
}

/** More leases would keep others waiting for their locks. */
const TOGETHER_MAX = 50;

/** Counts in PostgreSQL, for processes on any number of machines. Leases of one turn of the event loop share a statement. */
export function postgresStore(db: Database): LimitStore {
  let waiting: Waiting[] = [];
  const leaseSome = async (some: readonly Waiting[]) => {
    try {
      const wanted = some.map(({ request }, place) => ({ place, ...request }));
      const rows = await db.all<{ place: number; granted: number; frees_at: number }>(LEASES, [JSON.stringify(wanted)]);
      for (const { place, granted, frees_at } of rows) some[place]!.resolve({ granted, freesAt: frees_at });
    } catch (error) {
      for (const { reject } of some) reject(error);
    }
  };
  const leaseAll = () => {
    const all = waiting;
    waiting = [];
    for (let from = 0; from < all.length; from += TOGETHER_MAX) void leaseSome(all.slice(from, from + TOGETHER_MAX));
  };
  return {
    lease: (request) =>
      new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(leaseAll);
        waiting.push({ request, resolve, reject });
      }),
    close: async () => {},
  };
}
