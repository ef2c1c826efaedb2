import { requireGameAdministrator } from '../../catalogue/games/games.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { auditGame } from '../../records/audit/audit.ts';
import { dropSecret, issueSecret, type MetricsSecret, secretOf } from '../../records/metrics/secrets.ts';

export async function showSecret(app: App, caller: Caller, gameId: number): Promise<MetricsSecret> {
  await requireGameAdministrator(app.db, caller, gameId);
  return (await secretOf(app, gameId)) ?? { secret: '', date_added: 0 };
}

/** Reports signed with the previous secret are refused from now on. */
export const renewSecret = (app: App, caller: UserCaller, gameId: number): Promise<MetricsSecret> =>
  app.db.write(async (transaction) => {
    await requireGameAdministrator(transaction, caller, gameId);
    const issued = await issueSecret(app, transaction, gameId);
    transaction.made?.();
    await auditGame(app, transaction, caller, gameId, { action: 'metrics-secret-renew' });
    return issued;
  });

export async function removeSecret(app: App, caller: UserCaller, gameId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    await requireGameAdministrator(transaction, caller, gameId);
    await dropSecret(transaction, gameId);
    await auditGame(app, transaction, caller, gameId, { action: 'metrics-secret-remove' });
  });
}
