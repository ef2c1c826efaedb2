import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { GamePath, Id, Integer, PathId, page, pageOf, pagesOnly, Timestamp } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import {
  listAllPayouts,
  listGamePayouts,
  listOwnPayouts,
  type PayoutRow,
  requestPayout,
  requireOwnPayout,
} from './payouts.ts';
import { onboard } from './sellers.ts';
import { decidePayout } from './settling.ts';

const STATUS = ['requested', 'sent', 'paid', 'failed', 'returned'] as const;

const PayoutObject = z
  .object({
    id: Id,
    user_id: Id,
    game_id: Id,
    status: z.enum(STATUS).meta({ description: '`returned`: it was paid, and the bank sent it back.' }),
    currency: z.string(),
    amount: Integer.meta({ description: 'What the seller gets, in the smallest unit of the currency.' }),
    fee: Integer.meta({ description: 'What the payout cost the seller.' }),
    provider: z.string(),
    period: z.string().meta({ description: 'The month of a scheduled payout, such as 2026-11; otherwise empty.' }),
    reason: z.string().meta({ description: 'Why it failed or was returned, if that is known.' }),
    date_added: Timestamp,
    date_sent: Timestamp,
    date_paid: Timestamp,
    date_ended: Timestamp.meta({ description: 'When it failed or was returned; otherwise 0.' }),
  })
  .meta({ id: 'Payout' });

const toPayout = (row: PayoutRow): z.output<typeof PayoutObject> => ({
  id: row.id,
  user_id: row.user_id,
  game_id: row.game_id,
  status: row.status,
  currency: row.currency,
  amount: row.amount,
  fee: row.fee,
  provider: row.provider,
  period: row.period,
  reason: row.reason,
  date_added: row.date_added,
  date_sent: row.date_sent,
  date_paid: row.date_paid,
  date_ended: row.date_ended,
});

const PayoutPath = z.object({ payout_id: PathId });

/** Why somebody is not paid: no provider, no approved seller, or a provider that still asks for something. */
const NOT_READY = [
  'MONETIZATION_IAP_NOT_CONFIGURED',
  'MONETIZATION_ACCOUNT_ERROR',
  'MONETIZATION_USER_MONETIZATION_DISABLED',
  'MONETIZATION_ONBOARD_ERROR',
  'MONETIZATION_USER_NOT_APPROVED',
  'MONETIZATION_PAYOUT_ERROR',
] as const;

export const requestPayoutOperation = operation({
  id: 'request-payout',
  tag: 'Monetization',
  method: 'POST',
  path: '/games/{game_id}/monetization/payouts',
  says: 'Pays out what the person has earned in a game. The same `idempotent_key` returns the same payout for 24 hours.',
  access: user('write', 'money'),
  params: GamePath,
  body: z.object({
    idempotent_key: z.string().trim().min(1).max(100),
    amount: z
      .int()
      .min(1)
      .max(1_000_000_000)
      .optional()
      .meta({ description: 'In the smallest unit of the currency, fee included. Everything unless it is sent.' }),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/)
      .optional()
      .meta({ description: 'ISO 4217; that of the terms unless it is sent.' }),
  }),
  returns: ok(PayoutObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', ...NOT_READY, 'MONETIZATION_WALLET_ERROR', 'MONETIZATION_REQUEST_ERROR'],
  handle: async (app, { caller, params, body }) => {
    const { idempotent_key: key, amount, currency } = body;
    return toPayout(await requestPayout(app, caller, { gameId: params.game_id, key, amount, currency }));
  },
});

export const getGamePayouts = operation({
  id: 'get-game-payouts',
  tag: 'Monetization',
  method: 'GET',
  path: '/games/{game_id}/monetization/payouts',
  says: 'Lists the payouts to sellers of a game, the newest first. For its administrators.',
  access: user('read', 'team'),
  params: GamePath,
  list: pagesOnly,
  returns: ok(pageOf(PayoutObject)),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_UPDATE_PERMISSION'],
  handle: async (app, { caller, params, list }) => {
    const { rows, total } = await listGamePayouts(app, caller, params.game_id, list);
    return page(rows.map(toPayout), total, list);
  },
});

export const getUserPayouts = operation({
  id: 'get-user-payouts',
  tag: 'Me',
  method: 'GET',
  path: '/me/payouts',
  says: 'Lists the payouts to the person, the newest first.',
  access: user('read', 'money'),
  list: pagesOnly,
  returns: ok(pageOf(PayoutObject)),
  errors: [],
  handle: async (app, { caller, list }) => {
    const { rows, total } = await listOwnPayouts(app, caller, list);
    return page(rows.map(toPayout), total, list);
  },
});

export const getUserPayout = operation({
  id: 'get-user-payout',
  tag: 'Me',
  method: 'GET',
  path: '/me/payouts/{payout_id}',
  says: 'Shows a payout to the person.',
  access: user('read', 'money'),
  params: PayoutPath,
  returns: ok(PayoutObject),
  errors: ['RESOURCE_NOT_FOUND'],
  handle: async (app, { caller, params }) => toPayout(await requireOwnPayout(app, caller, params.payout_id)),
});

const PayoutAccountObject = z
  .object({
    provider: z.string(),
    ready: z.boolean().meta({ description: 'Whether payouts can be made.' }),
    onboarding_url: z
      .string()
      .meta({ description: 'Where the person enters what the provider asks for; empty if nothing is missing.' }),
  })
  .meta({ id: 'PayoutAccount' });

export const openPayoutAccount = operation({
  id: 'open-payout-account',
  tag: 'Me',
  method: 'POST',
  path: '/me/monetization/account/onboarding',
  says: 'Opens the account of an approved seller at the payout provider, and returns where they complete it. Repeated, it opens none.',
  access: user('write', 'account'),
  returns: ok(PayoutAccountObject),
  errors: NOT_READY,
  handle: async (app, { caller }) => {
    const { provider, isReady, url } = await onboard(app, caller);
    return { provider, ready: isReady, onboarding_url: url };
  },
});

export const getStaffPayouts = operation({
  id: 'get-staff-payouts',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/payouts',
  says: 'Lists the payouts of the site, the newest first. `/staff/seller-accounts` shows where to pay. For administrators of the site.',
  access: user('read', 'staff'),
  query: z.object({ status: z.enum(STATUS).optional() }),
  list: pagesOnly,
  returns: ok(pageOf(PayoutObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, query, list }) => {
    const { rows, total } = await listAllPayouts(app, caller, query.status, list);
    return page(rows.map(toPayout), total, list);
  },
});

export const decidePayoutOperation = operation({
  id: 'decide-payout',
  tag: 'Staff',
  method: 'PUT',
  path: '/staff/payouts/{payout_id}',
  says: 'Records what became of a payout that is made by hand (`MODSTEAD_PAYOUTS=manual`). What failed or was returned can be paid out again. For administrators of the site.',
  access: user('write', 'staff'),
  params: PayoutPath,
  body: z.object({
    status: z.enum(['sent', 'paid', 'failed', 'returned']),
    reason: z.string().trim().max(500).default(''),
  }),
  returns: ok(PayoutObject),
  errors: ['RESOURCE_NO_MODERATE_PERMISSION', 'RESOURCE_NOT_FOUND', 'MONETIZATION_UNEXPECTED_OPERATION'],
  handle: async (app, { caller, params, body }) => toPayout(await decidePayout(app, caller, params.payout_id, body)),
});

export const payoutOperations = [
  requestPayoutOperation,
  getGamePayouts,
  getUserPayouts,
  getUserPayout,
  openPayoutAccount,
  getStaffPayouts,
  decidePayoutOperation,
];
