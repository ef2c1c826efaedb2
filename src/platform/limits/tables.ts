import type { Migration } from '../database/migrate.ts';

/**
 * PostgreSQL only: on SQLite the counts have a file of their own. The table is unlogged, so that a lease waits
 * for no disk; a crash of the database empties it, which forgives everyone one minute.
 */
export const limitsMigrations: Migration[] = [
  {
    name: '2026-11-15-limits',
    up: ({ integer, text }, dialect) => {
      if (dialect !== 'postgres') return [];
      return [
        `create unlogged table limit_slots (bucket ${text} not null, slot ${integer} not null, taken ${integer} not null,
          primary key (bucket, slot))`,
        'create index limit_slots_by_slot on limit_slots (slot)',
        LEASE_LIMIT,
      ];
    },
  },
];

/**
 * The rule of `leaseFrom`. A function, because each statement in it sees what was committed before it began: the
 * sum must be read after the lock is held, and a single statement would have its snapshot from before.
 * Pruning comes last and skips what others hold, so it can neither wait nor be part of a deadlock.
 */
const LEASE_LIMIT = `
create function lease_limit(p_bucket text, p_slot bigint, p_limit bigint, p_want bigint, p_unspent bigint,
  p_unspent_slot bigint, out granted bigint, out frees_at bigint) language plpgsql as $$
declare total bigint;
begin
  perform pg_advisory_xact_lock(1297040467, hashtext(p_bucket));
  if p_unspent > 0 then
    update limit_slots set taken = greatest(0, taken - p_unspent) where bucket = p_bucket and slot = p_unspent_slot;
  end if;
  delete from limit_slots where bucket = p_bucket and (slot <= p_slot - 13 or slot >= p_slot + 13);
  select coalesce(sum(taken), 0) into total from limit_slots where bucket = p_bucket;
  granted := least(p_want, (greatest(p_limit - total, 0) + 1) / 2);
  frees_at := p_slot;
  if granted > 0 then
    insert into limit_slots values (p_bucket, p_slot, granted)
      on conflict (bucket, slot) do update set taken = limit_slots.taken + excluded.taken;
  else
    select coalesce(min(freed.slot), p_slot) + 13 into frees_at
      from (select slot, sum(taken) over (order by slot) as count from limit_slots where bucket = p_bucket) as freed
      where freed.count > total - p_limit;
  end if;
  delete from limit_slots where (bucket, slot) in
    (select bucket, slot from limit_slots where slot < p_slot - 24 order by slot limit 4 for update skip locked);
end $$`;
