import { z } from 'zod';
import type { ErrorName } from '../../platform/errors/catalogue.ts';
import { GamePath, Id, Integer, pageOf, Timestamp } from '../../platform/http/objects.ts';
import { STORE_PORTALS } from './adapter.ts';
import type { Available, Brought } from './selling.ts';
import type { ShownStoreSettings } from './settings.ts';
import type { SimulatedPurchase } from './simulated.ts';
import type { Fulfilment, Synced } from './syncing.ts';

/** Why the token of an Epic account is rejected. */
export const EPIC_REFUSALS = [
  'EPIC_GAMES_INVALID_TOKEN',
  'EPIC_GAMES_INVALID_TOKEN_NOT_VALID_BEFORE',
  'EPIC_GAMES_INVALID_TOKEN_NOT_VALID_AFTER',
  'EPIC_GAMES_INVALID_TOKEN_ISSUER_NOT_RECOGNIZED',
  'EPIC_GAMES_UNABLE_TO_GET_JWK_SIGNATURE',
] as const satisfies readonly ErrorName[];

const STATES: Readonly<Record<Fulfilment, number>> = { failed: 0, pending: 1, fulfilled: 2, limited: 3 };
const TOKENS = 0;
const SOMETHING_ELSE = 1;

const StorePurchaseObject = z.object({
  transaction_id: z.string().meta({ description: 'The posting that credited the tokens; empty unless fulfilled.' }),
  transaction_state: Integer.meta({
    description:
      '0: failed. 1: pending, will be asked about again. 2: fulfilled. 3: more than a buyer may bring in a day.',
  }),
  sku_id: z.string(),
  entitlement_consumed: z.boolean(),
  entitlement_type: Integer.meta({ description: '0: tokens.' }),
  details: z.object({ tokens_allocated: Integer }).nullable(),
});

export const StorePurchasesObject = pageOf(StorePurchaseObject)
  .extend({ wallet: z.object({ balance: Integer.meta({ description: 'Tokens that can be spent.' }) }) })
  .meta({ id: 'StorePurchases' });

const toStorePurchase = ({ sku, state, tokens, transactionId }: Synced): z.input<typeof StorePurchaseObject> => ({
  transaction_id: transactionId === 0 ? '' : String(transactionId),
  transaction_state: STATES[state],
  sku_id: sku,
  entitlement_consumed: state === 'fulfilled',
  entitlement_type: TOKENS,
  details: state === 'fulfilled' ? { tokens_allocated: tokens } : null,
});

/** Short lists, and lists of stores, which have no pages that stay as they are. */
export const onOnePage = <T>(data: T[]) => ({
  data,
  result_count: data.length,
  result_offset: 0,
  result_limit: data.length,
  result_total: data.length,
});

export const toStorePurchases = ({ synced, balance }: Brought): z.input<typeof StorePurchasesObject> => ({
  wallet: { balance },
  ...onOnePage(synced.map(toStorePurchase)),
});

export const EntitlementObject = z
  .object({
    sku_id: z.string(),
    entitlement_type: Integer.meta({
      description: '0: a token pack of the game. 1: something else that the store sells.',
    }),
  })
  .meta({ id: 'Entitlement' });

export const toEntitlement = ({ sku, isPack }: Available): z.input<typeof EntitlementObject> => ({
  sku_id: sku,
  entitlement_type: isPack ? TOKENS : SOMETHING_ELSE,
});

export const GameStorePath = GamePath.extend({ portal: z.enum(STORE_PORTALS) });

export const GameStoreObject = z
  .object({
    portal: z.enum(STORE_PORTALS),
    settings: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    secrets: z
      .array(z.string())
      .meta({ description: 'Names of the secrets that are set. Their values are never shown.' }),
    notification_url: z
      .string()
      .nullable()
      .meta({ description: 'The address to register at the store for its notifications.' }),
    date_updated: Timestamp,
  })
  .meta({ id: 'GameStore' });

/** The stores that tell of refunds by themselves. */
const NOTIFYING: readonly string[] = ['apple', 'google'];

export const toGameStore = (shown: ShownStoreSettings, api: string): z.input<typeof GameStoreObject> => ({
  portal: shown.portal,
  settings: Object.fromEntries(
    Object.entries(shown.fields).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  ),
  secrets: [...shown.secrets],
  notification_url: NOTIFYING.includes(shown.portal) ? `${api}/notifications/${shown.portal}` : null,
  date_updated: shown.dateUpdated,
});

export const SimulatedPurchaseObject = z
  .object({
    id: Id,
    game_id: Id,
    portal: z.enum(STORE_PORTALS),
    sku: z.string(),
    quantity: Integer,
    state: z.enum(['owned', 'pending', 'consumed', 'revoked']),
    date_added: Timestamp,
  })
  .meta({ id: 'SimulatedPurchase' });

export const toSimulatedPurchase = (row: SimulatedPurchase): z.input<typeof SimulatedPurchaseObject> => ({
  id: row.id,
  game_id: row.game_id,
  portal: row.portal as (typeof STORE_PORTALS)[number],
  sku: row.sku,
  quantity: row.quantity,
  state: row.state,
  date_added: row.date_added,
});
