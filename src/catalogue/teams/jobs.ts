import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { MAIL_JOB, mailInvite } from './invites.ts';

export const teamJobs: readonly JobHandler<App>[] = [
  {
    kind: MAIL_JOB,
    run: (app, payload) => {
      const { id, language } = payload as { id: number; language: Language };
      return mailInvite(app, id, language);
    },
  },
];
