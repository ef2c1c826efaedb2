import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { GamePath } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import { PeriodFields } from '../statements/object.ts';
import { ReconciliationObject, toReconciliation } from './object.ts';
import { ASKED_PROVIDERS, FILE_PROVIDERS, reconcileGame, reconcileSite } from './reconciliation.ts';

const AskedQuery = z.object({
  provider: z.enum(ASKED_PROVIDERS).meta({ description: 'The payment provider that is asked.' }),
  ...PeriodFields,
});
const FileQuery = z.object({
  provider: z.enum(FILE_PROVIDERS).meta({ description: 'The store or provider that has made the file.' }),
  columns: z.string().max(500).default('').meta({
    description:
      'The names of the columns where they differ from `reference`, `type`, `amount`, `currency` and `date`: `reference=Order Number,amount=Charged Amount`. Only the reference is needed.',
  }),
  ...PeriodFields,
});

const GAME = '/games/{game_id}/monetization/reconciliation';
/** Each asks the provider for everything in the period. */
const LIMIT = 10;
const FILE_BYTES_MAX = 20_971_520;
const FINANCE = ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_UPDATE_PERMISSION', 'VALIDATION_GENERIC'] as const;
const PROVIDER = ['MONETIZATION_PAYMENT_FAILED', 'MONETIZATION_IAP_NOT_CONFIGURED'] as const;

export const getGameReconciliation = operation({
  id: 'get-game-reconciliation',
  tag: 'Monetization',
  method: 'GET',
  path: GAME,
  says: 'Compares the books of a game with the records of its payment provider: payments, refunds and payouts that both have, that one of them misses, and whose amounts differ. For its administrators.',
  access: user('read', 'team'),
  limit: LIMIT,
  params: GamePath,
  query: AskedQuery,
  returns: ok(ReconciliationObject),
  errors: [...FINANCE, ...PROVIDER],
  handle: async (app, { caller, params, query }) =>
    toReconciliation(await reconcileGame(app, caller, params.game_id, query)),
});

export const reconcileGameSettlement = operation({
  id: 'reconcile-game-settlement',
  tag: 'Monetization',
  method: 'POST',
  path: GAME,
  says: 'Compares the books of a game with a settlement file (CSV) of a store, a provider or a bank. Nothing is stored. For its administrators.',
  access: user('read', 'team'),
  limit: LIMIT,
  unlocked: 'writes nothing',
  params: GamePath,
  query: FileQuery,
  raw: { bytesMax: FILE_BYTES_MAX, says: 'The file: CSV in UTF-8, with a head.' },
  returns: ok(ReconciliationObject),
  errors: FINANCE,
  handle: async (app, { caller, params, query, raw }) => {
    const text = Buffer.concat(await Array.fromAsync(raw.chunks)).toString('utf8');
    const file = { text, columns: query.columns };
    return toReconciliation(await reconcileGame(app, caller, params.game_id, query, file));
  },
});

export const getStaffReconciliation = operation({
  id: 'get-staff-reconciliation',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/reconciliation',
  says: 'Compares the books of all games with the records of a payment provider, and shows what the provider lists besides, such as its fees. For administrators of the site.',
  access: user('read', 'staff'),
  limit: LIMIT,
  query: AskedQuery,
  returns: ok(ReconciliationObject),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY', 'VALIDATION_GENERIC', ...PROVIDER],
  handle: async (app, { caller, query }) => toReconciliation(await reconcileSite(app, caller, query)),
});

export const reconciliationOperations = [getGameReconciliation, reconcileGameSettlement, getStaffReconciliation];
