import { crc32 } from 'node:zlib';
import { z } from 'zod';
import about from '../../../package.json' with { type: 'json' };
import { anyone, user } from '../../platform/access/caller.ts';
import {
  Id,
  Integer,
  PathId,
  page,
  pageOf,
  pageOfAll,
  pagesOnly,
  Timestamp,
  WebMessageObject,
} from '../../platform/http/objects.ts';
import { Json, noContent, ok, operation } from '../../platform/http/operation.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { limitedRequests, listParkedJobs, retryJob, showInstallation, slowRequests } from './installation.ts';

/** They differ in their language only, so each is serialised once. */
const pongs = new Map<Language, Json>();

function pongIn(language: Language): Json {
  const known = pongs.get(language);
  if (known) return known;
  const text = JSON.stringify({ code: 200, success: true, message: localise('pong', language) });
  const pong = new Json(text, { bytes: Buffer.byteLength(text), checksum: crc32(text) });
  pongs.set(language, pong);
  return pong;
}

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
    return pongIn(language);
  },
});

const InstallationObject = z
  .object({
    version: z.string(),
    node: z.string(),
    parts: z.array(
      z.object({
        part: z.enum(['database', 'storage', 'mail', 'scanner', 'disk', 'certificate']),
        ok: z.boolean(),
        detail: z.string().meta({ description: 'What was found, in the language of the request; may be empty.' }),
        original: z
          .string()
          .meta({ description: 'What a library or the scanner said, in its own words; may be empty.' }),
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
  says: 'Shows the version, the state of database, storage, mail, scanner, disk and certificate, the number of jobs, and the settings in force without secrets. For administrators of the site.',
  access: user('read', 'staff'),
  returns: ok(InstallationObject),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, language }) => ({
    version: about.version,
    node: process.versions.node,
    ...(await showInstallation(app, caller, language)),
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

const LimitedRequestsObject = z
  .object({
    hour: Timestamp.meta({ description: 'The first second of the hour.' }),
    rule: z.enum([
      'address',
      'address_writes',
      'user',
      'user_writes',
      'user_key',
      'service',
      'server_token',
      'operation',
    ]),
    operation: z.string().meta({ description: 'Empty unless it is the limit of an operation.' }),
    caller: z.string().meta({
      description:
        'The network address, or the ID of the key, client or token. Empty for a user, and beyond a thousand.',
    }),
    user_id: Integer.meta({ description: '0 unless it is the limit of a user.' }),
    refused: Integer.meta({ description: 'How many requests were refused.' }),
    date_last: Timestamp,
  })
  .meta({ id: 'LimitedRequests' });

export const getLimitedRequests = operation({
  id: 'get-limited-requests',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/limited-requests',
  says: 'Lists which rate limits refused requests in the last seven days, per hour and caller, the newest hour first. For administrators of the site.',
  access: user('read', 'staff'),
  list: pagesOnly,
  returns: ok(pageOf(LimitedRequestsObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, list }) => {
    const { rows, total } = await limitedRequests(app, caller, list);
    return page(rows, total, list);
  },
});

const SlowRequestObject = z
  .object({
    id: Id,
    operation: z.string().meta({ description: 'The ID of the operation, or the route of a page.' }),
    method: z.string(),
    path: z.string().meta({ description: 'Without the query.' }),
    status: Integer,
    milliseconds: Integer,
    date_added: Timestamp,
  })
  .meta({ id: 'SlowRequest' });

export const getSlowRequests = operation({
  id: 'get-slow-requests',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/slow-requests',
  says: 'Lists the requests of the last seven days that took more than a second, without uploads and downloads. For administrators of the site.',
  access: user('read', 'staff'),
  query: z.object({ order: z.enum(['newest', 'slowest']).default('newest') }),
  list: pagesOnly,
  returns: ok(pageOf(SlowRequestObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, query, list }) => {
    const { rows, total } = await slowRequests(app, caller, query.order === 'slowest', list);
    return page(rows, total, list);
  },
});

export const serviceOperations = [
  ping,
  getInstallation,
  getParkedJobs,
  retryParkedJob,
  getLimitedRequests,
  getSlowRequests,
];
