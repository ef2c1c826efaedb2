import type { UserCaller } from '../../access/caller.ts';
import type { App } from '../../context.ts';
import { ApiError } from '../../errors/catalogue.ts';
import { languageOf } from '../../localisation/languages.ts';
import { say } from '../../localisation/texts.ts';
import { requireUser } from '../users/users.ts';
import * as store from './store.ts';

export type { ExportRow } from './store.ts';

export const GATHER_JOB = 'exports.gather';
const DAY = 86_400;
const KEPT_DAYS = 7;
const PURPOSE = 'exports/download';
const SHAPE = /^(\d{1,15})\.([A-Za-z0-9_-]{43})$/;
const ROWS_AT_ONCE = 1_000;

/**
 * All that is kept about a person, table by table: a noun that keeps something of people adds its line. Secrets, and
 * digests of them, are no one's to read.
 */
const KEPT: readonly store.Kept[] = [
  {
    table: 'users',
    person: 'id',
    columns: [
      'id',
      'status',
      'name_id',
      'username',
      'email',
      'date_joined',
      'date_online',
      'timezone',
      'language',
      'country',
      'privacy_options',
      'birth_date',
      'mature_content',
      'date_closed',
    ],
  },
  { table: 'team_members', person: 'user_id', columns: ['resource', 'resource_id', 'level', 'position', 'date_added'] },
  {
    table: 'team_invites',
    person: 'invited_by',
    columns: ['resource', 'resource_id', 'email', 'level', 'position', 'date_added'],
  },
  { table: 'mutes', person: 'user_id', columns: ['muted_id', 'date_added'] },
  { table: 'games', person: 'submitted_by', columns: ['id', 'name', 'name_id', 'status', 'date_added'] },
  { table: 'mods', person: 'submitted_by', columns: ['id', 'game_id', 'name', 'name_id', 'status', 'date_added'] },
  { table: 'modfiles', person: 'submitted_by', columns: ['id', 'mod_id', 'filename', 'filesize', 'date_added'] },
  { table: 'sessions', person: 'user_id', columns: ['id', 'user_agent', 'date_added', 'date_expires'] },
  { table: 'access_tokens', person: 'user_id', columns: ['id', 'name', 'scopes', 'date_added', 'date_expires'] },
  { table: 'oauth_grants', person: 'user_id', columns: ['client_id', 'scopes', 'date_added', 'date_revoked'] },
  { table: 'device_logins', person: 'user_id', columns: ['game_id', 'scopes', 'date_decided', 'allowed'] },
  { table: 'email_changes', person: 'user_id', columns: ['email', 'date_added'] },
  { table: 'previewers', person: 'user_id', columns: ['resource', 'resource_id', 'date_added'] },
  { table: 'data_exports', person: 'user_id', columns: ['id', 'date_added'] },
];

/** People get their data once a day; it is gathered by a job. */
export async function askForExport(app: App, { userId, clientId }: UserCaller): Promise<void> {
  if (clientId !== undefined) throw new ApiError('OAUTH_TOKEN_DELETE_NO_PERMISSION');
  const now = app.clock.now();
  await app.db.write(async (transaction) => {
    const last = await store.latestOf(transaction.query, userId);
    if (last && now - last.date_added < DAY)
      throw new ApiError('USER_CANT_GET_DATA_RECENT_REQUEST', { retryAfterSeconds: DAY - (now - last.date_added) });
    const id = await store.add(transaction.query, userId, now, now + KEPT_DAYS * DAY);
    await app.jobs.enqueue(transaction, GATHER_JOB, { id }, { key: `user/${userId}` });
  });
}

/** Writes what is kept into a file, row by row, and tells the person where it is. */
export async function gatherExport(app: App, id: number): Promise<void> {
  const wanted = await store.byId(app.db.query, id);
  if (!wanted || wanted.storage_key !== null) return;
  const storage_key = `exports/${app.random.uuid()}.json`;
  const { bytes, sha256 } = await app.storage.put(storage_key, textOf(app, wanted.user_id));
  await app.db.write(({ query }) => store.setFile(query, id, { storage_key, bytes, sha256 }));
  const { email, language: profile } = await requireUser(app, wanted.user_id);
  if (email === null) return;
  const language = languageOf(profile) ?? 'en';
  await app.mail.send({
    to: email,
    subject: say('data_export_mail_subject', language),
    text: say('data_export_mail_text', language, { days: KEPT_DAYS, link: exportAddress(app, id) }),
  });
}

async function* textOf(app: App, userId: number): AsyncGenerator<Uint8Array> {
  let before = '{';
  for (const kept of KEPT) {
    yield Buffer.from(`${before}\n${JSON.stringify(kept.table)}: [`);
    yield* rowsOf(app, kept, userId);
    before = '],';
  }
  yield Buffer.from(']\n}\n');
}

async function* rowsOf(app: App, kept: store.Kept, userId: number): AsyncGenerator<Uint8Array> {
  for (let offset = 0; ; offset += ROWS_AT_ONCE) {
    const rows = await store.rowsOf(app.db.query, kept, userId, { limit: ROWS_AT_ONCE, offset });
    const text = rows.map((row) => JSON.stringify(row)).join(',\n');
    if (text) yield Buffer.from(`${offset > 0 ? ',' : ''}\n${text}`);
    if (rows.length < ROWS_AT_ONCE) return;
  }
}

/** Whoever has the address may read: it stands in a mail, and is opened without a token. */
export const exportToken = (app: App, id: number): string => `${id}.${app.secrets.sign(PURPOSE, String(id))}`;

export const exportAddress = (app: App, id: number): string => `${app.addresses.api}/exports/${exportToken(app, id)}`;

export async function requireExport(app: App, token: string) {
  const [, id, signature] = SHAPE.exec(token) ?? [];
  const isGenuine = id !== undefined && app.secrets.verify(PURPOSE, id, signature!);
  const found = isGenuine ? await store.byId(app.db.query, Number(id)) : undefined;
  if (!found?.storage_key || found.date_expires <= app.clock.now()) throw new ApiError('RESOURCE_NOT_FOUND');
  return { ...found, storage_key: found.storage_key };
}

export async function requireLatestExport(app: App, { userId }: UserCaller): Promise<store.ExportRow> {
  const found = await store.latestOf(app.db.query, userId);
  if (!found || found.date_expires <= app.clock.now()) throw new ApiError('RESOURCE_NOT_FOUND');
  return found;
}

export async function removeExpiredExports(app: App): Promise<void> {
  for (const { id, storage_key } of await store.expired(app.db.query, app.clock.now())) {
    if (storage_key) await app.storage.remove(storage_key);
    await app.db.write(({ query }) => store.remove(query, id));
  }
}
