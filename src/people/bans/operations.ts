import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { networkOf } from '../../platform/access/networks.ts';
import { Id, Integer, PathId, page, pageOf, Timestamp } from '../../platform/http/objects.ts';
import { Created, created, noContent, ok, operation } from '../../platform/http/operation.ts';
import { banListing, banNetwork, liftBan, listBans } from './bans.ts';

const AddressBanObject = z
  .object({
    id: Id,
    network: z.string().meta({ description: 'Such as `203.0.113.7/32` or `2001:db8::/64`' }),
    reason: z.string(),
    user_id: Integer.meta({ description: 'The deciding administrator; 0 for the operator' }),
    date_added: Timestamp,
    date_expires: Timestamp.meta({ description: '0 if it does not end by itself' }),
  })
  .meta({ id: 'AddressBan' });

export const getAddressBans = operation({
  id: 'get-address-bans',
  tag: 'Staff',
  method: 'GET',
  path: '/bans/addresses',
  says: 'Lists the banned addresses and networks. For administrators of the site.',
  access: user('read', 'staff'),
  list: banListing,
  returns: ok(pageOf(AddressBanObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, list }) => {
    const { rows, total } = await listBans(app, caller, list);
    return page(rows, total, list);
  },
});

export const addAddressBan = operation({
  id: 'add-address-ban',
  tag: 'Staff',
  method: 'POST',
  path: '/bans/addresses',
  says: 'Refuses all requests from an address or network, at once and in every process. For administrators of the site.',
  access: user('write', 'staff'),
  body: z.object({
    network: z
      .string()
      .trim()
      .max(60)
      .refine((text) => networkOf(text) !== undefined, { params: { rule: 'invalid' } })
      .transform((text) => networkOf(text)!)
      .meta({
        description:
          'An IPv4 or IPv6 address, or a network as `203.0.113.0/24`, of at least 8 (IPv6: 16) bits. An IPv6 address alone means its /64.',
      }),
    reason: z.string().trim().min(1).max(5_000),
    date_expires: z.int().min(0).default(0).meta({ description: 'When it ends by itself; 0 for never.' }),
  }),
  returns: created(AddressBanObject),
  errors: ['RESOURCE_NO_MODERATE_PERMISSION', 'USER_ADMIN_CANT_MODERATE_SELF', 'MODERATION_ALREADY_ACTIONED'],
  handle: async (app, { caller, body: { date_expires: dateExpires, ...ban }, ip }) => {
    const added = await banNetwork(app, caller, { ...ban, dateExpires, from: ip });
    return new Created(added, `${app.addresses.api}/bans/addresses`);
  },
});

export const deleteAddressBan = operation({
  id: 'delete-address-ban',
  tag: 'Staff',
  method: 'DELETE',
  path: '/bans/addresses/{ban_id}',
  says: 'Lifts the ban of an address or network. For administrators of the site.',
  access: user('write', 'staff'),
  params: z.object({ ban_id: PathId }),
  returns: noContent,
  errors: ['RESOURCE_NO_MODERATE_PERMISSION', 'MODERATION_NOT_FOUND'],
  handle: async (app, { caller, params }) => void (await liftBan(app, caller, params.ban_id)),
});

export const banOperations = [getAddressBans, addAddressBan, deleteAddressBan];
