import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { removeOld } from './inbox.ts';
import { mailDue, mailPerson, notifySomeSubscribers } from './letters.ts';
import { MAIL_JOB, NOTIFY_SUBSCRIBERS_JOB, type Update } from './notifications.ts';

export const notificationJobs: readonly JobHandler<App>[] = [
  { kind: 'notifications.remove-old', byAge: true, every: 86_400, run: removeOld },
  { kind: 'notifications.mail-due', every: 60, run: (app, _, job) => mailDue(app, job) },
  {
    kind: MAIL_JOB,
    // Retries for about a day, because mail servers can be down that long.
    attemptsMax: 30,
    run: (app, { userId }: { userId: number }) => mailPerson(app, userId),
  },
  { kind: NOTIFY_SUBSCRIBERS_JOB, run: (app, update: Update) => notifySomeSubscribers(app, update) },
];
