import { z } from 'zod';
import about from '../../../package.json' with { type: 'json' };
import { anyone, user } from '../../platform/access/caller.ts';
import {
  Id,
  Integer,
  PathId,
  pageOf,
  pageOfAll,
  pagesOnly,
  Timestamp,
  WebMessageObject,
} from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { listParkedJobs, retryJob, showInstallation } from './installation.ts';

export const ping = operation({
  id: 'ping',
  tag: 'General',
  method: 'GET',
  path: '/ping',
  says: 'Answers that the service is running.',
  access: anyone(),
  returns: ok(WebMessageObject),
  errors: [],
  handle: (_app, { language, cache }) => {
    cache('service');
    return { code: 200, success: true, message: localise('pong', language) };
  },
});

const InstallationObject = z
  .object({
    version: z.string(),
    node: z.string(),
    parts: z.array(
      z.object({
        part: z.enum(['database', 'storage', 'mail', 'scanner', 'disk']),
        ok: z.boolean(),
        detail: z.string(),
      }),
    ),
    jobs: z.object({ waiting: Integer, running: Integer, parked: Integer }),
    settings: z.array(
      z.object({
        name: z.string(),
        value: z.string().meta({ description: 'Asterisks in place of a secret' }),
        fallback: z.string(),
      }),
    ),
  })
  .meta({ id: 'Installation' });

export const getInstallation = operation({
  id: 'get-installation',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/installation',
  says: 'Shows the version, the state of database, storage, mail, scanner and disk, the number of jobs, and the settings in force without secrets. For administrators of the site.',
  access: user('read', 'staff'),
  returns: ok(InstallationObject),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller }) => ({
    version: about.version,
    node: process.versions.node,
    ...(await showInstallation(app, caller)),
  }),
});

const ParkedJobObject = z
  .object({
    id: Id,
    kind: z.string(),
    key: z.string().nullable(),
    attempt: Integer,
    last_error: z.string().nullable(),
    date_added: Timestamp,
  })
  .meta({ id: 'ParkedJob' });

export const getParkedJobs = operation({
  id: 'get-parked-jobs',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/jobs',
  says: 'Lists the jobs that failed permanently, such as mails that were not sent, the oldest first and at most 1000. For administrators of the site.',
  access: user('read', 'staff'),
  list: pagesOnly,
  returns: ok(pageOf(ParkedJobObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, list }) =>
    pageOfAll(
      // The payload may contain codes and addresses of users.
      (await listParkedJobs(app, caller)).map(({ payload: _, ...job }) => job),
      list,
    ),
});

export const retryParkedJob = operation({
  id: 'retry-parked-job',
  tag: 'Staff',
  method: 'POST',
  path: '/staff/jobs/{job_id}/retry',
  says: 'Runs a job that failed permanently again. For administrators of the site.',
  access: user('write', 'staff'),
  params: z.object({ job_id: PathId }),
  returns: noContent,
  errors: ['USER_CANT_VIEW_ADMIN_ONLY', 'RESOURCE_NOT_FOUND'],
  handle: (app, { caller, params }) => retryJob(app, caller, params.job_id),
});

export const serviceOperations = [ping, getInstallation, getParkedJobs, retryParkedJob];
