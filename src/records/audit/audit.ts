import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

/** An action of a moderator, an administrator or the operator. */
export interface Audited {
  /** The acting user; 0 for the service itself. */
  readonly actor: number;
  /** The resource and the action, such as `mods.delete`. */
  readonly action: string;
  readonly subject: { readonly resource: string; readonly id: number; readonly gameId: number };
  readonly reason?: string | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Appends to the audit log in the transaction of the action. Call it last: the next writer waits for this transaction,
 * and a lock taken after it could deadlock the two.
 */
export async function audit(app: App, transaction: Transaction, done: Audited): Promise<void> {
  const { last_id, hash: previous } = await store.lockHead(transaction);
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

/** Audits an action on the game itself, by its team or by site staff. */
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

/** Keyed with a secret outside the database, so that write access to the database is not enough to forge the chain. */
function hashOf(app: App, row: Omit<store.AuditRow, 'hash'>): string {
  const { id, date_added, game_id, user_id, action, resource, resource_id, reason, data, previous } = row;
  const signed = [id, date_added, game_id, user_id, action, resource, resource_id, reason, data, previous];
  return app.secrets.sign('audit', JSON.stringify(signed));
}

export interface Verdict {
  /** The number of intact rows. */
  readonly rows: number;
  /** The first row that was changed or is missing. */
  readonly broken?: { readonly id: number; readonly problem: 'missing' | 'changed' | 'added' };
}

const VERIFIED_AT_ONCE = 1_000;

/** Verifies the hash chain up to the row that was last when the check began. */
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
  // Rows appended during the check are not beyond the head as it is now.
  const now = (await store.headOf(query))?.last_id ?? 0;
  return (await store.hasRowsBeyond(query, Math.max(now, head.last_id)))
    ? broken(last.id, last.id + 1, 'added')
    : { rows: last.id };
}

/**
 * Signs a log that came from another service with the secret of this one. Its rows stay; the signatures of the other
 * service are in the archive.
 */
export async function resignAudit(app: App): Promise<void> {
  let last = { id: 0, hash: '' };
  for (;;) {
    const after = last;
    const signed = await app.db.write(async (transaction) => {
      const rows = await store.rowsAfter(transaction.query, after.id, Number.MAX_SAFE_INTEGER, VERIFIED_AT_ONCE);
      let { hash: previous } = after;
      for (const row of rows) {
        const hash = hashOf(app, { ...row, previous });
        await store.putHash(transaction, row.id, previous, hash);
        previous = hash;
      }
      if (rows.length > 0) await store.putHead(transaction, rows.at(-1)!.id, previous);
      return rows.length === 0 ? undefined : { id: rows.at(-1)!.id, hash: previous };
    });
    if (!signed) return;
    last = signed;
  }
}

const broken = (rows: number, id: number, problem: NonNullable<Verdict['broken']>['problem']): Verdict => ({
  rows,
  broken: { id, problem },
});
