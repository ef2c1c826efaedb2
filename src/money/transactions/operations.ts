import { z } from 'zod';
import { service } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { Id, PathId } from '../../platform/http/objects.ts';
import { Json, ok, operation } from '../../platform/http/operation.ts';
import { portalOf } from '../../platform/http/targeting.ts';
import { RefundObject, TRANSACTION_TYPES } from '../purchases/object.ts';
import { BUYING_REFUSALS } from '../purchases/selling.ts';
import { listTransactions, namedTransaction, type PageCursor, showTransaction } from './history.ts';
import {
  CursorMetaObject,
  S2SPayObject,
  TransactionIndexObject,
  TransactionShowObject,
  toClawback,
  toS2SPay,
  toTransactionIndex,
  toTransactionShow,
} from './object.ts';
import {
  abandonTransaction,
  beginTransaction,
  clawBack,
  commitTransaction,
  type TransactionRow,
} from './transactions.ts';

type Writing = Parameters<Parameters<App['db']['write']>[0]>[0];

const Reference = z.string().trim().min(1).max(100);

const KEY_FIELD = {
  idempotent_key: Reference.optional().meta({
    description: 'For 24 hours a repeated request with the same key gets the same response.',
  }),
};

const pay =
  (app: App) =>
  async ({ query }: Writing, { id }: TransactionRow): Promise<string> =>
    JSON.stringify(toS2SPay(app, await namedTransaction(query, id)));

const LOCKED = 'the rule locks the account and the game of the sale, which no path names';

export const transactionIntent = operation({
  id: 's-2-s-transaction-intent',
  tag: 'S2S',
  method: 'POST',
  path: '/s2s/transactions/intent',
  says: 'Announces the sale of a token pack in a store to the user of the delegation token in `X-Service-Delegation-Token`. The same `gateway_uuid` returns the same transaction. It fails unless it is committed within 24 hours.',
  access: service('write', 'monetization'),
  unlocked: LOCKED,
  body: z.object({
    sku: Reference,
    portal: z.string().trim().min(1).max(50),
    gateway_uuid: Reference.optional().meta({ description: 'The id of the sale at the backend.' }),
    mod_id: Id.optional().meta({ description: 'A mod that the tokens buy at once.' }),
    ...KEY_FIELD,
  }),
  returns: ok(S2SPayObject),
  errors: [
    'USER_TOKEN_ISSUE_MISMATCH',
    'TOKEN_OF_GAME',
    'USER_NOT_FOUND',
    'GAME_DELETED',
    'MOD_NOT_FOUND',
    'MOD_DELETED',
    ...BUYING_REFUSALS,
    'MONETIZATION_ACCOUNT_ERROR',
    'MONETIZATION_SKU_MISSING',
    'MONETIZATION_IAP_NOT_CONFIGURED',
    'MONETIZATION_PORTAL_INVALID',
  ],
  handle: async (app, { caller, body, delegationToken }) => {
    const intent = {
      delegationToken,
      portal: portalOf(body.portal),
      sku: body.sku,
      gatewayUuid: body.gateway_uuid,
      modId: body.mod_id,
      key: body.idempotent_key,
    };
    return new Json(await beginTransaction(app, caller, intent, pay(app)));
  },
});

export const transactionCommit = operation({
  id: 's-2-s-transaction-commit',
  tag: 'S2S',
  method: 'POST',
  path: '/s2s/transactions/commit',
  says: 'Completes a sale that was consumed in the store: the user gets the tokens, or the mod. Repeated, it changes nothing.',
  access: service('write', 'monetization'),
  unlocked: LOCKED,
  body: z.object({ transaction_id: Id, clawback_uuid: Reference.optional(), ...KEY_FIELD }),
  returns: ok(S2SPayObject),
  errors: [
    'RESOURCE_NOT_FOUND',
    'GAME_DELETED',
    'MOD_DELETED',
    ...BUYING_REFUSALS,
    'MONETIZATION_ACCOUNT_ERROR',
    'MONETIZATION_PAYMENT_FAILED',
  ],
  handle: async (app, { caller, body }) => {
    const { idempotent_key: key } = body;
    const step = { transactionId: body.transaction_id, clawbackUuid: body.clawback_uuid, key };
    return new Json(await commitTransaction(app, caller, step, pay(app)));
  },
});

export const transactionAbandon = operation({
  id: 's-2-s-transaction-abandon',
  tag: 'S2S',
  method: 'POST',
  path: '/s2s/transactions/abandon',
  says: 'Ends a sale that could not be consumed in the store. Repeated, it changes nothing.',
  access: service('write', 'monetization'),
  unlocked: LOCKED,
  body: z.object({ transaction_id: Id, ...KEY_FIELD }),
  returns: ok(S2SPayObject),
  errors: ['RESOURCE_NOT_FOUND', 'MONETIZATION_REQUEST_ERROR', 'MONETIZATION_UNEXPECTED_OPERATION'],
  handle: async (app, { caller, body }) => {
    const { idempotent_key: key } = body;
    const step = { transactionId: body.transaction_id, clawbackUuid: undefined, key };
    return new Json(await abandonTransaction(app, caller, step, pay(app)));
  },
});

const Reason = z.string().trim().min(1).max(500);

export const transactionClawback = operation({
  id: 's-2-s-transaction-clawback',
  tag: 'S2S',
  method: 'POST',
  path: '/s2s/transactions/clawback',
  says: 'Takes back what a sale gave, because the store returned the money. Tokens that were spent become a deficit. The sale is named by `transaction_id` or `gateway_uuid`. Repeated, it changes nothing.',
  access: service('write', 'monetization'),
  unlocked: LOCKED,
  body: z
    .object({
      transaction_id: Id.optional(),
      gateway_uuid: Reference.optional(),
      portal: z.string().trim().min(1).max(50),
      refund_reason: Reason.optional(),
      reason: Reason.optional().meta({ description: 'Another name of `refund_reason`, which shipped examples use.' }),
      clawback_uuid: Reference.optional(),
      ...KEY_FIELD,
    })
    .refine(({ refund_reason, reason }) => refund_reason !== undefined || reason !== undefined, {
      path: ['refund_reason'],
      params: { rule: 'required' },
    })
    .refine(({ transaction_id, gateway_uuid }) => transaction_id !== undefined || gateway_uuid !== undefined, {
      path: ['transaction_id'],
      params: { rule: 'required' },
    }),
  returns: ok(RefundObject),
  errors: [
    'RESOURCE_NOT_FOUND',
    'MONETIZATION_REQUEST_ERROR',
    'MONETIZATION_UNEXPECTED_OPERATION',
    'MONETIZATION_PORTAL_INVALID',
  ],
  handle: async (app, { caller, body }) => {
    const clawback = {
      transactionId: body.transaction_id,
      gatewayUuid: body.gateway_uuid,
      portal: portalOf(body.portal),
      clawbackUuid: body.clawback_uuid,
      reason: body.refund_reason ?? body.reason ?? '',
      key: body.idempotent_key,
    };
    const respond = async ({ query }: Writing, { id }: TransactionRow) =>
      JSON.stringify(toClawback(await namedTransaction(query, id)));
    return new Json(await clawBack(app, caller, clawback, respond));
  },
});

const CURSOR = /^(after|before)-(\d{1,15})-(\d{1,9})$/;
const cursorText = ({ direction, id, page }: PageCursor): string =>
  Buffer.from(`${direction}-${id}-${page}`).toString('base64url');

const CursorField = z
  .string()
  .transform((text) => CURSOR.exec(Buffer.from(text, 'base64url').toString('latin1')))
  .refine((match) => match !== null, { params: { rule: 'invalid' } })
  .transform(
    (match): PageCursor => ({
      direction: match![1] as PageCursor['direction'],
      id: Number(match![2]),
      page: Number(match![3]),
    }),
  )
  .optional()
  .meta({ type: 'string', description: 'From `next_page_url` or `prev_page_url`.' });

const TeamPath = z.object({ monetization_team_id: PathId });
/** Shipped documents write the values in capitals and in small letters. */
const inCapitals = <const T extends readonly string[]>(values: T) =>
  z.preprocess((value) => (typeof value === 'string' ? value.toUpperCase() : value), z.enum(values)).optional();

const Filters = z.object({
  transaction_type: inCapitals(TRANSACTION_TYPES),
  monetization_type: inCapitals(['FIAT', 'TOKEN', 'EXTERNAL']).meta({
    description: 'All transactions of this list are `EXTERNAL`.',
  }),
  buyer: Id.optional().meta({ description: 'The id of a user.' }),
  clawback_uuid: Reference.optional(),
  gateway_uuid: Reference.optional(),
  line_items: Reference.optional().meta({ description: 'The SKU that was sold.' }),
  created_at_start: z.int().min(0).optional().meta({ description: 'Unix seconds' }),
  per_page: z.int().min(1).max(100).default(100),
  cursor: CursorField,
});

/** The address of the same list at another place. */
function addressAt(app: App, gameId: number, filters: z.output<typeof Filters>, cursor: PageCursor | undefined) {
  if (!cursor) return null;
  const { cursor: _, ...asked } = filters;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) if (value !== undefined) query.set(name, String(value));
  query.set('cursor', cursorText(cursor));
  return `${app.addresses.gameApi(gameId)}/s2s/monetization-teams/${gameId}/transactions?${query}`;
}

export const getMonetizationTransactions = operation({
  id: 'get-monetization-transactions',
  tag: 'S2S',
  method: 'GET',
  path: '/s2s/monetization-teams/{monetization_team_id}/transactions',
  says: 'Lists the sales that the game’s backend has reported, the newest first, by cursor. The id of the team is in `monetization_teams` of the game.',
  access: service('read', 'monetization'),
  params: TeamPath,
  body: Filters,
  emptyBody: true,
  returns: ok(z.object({ data: z.array(TransactionIndexObject), meta: CursorMetaObject })),
  errors: ['MONETIZATION_TEAM_NOT_FOUND'],
  handle: async (app, { caller, params, body }) => {
    const { monetization_team_id: teamId } = params;
    const filter = {
      type: body.transaction_type,
      buyer: body.buyer,
      clawbackUuid: body.clawback_uuid,
      gatewayUuid: body.gateway_uuid,
      sku: body.line_items,
      since: body.created_at_start,
      cursor: body.cursor,
      limit: body.per_page,
    };
    const isOther = body.monetization_type !== undefined && body.monetization_type !== 'EXTERNAL';
    const listed = await listTransactions(app, caller, teamId, filter);
    const { rows, page, next, previous } = isOther
      ? { rows: [], page: 1, next: undefined, previous: undefined }
      : listed;
    return {
      data: rows.map((row) => toTransactionIndex(app, row)),
      meta: {
        per_page: body.per_page,
        current_page: page,
        next_page_url: addressAt(app, teamId, body, next),
        prev_page_url: addressAt(app, teamId, body, previous),
      },
    };
  },
});

export const getMonetizationTransaction = operation({
  id: 'get-monetization-transaction',
  tag: 'S2S',
  method: 'GET',
  path: '/s2s/monetization-teams/{monetization_team_id}/transactions/{transaction_id}',
  says: 'Shows a sale, all states that it has had, also in other attempts with the same `gateway_uuid`, and what each party gets.',
  access: service('read', 'monetization'),
  params: TeamPath.extend({ transaction_id: PathId }),
  returns: ok(z.object({ data: z.array(TransactionShowObject) })),
  errors: ['MONETIZATION_TEAM_NOT_FOUND', 'RESOURCE_NOT_FOUND'],
  handle: async (app, { caller, params }) => {
    const shown = await showTransaction(app, caller, params.monetization_team_id, params.transaction_id);
    return { data: [toTransactionShow(app, shown)] };
  },
});

export const transactionOperations = [
  transactionIntent,
  transactionCommit,
  transactionAbandon,
  transactionClawback,
  getMonetizationTransactions,
  getMonetizationTransaction,
];
