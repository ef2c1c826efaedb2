import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { takeAdvisoryLock } from '../../platform/database/locks.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { audit } from '../../records/audit/audit.ts';
import * as store from './store.ts';
import { verifyLedger } from './verification.ts';

export type { CheckRow } from './store.ts';

const HOUR = 3_600;
const KEPT = 100;
const VERIFY_JOB = 'ledger.verify';

function requireAdministrator({ admin }: UserCaller): void {
  if (!admin) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
}

/** Starts a verification of all books, or returns the one that waits. A job that has failed blocks no later one. */
export async function startCheck(app: App, caller: UserCaller): Promise<store.CheckRow> {
  requireAdministrator(caller);
  return app.db.write(async (transaction) => {
    await takeAdvisoryLock(transaction, 'ledger/checks');
    const now = app.clock.now();
    const [last] = await store.checks(transaction.query, 1);
    if (last?.state === 'waiting' && last.date_added > now - HOUR) return last;
    const added = await store.addCheck(transaction.query, {
      user_id: caller.userId,
      state: 'waiting',
      transactions: 0,
      entries: 0,
      accounts: 0,
      problems: '[]',
      date_added: now,
      date_ended: 0,
    });
    await store.forgetChecksBefore(transaction.query, added.id - KEPT);
    await app.jobs.enqueue(transaction, VERIFY_JOB, { id: added.id });
    const subject = { resource: 'ledger_checks', id: added.id, gameId: 0 };
    await audit(app, transaction, { actor: caller.userId, action: 'ledger.verify', subject });
    return added;
  });
}

export async function listChecks(app: App, caller: UserCaller): Promise<store.CheckRow[]> {
  requireAdministrator(caller);
  return store.checks(app.db.query, KEPT);
}

async function runCheck(app: App, id: number): Promise<void> {
  const { problems, ...counted } = await verifyLedger(app);
  const state = problems.length === 0 ? 'right' : 'wrong';
  const result = { ...counted, state, problems: JSON.stringify(problems), date_ended: app.clock.now() } as const;
  await app.db.write(({ query }) => store.endCheck(query, id, result));
  if (state === 'wrong') app.log.error('the books are wrong', { check: id, problems: problems.length });
}

export const ledgerJobs: readonly JobHandler<App>[] = [
  { kind: VERIFY_JOB, leaseSeconds: HOUR, run: (app, { id }: { id: number }) => runCheck(app, id) },
];
