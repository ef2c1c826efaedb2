import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { Id, Integer, page, pageOf, pagesOnly, Timestamp, UserPath } from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { decideLock, type LockRow, listLocks } from './marketplace-locks.ts';

const MarketplaceLockObject = z
  .object({
    user_id: Id,
    reason: z.string().meta({ description: 'In the language of the request if the service locked the user.' }),
    decided_by: Integer.meta({ description: '0 for the service.' }),
    date_added: Timestamp,
  })
  .meta({ id: 'MarketplaceLock' });

/** The service locks users for clawbacks alone, and its reason begins with their number. */
const toLock = (row: LockRow, language: Language): z.output<typeof MarketplaceLockObject> => ({
  ...row,
  ...(row.decided_by === 0 && {
    reason: localise('marketplace_locked', language, { count: Number.parseInt(row.reason, 10) }),
  }),
});

export const getMarketplaceLocks = operation({
  id: 'get-marketplace-locks',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/marketplace-locks',
  says: 'Lists the users who can neither buy nor sell, and why. For administrators of the site.',
  access: user('read', 'staff'),
  list: pagesOnly,
  returns: ok(pageOf(MarketplaceLockObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, list, language }) => {
    const { rows, total } = await listLocks(app, caller, list);
    return page(
      rows.map((row) => toLock(row, language)),
      total,
      list,
    );
  },
});

export const decideMarketplaceLock = operation({
  id: 'decide-marketplace-lock',
  tag: 'Staff',
  method: 'PUT',
  path: '/staff/marketplace-locks/{user_id}',
  says: 'Locks a user out of the marketplace, or ends the lock. A locked user buys nothing, and their mods are not sold (900015). For administrators of the site.',
  access: user('write', 'staff'),
  under: ['users'],
  params: UserPath,
  body: z.object({ is_locked: z.boolean(), reason: z.string().trim().min(1).max(500) }),
  returns: noContent,
  errors: ['USER_NOT_FOUND', 'RESOURCE_NO_MODERATE_PERMISSION'],
  handle: (app, { caller, params, body }) =>
    decideLock(app, caller, params.user_id, { isLocked: body.is_locked, reason: body.reason }),
});

export const marketplaceLockOperations = [getMarketplaceLocks, decideMarketplaceLock];
