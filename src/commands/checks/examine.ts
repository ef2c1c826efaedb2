import { join, resolve } from 'node:path';
import { composeMail, composeStorage, databaseUrl, ENVIRONMENTS } from '../../composition/compose.ts';
import type { Environment } from '../../platform/config/addresses.ts';
import { folderOf, mailFolderOf } from '../../platform/config/folders.ts';
import type { Settings } from '../../platform/config/settings.ts';
import { systemClock } from '../../platform/runtime/clock.ts';
import type { Invocation } from '../invocation/command.ts';
import { certificateChecks } from './certificate.ts';
import { type Check, type Finding, perform } from './check.ts';
import { databaseChecks } from './database.ts';
import { clockCheck, folderChecks, nodeCheck } from './machine.ts';
import { scannerCheck } from './scanner.ts';

export type Examined = Pick<Invocation<Record<never, never>>, 'settings' | 'sandbox'>;

/** With invalid settings the other checks cannot run. */
export async function examine({ settings: read, sandbox }: Examined): Promise<Finding[]> {
  let settings: Settings | undefined;
  const findings = [await perform(nodeCheck), await perform(clockCheck)];
  const reading: Check = {
    name: 'settings',
    todo: 'Correct the environment variable; docs/settings.md lists them all.',
    run: async () => {
      settings = read();
      return 'all are valid';
    },
  };
  findings.push(await perform(reading));
  if (!settings) return findings;
  const environments = sandbox ? (['sandbox'] as const) : ENVIRONMENTS;
  for (const check of checksOf(settings, environments)) findings.push(await perform(check));
  return findings;
}

const checksOf = (settings: Settings, environments: readonly Environment[]): Check[] => [
  ...folderChecks(resolve(settings.data)),
  ...certificateChecks(settings),
  scannerCheck(settings),
  ...environments.flatMap((environment) => [
    ...databaseChecks(settings, environment, databaseUrl(settings, environment)),
    storageCheck(settings, environment),
    mailCheck(settings, environment),
  ]),
];

function storageCheck(settings: Settings, environment: Environment): Check {
  const { storage: location } = settings;
  const place = location ? `the bucket ${location.bucket}` : join(folderOf(settings, environment), 'files');
  return {
    name: `${environment} storage`,
    todo: location
      ? 'Check the object storage, the permissions of its key, and MODSTEAD_STORAGE_URL.'
      : `Give this user write access to ${place}.`,
    run: async () => {
      const storage = await composeStorage(settings, environment);
      try {
        await storage.check();
      } finally {
        await storage.close?.();
      }
      return `${place} is writable`;
    },
  };
}

function mailCheck(settings: Settings, environment: Environment): Check {
  const folder = mailFolderOf(settings, environment);
  return {
    name: `${environment} mail`,
    todo: settings.smtpUrl
      ? 'Check the mail server and MODSTEAD_SMTP_URL.'
      : `Give this user write access to ${folder}, or set MODSTEAD_SMTP_URL.`,
    run: async () => {
      const mail = await composeMail(settings, environment, systemClock);
      try {
        await mail.check();
      } finally {
        mail.close();
      }
      return settings.smtpUrl ? 'the SMTP server answers' : `mails are written to ${folder}`;
    },
  };
}
