import type { App } from '../../platform/app.ts';
import { keyOf } from './removal.ts';
import * as store from './store.ts';
import {
  cancelled,
  discard,
  statusOf,
  UPLOAD_CANCELLED,
  UPLOAD_COMPLETE,
  UPLOAD_INCOMPLETE,
  UPLOAD_PENDING,
  UPLOAD_PROCESSING,
} from './uploads.ts';

const DAY = 24 * 3_600;
/** How long a session waits for its next part, and a complete file for its use. */
export const UPLOAD_SECONDS = 2 * DAY;
/** How long a closed session remains visible. */
export const REMEMBERED_SECONDS = DAY;
const AT_ONCE = 100;
const OPEN = [UPLOAD_INCOMPLETE, UPLOAD_PENDING, UPLOAD_PROCESSING, UPLOAD_COMPLETE];

/** Cancels abandoned sessions, and removes closed ones with their bytes. */
export async function endOutdatedUploads(app: App, heartbeat: () => Promise<void>): Promise<void> {
  const now = app.clock.now();
  const find = (statuses: readonly number[], used: number, seconds: number) =>
    store.untouchedSince(app.db.query, statuses, used, now - seconds, AT_ONCE);
  for (const upload of await find(OPEN, 0, UPLOAD_SECONDS)) {
    await heartbeat();
    await expire(app, upload);
  }
  for (const [status, used] of [
    [UPLOAD_CANCELLED, 0],
    [UPLOAD_COMPLETE, 1],
  ] as const)
    for (const upload of await find([status], used, REMEMBERED_SECONDS)) {
      await heartbeat();
      await app.storage.assemblies.discard({ key: keyOf(upload), handle: upload.handle ?? '' });
      await app.db.write(({ query }) => store.remove(query, upload));
    }
}

async function expire(app: App, { upload_id, date_updated }: store.UploadRow): Promise<void> {
  const ended = await app.db.write(async (transaction) => {
    const upload = await store.forChange(transaction, upload_id);
    if (!upload || upload.date_updated !== date_updated || upload.used) return undefined;
    const status = statusOf(upload, app.clock.now());
    const isIdle = status === UPLOAD_INCOMPLETE || status === UPLOAD_COMPLETE;
    return isIdle ? cancelled(app, transaction, upload) : undefined;
  });
  if (ended) await discard(app, ended);
}
