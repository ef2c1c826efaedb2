import type { App } from '../../platform/app.ts';
import { forgetOutdatedRequests } from '../../platform/database/duplicate-requests.ts';
import { factOf, rememberFact } from '../../platform/database/facts.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { scrubDatabase } from './scrubbing.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
const SEEN_FACT = 'incoming.seen';

export const serviceJobs: readonly JobHandler<App>[] = [
  { kind: 'service.remove-abandoned-uploads', byAge: true, every: HOUR, run: (app) => removeAbandonedUploads(app) },
  {
    kind: 'service.forget-wishes',
    byAge: true,
    every: HOUR,
    run: (app) => forgetOutdatedRequests(app.db, app.clock.now()),
  },
  { kind: 'service.scrub-database', every: DAY, leaseSeconds: HOUR, run: (app) => scrubDatabase(app) },
];

/**
 * An upload leaves `incoming/` at the end of its request, unless the process crashes. The storage returns no file
 * dates, so the job remembers when it first saw each file.
 */
async function removeAbandonedUploads(app: App): Promise<void> {
  // It also removes temporary files of killed processes.
  await app.storage.check().catch((error: unknown) => app.log.warn('the storage cannot be written', { error }));
  const now = app.clock.now();
  const before = JSON.parse((await factOf(app.db.query, SEEN_FACT)) ?? '{}') as Record<string, number>;
  const seen: Record<string, number> = {};
  for await (const key of app.storage.list('incoming/')) {
    const since = Math.min(before[key] ?? now, now);
    if (now - since < DAY) seen[key] = since;
    else await app.storage.remove(key);
  }
  const text = JSON.stringify(seen);
  if (text !== JSON.stringify(before)) await app.db.write(({ query }) => rememberFact(query, SEEN_FACT, text));
}
