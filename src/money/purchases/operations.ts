import { PlatformStatusQuery } from '../../catalogue/live-files/object.ts';
import { modListing } from '../../catalogue/mods/mods.ts';
import { ModObject } from '../../catalogue/mods/object.ts';
import { user } from '../../platform/access/caller.ts';
import { page, pageOf } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';

/** Nothing is sold: `price` and `monetization_options` of mods can only be 0, so that nobody owns anything. */
const getUserPurchases = operation({
  id: 'get-user-purchases',
  tag: 'Me',
  method: 'GET',
  path: '/me/purchased',
  says: 'Lists the mods that the user has bought. The list is empty, because mods are not sold yet.',
  access: user('read'),
  query: PlatformStatusQuery,
  list: modListing,
  returns: ok(pageOf(ModObject)),
  errors: [],
  handle: async (_app, { list }) => page([], 0, list),
});

export const purchaseOperations = [getUserPurchases];
