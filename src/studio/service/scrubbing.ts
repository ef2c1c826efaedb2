import type { App } from '../../platform/app.ts';

/** A damaged page is said at every start and every day until the database is restored: in the log, and by `doctor`. */
export async function scrubDatabase({ db, log }: Pick<App, 'db' | 'log'>): Promise<void> {
  for (const problem of await db.scrub()) log.error('the database is damaged; restore it from a backup', { problem });
}
