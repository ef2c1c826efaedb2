import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { GamePath, Id, Integer, page, pageOf, pageOfAll, pagesOnly, Timestamp } from '../../platform/http/objects.ts';
import { Created, created, ok, operation } from '../../platform/http/operation.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { type LaterText, localiseLater } from '../../platform/localisation/texts.ts';
import { type CheckRow, listChecks, startCheck } from './checks.ts';
import { TRANSACTION_KINDS } from './ledger.ts';
import { type ListedTransaction, listAllTransactions, listGameTransactions } from './listing.ts';

const LedgerTransactionObject = z
  .object({
    id: Id,
    game_id: Id,
    kind: z.enum(TRANSACTION_KINDS).meta({ description: '`chargeback` and `clawback` are disputes.' }),
    provider: z.string(),
    reference: z.string().meta({ description: 'The ID at the provider.' }),
    user_id: Integer.meta({ description: 'The acting user; 0 for the service.' }),
    reverses_id: Integer.meta({ description: 'The transaction that this one takes back; 0 for none.' }),
    date_added: Timestamp,
    entries: z.array(
      z.object({
        account: z.string(),
        user_id: Integer.meta({ description: 'The owner of the account; 0 unless it is a user.' }),
        currency: z.string().meta({ description: 'ISO 4217, or `TOKEN:` and the ID of the game.' }),
        amount: Integer.meta({ description: 'In the smallest unit; a credit is positive.' }),
      }),
    ),
  })
  .meta({ id: 'LedgerTransaction' });

const toTransaction = ({ row, entries }: ListedTransaction): z.output<typeof LedgerTransactionObject> => ({
  id: row.id,
  game_id: row.game_id,
  kind: row.kind as (typeof TRANSACTION_KINDS)[number],
  provider: row.provider,
  reference: row.provider_reference,
  user_id: row.user_id,
  reverses_id: row.reverses_id,
  date_added: row.date_added,
  entries: entries.map(({ kind, user_id, currency, amount }) => ({ account: kind, user_id, currency, amount })),
});

const kind = z
  .enum(['all', 'disputes', ...TRANSACTION_KINDS])
  .default('all')
  .meta({ description: 'One kind, or `disputes`: chargebacks, clawbacks and reversals at stores.' });

const DISPUTES = ['chargeback', 'clawback', 'store_reversal'] as const;
const kindsOf = (asked: z.output<typeof kind>) =>
  asked === 'all' ? undefined : asked === 'disputes' ? DISPUTES : [asked];

export const getGameTransactions = operation({
  id: 'get-game-transactions',
  tag: 'Monetization',
  method: 'GET',
  path: '/games/{game_id}/monetization/transactions',
  says: 'Lists what was written to the books of a game, the newest first: sales, refunds, disputes, clearing and payouts. For its administrators.',
  access: user('read', 'team'),
  params: GamePath,
  query: z.object({ kind }),
  list: pagesOnly,
  returns: ok(pageOf(LedgerTransactionObject)),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_UPDATE_PERMISSION'],
  handle: async (app, { caller, params, query, list }) => {
    const { transactions, total } = await listGameTransactions(app, caller, params.game_id, kindsOf(query.kind), list);
    return page(transactions.map(toTransaction), total, list);
  },
});

export const getStaffTransactions = operation({
  id: 'get-staff-transactions',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/transactions',
  says: 'Lists what was written to the books of all games, the newest first. For administrators of the site.',
  access: user('read', 'staff'),
  query: z.object({ kind, game_id: Id.optional() }),
  list: pagesOnly,
  returns: ok(pageOf(LedgerTransactionObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, query, list }) => {
    const filter = { gameId: query.game_id, kinds: kindsOf(query.kind) };
    const { transactions, total } = await listAllTransactions(app, caller, filter, list);
    return page(transactions.map(toTransaction), total, list);
  },
});

const LedgerCheckObject = z
  .object({
    id: Id,
    user_id: Integer,
    state: z.enum(['waiting', 'right', 'wrong']),
    transactions: Integer,
    entries: Integer,
    accounts: Integer,
    problems: z.array(z.string()).meta({ description: 'The first hundred, in the language of the request.' }),
    date_added: Timestamp,
    date_ended: Timestamp.meta({ description: '0 until it has ended.' }),
  })
  .meta({ id: 'LedgerCheck' });

const toCheck = ({ problems, ...row }: CheckRow, language: Language): z.output<typeof LedgerCheckObject> => ({
  ...row,
  problems: (JSON.parse(problems) as LaterText[]).map((problem) => localiseLater(problem, language)),
});

const CHECKS = '/staff/ledger/checks';

export const getLedgerChecks = operation({
  id: 'get-ledger-checks',
  tag: 'Staff',
  method: 'GET',
  path: CHECKS,
  says: 'Lists the last hundred verifications of the books, the newest first. For administrators of the site.',
  access: user('read', 'staff'),
  list: pagesOnly,
  returns: ok(pageOf(LedgerCheckObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, list, language }) => {
    const rows = await listChecks(app, caller);
    return pageOfAll(
      rows.map((row) => toCheck(row, language)),
      list,
    );
  },
});

export const addLedgerCheck = operation({
  id: 'add-ledger-check',
  tag: 'Staff',
  method: 'POST',
  path: CHECKS,
  says: 'Recomputes all books in the background, as `modstead ledger verify` does. Returns the one that waits, if there is one. For administrators of the site.',
  access: user('write', 'staff'),
  limit: 10,
  returns: created(LedgerCheckObject),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, language }) =>
    new Created(toCheck(await startCheck(app, caller), language), `${app.addresses.api}${CHECKS}`),
});

export const ledgerOperations = [getGameTransactions, getStaffTransactions, getLedgerChecks, addLedgerCheck];
