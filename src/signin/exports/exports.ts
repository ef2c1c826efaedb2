import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

export const GATHER_JOB = 'exports.gather';
export const REMOVE_JOB = 'exports.remove';
const DAY = 86_400;
export const EXPORT_DAYS = 7;
const PURPOSE = 'exports/download';
const SHAPE = /^(\d{1,15})\.([A-Za-z0-9_-]{43})$/;

/** A user can request one export a day. A job writes it. */
export async function startExport(app: App, { userId }: UserCaller): Promise<void> {
  const now = app.clock.now();
  await app.db.write(async (transaction) => {
    const last = await store.latestOf(transaction.query, userId);
    if (last && now - last.date_added < DAY)
      throw new ApiError('USER_CANT_GET_DATA_RECENT_REQUEST', { retryAfterSeconds: DAY - (now - last.date_added) });
    const id = await store.add(transaction.query, userId, now, now + EXPORT_DAYS * DAY);
    await app.jobs.enqueue(transaction, GATHER_JOB, { id }, { key: `user/${userId}` });
  });
}

/** The address works without a token, because it is sent by mail. */
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
