import { accessChanged } from '../../platform/access/credentials.ts';
import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

// What games and mods ask of previews, so this file knows neither.

export type PreviewedResource = 'games' | 'mods';

/** `community_options`: people may be invited to a preview, and whoever has its link may register for one. */
export const ALLOW_PREVIEWS = 64;
export const ALLOW_PREVIEW_URL = 128;

/** Whether someone who was let in may still look: each way in is open as long as its option is on. */
export const isPreviewOpen = (preview: { invited_by: number | null; community_options: number }): boolean =>
  (preview.community_options & (preview.invited_by === null ? ALLOW_PREVIEW_URL : ALLOW_PREVIEWS)) !== 0;

/** Whether an edit turns previews on. */
export const enablesPreviews = (before: number, after = before): boolean =>
  (after & ~before & (ALLOW_PREVIEWS | ALLOW_PREVIEW_URL)) !== 0;

/** Nobody previews it any more, and its link opens nothing, also should it come back. */
export async function endPreviews(
  transaction: Transaction,
  resource: PreviewedResource,
  resourceId: number,
): Promise<void> {
  await store.nextVersion(transaction, resource, resourceId);
  if (await store.removePreviewers(transaction.query, resource, resourceId)) accessChanged(transaction);
}

/** It is gone for ever. */
export const forgetPreviews = (transaction: Transaction, resource: PreviewedResource, resourceId: number) =>
  store.removeLink(transaction.query, resource, resourceId);
