import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

/** What someone who decides over others has done. */
export interface Audited {
  /** Who did it; 0 for the service itself. */
  readonly actor: number;
  /** The noun and what was done to it, such as `mods.delete`. */
  readonly action: string;
  readonly subject: { readonly resource: string; readonly id: number; readonly gameId: number };
  readonly reason?: string | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Writes it down, in the transaction that does it and as its last step: whoever writes here next waits until that
 * transaction is over, and must not wait for anything else that this one still wants.
 */
export async function audit(app: App, transaction: Transaction, done: Audited): Promise<void> {
  const { last_id, hash: previous } = await store.holdHead(transaction);
  const row = {
    id: last_id + 1,
    date_added: app.clock.now(),
    game_id: done.subject.gameId,
    user_id: done.actor,
    action: done.action,
    resource: done.subject.resource,
    resource_id: done.subject.id,
    reason: done.reason ?? '',
    data: JSON.stringify(done.data ?? {}),
    previous,
  };
  await store.add(transaction, { ...row, hash: hashOf(app, row) });
}

/** The same for what a game's team, or whoever runs the service, does with the game itself. */
export const auditGame = (
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  gameId: number,
  { action, data }: Pick<Audited, 'action' | 'data'>,
): Promise<void> =>
  audit(app, transaction, {
    actor: caller.userId,
    action: `games.${action}`,
    subject: { resource: 'games', id: gameId, gameId },
    data,
  });

/** With a key that the database does not hold: who can write to that alone cannot make a chain that fits. */
function hashOf(app: App, row: Omit<store.AuditRow, 'hash'>): string {
  const { id, date_added, game_id, user_id, action, resource, resource_id, reason, data, previous } = row;
  const told = [id, date_added, game_id, user_id, action, resource, resource_id, reason, data, previous];
  return app.secrets.sign('audit', JSON.stringify(told));
}

export interface Verdict {
  /** How many rows were found to be as they were written. */
  readonly rows: number;
  /** The first that is not, or that is not there. */
  readonly broken?: { readonly id: number; readonly problem: 'missing' | 'changed' | 'added' };
}

const VERIFIED_AT_ONCE = 1_000;

/** Follows the chain from its first row to the last that was there when it began. */
export async function verifyAudit(app: App): Promise<Verdict> {
  const { query } = app.db;
  const head = await store.headOf(query);
  if (!head) return { rows: 0, broken: { id: 0, problem: 'missing' } };
  let last = { id: 0, hash: '' };
  while (last.id < head.last_id) {
    const rows = await store.rowsAfter(query, last.id, head.last_id, VERIFIED_AT_ONCE);
    if (rows.length === 0) return broken(last.id, last.id + 1, 'missing');
    for (const row of rows) {
      if (row.id !== last.id + 1) return broken(last.id, last.id + 1, 'missing');
      if (row.previous !== last.hash || row.hash !== hashOf(app, row)) return broken(last.id, row.id, 'changed');
      last = row;
    }
  }
  if (last.hash !== head.hash) return broken(last.id, last.id, 'changed');
  // What was written since is beyond the last row of then, and not beyond that of now.
  const now = (await store.headOf(query))?.last_id ?? 0;
  return (await store.hasRowsBeyond(query, Math.max(now, head.last_id)))
    ? broken(last.id, last.id + 1, 'added')
    : { rows: last.id };
}

const broken = (rows: number, id: number, problem: NonNullable<Verdict['broken']>['problem']): Verdict => ({
  rows,
  broken: { id, problem },
});
