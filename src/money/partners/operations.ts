import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { GamePath, Id, page, pageOf, pagesOnly, Timestamp, UserPath } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import { applyAsPartner, decideOverPartner, listPartners, type PartnerRow } from './partners.ts';
import {
  decideOverSeller,
  detailsOf,
  listSellers,
  registerSeller,
  type SellerAccountRow,
  showSeller,
} from './sellers.ts';

const details = {
  legal_name: z.string().trim().min(1).max(200),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .meta({ description: 'ISO 3166-1' }),
  payout_details: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .meta({ description: 'Where the accountant pays, such as an IBAN. Stored encrypted.' }),
};
const SELLER_STATUS = ['pending', 'action', 'approved', 'rejected'] as const;

const SellerAccountObject = z
  .object({
    user_id: Id,
    ...details,
    status: z.enum(SELLER_STATUS),
    reason: z.string().meta({ description: 'What staff says about the decision.' }),
    date_added: Timestamp,
    date_decided: Timestamp,
  })
  .meta({ id: 'SellerAccount' });

const toSellerAccount = (app: App, row: SellerAccountRow): z.output<typeof SellerAccountObject> => ({
  user_id: row.user_id,
  ...detailsOf(app, row),
  status: row.status,
  reason: row.reason,
  date_added: row.date_added,
  date_decided: row.date_decided,
});

export const registerSellerAccount = operation({
  id: 'register-seller-account',
  tag: 'Me',
  method: 'POST',
  path: '/me/monetization/account',
  says: 'Registers the person as a seller, so that earnings can be paid out. Staff decides; after a rejection or an objection it can be sent again.',
  access: user('write', 'account'),
  body: z.object(details),
  returns: ok(SellerAccountObject),
  errors: [
    'MONETIZATION_SITE_MONETIZATION_DISABLED',
    'MONETIZATION_TERMS_NOT_ACCEPTED',
    'MONETIZATION_REGISTER_ERROR',
    'USER_NOT_FOUND',
  ],
  handle: async (app, { caller, body }) => toSellerAccount(app, await registerSeller(app, caller, body)),
});

export const getSellerAccount = operation({
  id: 'get-seller-account',
  tag: 'Me',
  method: 'GET',
  path: '/me/monetization/account',
  says: 'Shows what the person registered as a seller, and the decision.',
  access: user('read', 'account'),
  returns: ok(SellerAccountObject),
  errors: ['RESOURCE_NOT_FOUND'],
  handle: async (app, { caller }) => toSellerAccount(app, await showSeller(app, caller.userId)),
});

export const getSellerAccounts = operation({
  id: 'get-seller-accounts',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/seller-accounts',
  says: 'Lists the sellers, the oldest registration first. For administrators of the site.',
  access: user('read', 'staff'),
  query: z.object({ status: z.enum(SELLER_STATUS).optional() }),
  list: pagesOnly,
  returns: ok(pageOf(SellerAccountObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, query, list }) => {
    const { rows, total } = await listSellers(app, caller, query.status, list);
    return page(
      rows.map((row) => toSellerAccount(app, row)),
      total,
      list,
    );
  },
});

export const decideSellerAccount = operation({
  id: 'decide-seller-account',
  tag: 'Staff',
  method: 'PUT',
  path: '/staff/seller-accounts/{user_id}',
  says: 'Decides whether the earnings of a seller can be paid out: `approved`, `rejected`, or `action` if something is missing. For administrators of the site.',
  access: user('write', 'staff'),
  under: ['users'],
  params: UserPath,
  body: z.object({
    status: z.enum(['action', 'approved', 'rejected']),
    reason: z.string().trim().max(500).default(''),
  }),
  returns: ok(SellerAccountObject),
  errors: ['RESOURCE_NO_MODERATE_PERMISSION', 'RESOURCE_NOT_FOUND', 'USER_NOT_FOUND'],
  handle: async (app, { caller, params, body }) =>
    toSellerAccount(app, await decideOverSeller(app, caller, params.user_id, body)),
});

const PARTNER_STATUS = ['invited', 'applied', 'approved', 'rejected'] as const;

const PartnerObject = z
  .object({
    game_id: Id,
    user_id: Id,
    status: z.enum(PARTNER_STATUS),
    reason: z.string(),
    date_added: Timestamp,
    date_decided: Timestamp,
  })
  .meta({ id: 'Partner' });

const toPartner = ({ game_id, user_id, status, reason, date_added, date_decided }: PartnerRow) => ({
  game_id,
  user_id,
  status,
  reason,
  date_added,
  date_decided,
});

const GAME = ['GAME_NOT_FOUND', 'GAME_DELETED'] as const;

export const applyForPartnership = operation({
  id: 'apply-for-partnership',
  tag: 'Monetization',
  method: 'POST',
  path: '/games/{game_id}/monetization/partners',
  says: 'Applies for the partner programme of a game. The criteria are in its terms; where they ask for a review, its team decides.',
  access: user('write', 'money'),
  params: GamePath,
  returns: ok(PartnerObject),
  errors: [
    ...GAME,
    'USER_NOT_FOUND',
    'MONETIZATION_SITE_MONETIZATION_DISABLED',
    'MONETIZATION_GAME_MONETIZATION_DISABLED',
    'MONETIZATION_ENABLE_ERROR',
    'MONETIZATION_USER_NOT_APPROVED',
    'MONETIZATION_GAME_PARTNER_REJECTED_30_DAYS',
    'MONETIZATION_GAME_PARTNER_SPECIAL_ACCESS',
    'MONETIZATION_USER_CRITERIA_NOT_MET',
  ],
  handle: async (app, { caller, params }) => toPartner(await applyAsPartner(app, caller, params.game_id)),
});

export const getGamePartners = operation({
  id: 'get-game-partners',
  tag: 'Monetization',
  method: 'GET',
  path: '/games/{game_id}/monetization/partners',
  says: 'Lists the partners of a game, and those who were invited, have applied or were rejected. For its team.',
  access: user('read', 'team'),
  params: GamePath,
  list: pagesOnly,
  returns: ok(pageOf(PartnerObject)),
  errors: [...GAME, 'GAME_NO_UPDATE_PERMISSION'],
  handle: async (app, { caller, params, list }) => {
    const { rows, total } = await listPartners(app, caller, params.game_id, list);
    return page(rows.map(toPartner), total, list);
  },
});

export const decideGamePartner = operation({
  id: 'decide-game-partner',
  tag: 'Monetization',
  method: 'PUT',
  path: '/games/{game_id}/monetization/partners/{user_id}',
  says: 'Invites, approves or rejects a partner. A rejected partner no longer changes prices, and applies again after the days of the terms. For administrators of the game.',
  access: user('write', 'team'),
  under: ['users'],
  params: GamePath.extend(UserPath.shape),
  body: z.object({
    status: z.enum(['invited', 'approved', 'rejected']),
    reason: z.string().trim().max(500).default(''),
  }),
  returns: ok(PartnerObject),
  errors: [...GAME, 'GAME_NO_UPDATE_PERMISSION', 'USER_NOT_FOUND', 'MONETIZATION_USER_NOT_APPROVED'],
  handle: async (app, { caller, params, body }) =>
    toPartner(await decideOverPartner(app, caller, params.game_id, params.user_id, body)),
});

export const partnerOperations = [
  registerSellerAccount,
  getSellerAccount,
  getSellerAccounts,
  decideSellerAccount,
  applyForPartnership,
  getGamePartners,
  decideGamePartner,
];
