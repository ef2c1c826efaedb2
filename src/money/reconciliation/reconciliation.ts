import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { type PeriodQuery, periodOf } from '../statements/periods.ts';
import { requireFinance } from '../statements/statements.ts';
import { STORE_PORTALS } from '../stores/adapter.ts';
import { type Compared, compare } from './comparing.ts';
import type { MoneyRecord, ProviderRecords, RecordKind, Window } from './records.ts';
import { columnsOf, settlementRecords } from './settlement.ts';
import { simulatedRecords } from './simulated.ts';
import * as store from './store.ts';
import { stripeRecords } from './stripe.ts';

/** Providers that can be asked. All others are reconciled with a file. */
export const ASKED_PROVIDERS = ['simulated', 'stripe'] as const;
export const FILE_PROVIDERS = [...STORE_PORTALS, 'manual', ...ASKED_PROVIDERS] as const;

export type AskedProvider = (typeof ASKED_PROVIDERS)[number];
export type FileProvider = (typeof FILE_PROVIDERS)[number];

export interface SettlementFile {
  readonly text: string;
  /** Such as `reference=Order Number,amount=Charged Amount`. */
  readonly columns: string;
}

export interface Reconciliation extends Compared, Window {
  readonly provider: string;
  readonly gameId: number | undefined;
}

/** What one side dates a little earlier or later than the other still matches. */
const MARGIN_SECONDS = 7 * 86_400;

const KIND_OF: Readonly<Record<string, RecordKind | undefined>> = {
  pack_sale: 'payment',
  store_sale: 'payment',
  pack_refund: 'refund',
  chargeback: 'refund',
  clawback: 'refund',
  store_reversal: 'refund',
  payout: 'payout',
  payout_return: 'payout_return',
};
/** Money that a person transfers leaves when they say so, and not with the request. */
const KIND_BY_HAND: typeof KIND_OF = { payout_paid: 'payout', payout_return: 'payout_return' };

function recordsOf(rows: readonly store.LedgerRow[], provider: string): MoneyRecord[] {
  const kinds = provider === 'manual' ? KIND_BY_HAND : KIND_OF;
  return rows.flatMap((row) => {
    const kind = kinds[row.kind];
    if (!kind) return [];
    const { provider_reference: reference, date_added: date, amount, currency } = row;
    return [{ kind, reference, amount: amount ?? undefined, currency: currency ?? '', date }];
  });
}

/** Holds the books of a game, or of all games, against what a provider says, or a file of it. */
export async function reconcile(
  app: App,
  provider: string,
  gameId: number | undefined,
  period: Window,
  file?: SettlementFile,
): Promise<Reconciliation> {
  const window = { from: period.from - MARGIN_SECONDS, until: period.until + MARGIN_SECONDS };
  const { readInWorker } = app.db.withLongTimeouts;
  const ledger = recordsOf(await store.postingsOfProvider(readInWorker, provider, gameId, window), provider);
  const references = [...new Set(ledger.map(({ reference }) => reference))];
  const said = file
    ? settlementRecords(file.text, columnsOf(file.columns))
    : await ask(app, provider, references, window);
  const known = gameId === undefined || file ? said : await ofGame(app, said, gameId, new Set(references));
  return { provider, gameId, ...period, ...compare(ledger, known, period) };
}

async function ask(
  app: App,
  provider: string,
  references: readonly string[],
  window: Window,
): Promise<ProviderRecords> {
  if (provider === 'simulated') return simulatedRecords(app, references, window);
  try {
    return await stripeRecords(app, window);
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    throw new ApiError('MONETIZATION_PAYMENT_FAILED', { cause });
  }
}

/** An account at a provider serves all games of the site, so a game sees what began in it. */
async function ofGame(
  app: App,
  { records }: ProviderRecords,
  gameId: number,
  booked: ReadonlySet<string>,
): Promise<ProviderRecords> {
  const unknown = records.filter(({ reference }) => !booked.has(reference)).map(({ reference }) => reference);
  const games = await store.gamesOfReferences(app.db.withLongTimeouts.readInWorker, unknown);
  const isOwn = ({ reference }: MoneyRecord) => booked.has(reference) || games.get(reference) === gameId;
  return { records: records.filter(isOwn), others: [] };
}

export async function reconcileGame(
  app: App,
  caller: UserCaller,
  gameId: number,
  { provider, ...query }: PeriodQuery & { readonly provider: string },
  file?: SettlementFile,
): Promise<Reconciliation> {
  await requireFinance(app, caller, gameId);
  return reconcile(app, provider, gameId, periodOf(query, app.clock.now()), file);
}

export async function reconcileSite(
  app: App,
  { admin }: UserCaller,
  { provider, ...query }: PeriodQuery & { readonly provider: string },
): Promise<Reconciliation> {
  if (!admin) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  return reconcile(app, provider, undefined, periodOf(query, app.clock.now()));
}
