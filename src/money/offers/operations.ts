import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { GamePath, Id, Integer, ModPath, page, pageOf, pagesOnly, Timestamp } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import { decideSubmission, listSubmissions, type SubmissionRow, showSubmission, submitToMarketplace } from './queue.ts';

const STATUS = ['queued', 'approved', 'declined'] as const;

const submission = {
  mod_id: Id,
  game_id: Id,
  submitted_by: Integer,
  status: z
    .enum([...STATUS, 'none'])
    .meta({ description: '`none` before the first submission, and after a withdrawal.' }),
  reason: z.string().meta({ description: 'What the team says about its decision.' }),
  date_added: Timestamp,
  date_decided: Timestamp,
};
const SubmissionObject = z.object(submission).meta({ id: 'MarketplaceSubmission' });
const QueuedObject = z
  .object({
    ...submission,
    name: z.string(),
    price: Integer.meta({ description: 'In tokens.' }),
    decided_by: Integer.meta({ description: '0 until the team has decided.' }),
  })
  .meta({ id: 'QueuedMod' });

const NONE = { submitted_by: 0, status: 'none', reason: '', date_added: 0, date_decided: 0 } as const;

const toSubmission = ({
  mod_id,
  game_id,
  submitted_by,
  status,
  reason,
  date_added,
  date_decided,
}: Omit<SubmissionRow, 'status' | 'decided_by'> & { readonly status: SubmissionRow['status'] | 'none' }) => ({
  mod_id,
  game_id,
  submitted_by,
  status,
  reason,
  date_added,
  date_decided,
});

const NOT_FOUND = ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'] as const;
/** Why a mod cannot be offered. */
const UNOFFERED = [
  'MOD_SUPPLY_CANNOT_BE_SOLD',
  'MOD_SUPPLY_PAYPAL_REQUIRED',
  'MOD_SUPPLY_CANNOT_HAVE_LIMITED_STOCK',
  'MOD_CANNOT_CONTROL_SUPPLY_AND_SCARCITY',
  'MONETIZATION_MARKETPLACE_ERROR',
  'MONETIZATION_SITE_MONETIZATION_DISABLED',
  'MONETIZATION_GAME_MONETIZATION_DISABLED',
  'MONETIZATION_MOD_MONETIZATION_DISABLED',
  'MONETIZATION_USER_MONETIZATION_DISABLED',
  'MONETIZATION_SITE_MARKETPLACE_DISABLED',
  'MONETIZATION_GAME_MARKETPLACE_DISABLED',
  'MONETIZATION_GAME_PARTNER_NOT_APPROVED',
  'MONETIZATION_TERMS_NOT_ACCEPTED',
] as const;

export const submitModToMarketplace = operation({
  id: 'submit-mod-to-marketplace',
  tag: 'Monetization',
  method: 'POST',
  path: '/games/{game_id}/mods/{mod_id}/marketplace',
  says: 'Submits a mod and its price to the marketplace queue of a game with `curation_option` 1. Until the team has decided the price is fixed; `monetization_options=0` withdraws the mod. For administrators of the mod.',
  access: user('write', 'money'),
  params: ModPath,
  returns: ok(SubmissionObject),
  errors: [...NOT_FOUND, 'MOD_SUPPLY_NO_EDIT_PERMISSION', ...UNOFFERED],
  handle: async (app, { caller, params }) =>
    toSubmission(await submitToMarketplace(app, caller, params.game_id, params.mod_id)),
});

export const getMarketplaceSubmission = operation({
  id: 'get-marketplace-submission',
  tag: 'Monetization',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/marketplace',
  says: 'Shows what became of a mod’s submission to the marketplace, with the reason. For the teams of the mod and of the game.',
  access: user('read', 'money'),
  params: ModPath,
  returns: ok(SubmissionObject),
  errors: [...NOT_FOUND, 'RESOURCE_NOT_FOUND'],
  handle: async (app, { caller, params }) =>
    toSubmission((await showSubmission(app, caller, params.game_id, params.mod_id)) ?? { ...params, ...NONE }),
});

export const getMarketplaceQueue = operation({
  id: 'get-marketplace-queue',
  tag: 'Monetization',
  method: 'GET',
  path: '/games/{game_id}/marketplace/queue',
  says: 'Lists the mods that wait for a decision over the marketplace, the oldest submission first, or with `status` those that the team has decided. For the team of the game.',
  access: user('read', 'team'),
  params: GamePath,
  query: z.object({ status: z.enum(STATUS).default('queued') }),
  list: pagesOnly,
  returns: ok(pageOf(QueuedObject)),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'RESOURCE_NO_MODERATE_PERMISSION'],
  handle: async (app, { caller, params, query, list }) => {
    const { rows, total } = await listSubmissions(app, caller, params.game_id, query.status, list);
    return page(rows, total, list);
  },
});

export const decideMarketplaceSubmission = operation({
  id: 'decide-marketplace-submission',
  tag: 'Monetization',
  method: 'PUT',
  path: '/games/{game_id}/marketplace/queue/{mod_id}',
  says: 'Approves a mod for the marketplace, or declines it with a reason; the author is notified. A mod that was approved leaves the marketplace when it is declined. For the team of the game.',
  access: user('write', 'team'),
  params: ModPath,
  body: z
    .object({
      status: z.enum(['approved', 'declined']),
      reason: z.string().trim().max(500).default('').meta({ description: 'Needed to decline.' }),
    })
    .refine(({ status, reason }) => status === 'approved' || reason !== '', {
      path: ['reason'],
      params: { rule: 'required' },
    }),
  returns: ok(SubmissionObject),
  errors: [
    ...NOT_FOUND,
    'RESOURCE_NOT_FOUND',
    'RESOURCE_NO_MODERATE_PERMISSION',
    'MODERATION_ALREADY_ACTIONED',
    ...UNOFFERED,
  ],
  handle: async (app, { caller, params, body }) =>
    toSubmission(await decideSubmission(app, caller, params.game_id, params.mod_id, body)),
});

export const offerOperations = [
  submitModToMarketplace,
  getMarketplaceSubmission,
  getMarketplaceQueue,
  decideMarketplaceSubmission,
];
