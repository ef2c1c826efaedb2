import { LRUCache } from 'lru-cache';
import { requireGame, requireGameForChange } from '../../catalogue/games/games.ts';
import { ADMINISTRATOR, MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { auditGame } from '../../records/audit/audit.ts';
import { DEFAULT_TERMS, type Terms, TermsFields } from './fields.ts';
import * as store from './store.ts';

export type { Terms } from './fields.ts';

/** The terms and the row that holds them; 0 while a game has the defaults. */
export interface DatedTerms {
  readonly id: number;
  readonly terms: Terms;
  readonly changed_by: number;
  readonly date_added: number;
}

type Reader = Pick<Database, 'first'>;

const DEFAULTS: DatedTerms = { id: 0, terms: DEFAULT_TERMS, changed_by: 0, date_added: 0 };

const PARSED_MAX = 1_000;
/** Validation of all fields takes longer than the query, and each purchase needs the terms. */
const parsed = new LRUCache<string, Terms>({ max: PARSED_MAX });

export function termsIn(text: string): Terms {
  const known = parsed.get(text);
  if (known) return known;
  // A field that is younger than the row has its default.
  const terms = TermsFields.parse(JSON.parse(text));
  parsed.set(text, terms);
  return terms;
}

const dated = ({ id, terms, changed_by, date_added }: store.TermsRow): DatedTerms => ({
  id,
  terms: termsIn(terms),
  changed_by,
  date_added,
});

/** The terms of today. */
export async function termsOf(reader: Reader, gameId: number): Promise<DatedTerms> {
  const row = await store.current(reader, gameId);
  return row ? dated(row) : DEFAULTS;
}

/** The terms under which something was sold. */
export async function termsOfDay(reader: Reader, id: number): Promise<Terms> {
  const row = id === 0 ? undefined : await store.byId(reader, id);
  return row ? dated(row).terms : DEFAULT_TERMS;
}

async function requireLevel(reader: Reader, caller: Caller, gameId: number, level: number): Promise<void> {
  if ((await teamLevel(reader, caller, 'games', gameId)) < level) throw new ApiError('GAME_NO_UPDATE_PERMISSION');
}

export async function showTerms(app: App, caller: Caller, gameId: number): Promise<DatedTerms> {
  await requireGame(app.db, caller, gameId);
  await requireLevel(app.db, caller, gameId, MODERATOR);
  return termsOf(app.db, gameId);
}

export async function listTerms(
  app: App,
  caller: Caller,
  gameId: number,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: DatedTerms[]; total: number }> {
  await requireGame(app.db, caller, gameId);
  await requireLevel(app.db, caller, gameId, MODERATOR);
  const { rows, total } = await store.history(app.db.query, gameId, page);
  return { rows: rows.map(dated), total };
}

type Changes = { readonly [K in keyof Terms]?: Terms[K] | undefined };

/** Sets the terms for everything that is sold from now on. */
export async function changeTerms(app: App, caller: UserCaller, gameId: number, changes: Changes): Promise<DatedTerms> {
  return app.db.write(async (transaction) => {
    await requireGameForChange(transaction, caller, gameId);
    await requireLevel(transaction, caller, gameId, ADMINISTRATOR);
    return setTerms(app, transaction, caller, gameId, changes);
  });
}

async function setTerms(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  gameId: number,
  changes: Changes,
): Promise<DatedTerms> {
  const before = (await termsOf(transaction, gameId)).terms;
  const sent = Object.entries(changes).filter(([, value]) => value !== undefined);
  const after: Terms = { ...before, ...Object.fromEntries(sent) };
  if (after.price_max < after.price_min)
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'price_max', rule: 'invalid' }] });
  if (after.payout_fee >= after.payout_min)
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'payout_fee', rule: 'invalid' }] });
  if (after.fee_micros + after.pool_micros === 0)
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'pool_micros', rule: 'invalid' }] });
  const row = await store.add(transaction.query, {
    game_id: gameId,
    changed_by: caller.userId,
    terms: JSON.stringify(after),
    date_added: app.clock.now(),
  });
  await auditGame(app, transaction, caller, gameId, { action: 'terms', data: Object.fromEntries(sent) });
  return dated(row);
}

/** How the price of a mod is divided. Fractions of a token go to the game. */
export interface Shares {
  readonly fee: number;
  readonly seller: number;
  readonly studio: number;
}

export function sharesOf(price: number, { fee_micros, pool_micros, seller_basis_points }: Terms): Shares {
  const fee = Math.floor((price * fee_micros) / (fee_micros + pool_micros));
  const seller = Math.floor(((price - fee) * seller_basis_points) / 10_000);
  return { fee, seller, studio: price - fee - seller };
}

/** What a seller gets for a token, in millionths of the currency. */
export const tokenMicros = ({ fee_micros, pool_micros }: Terms): number => fee_micros + pool_micros;

/** What a buyer of a token pack pays, and how much of it is tax. Fractions are rounded to the tax. */
export function taxedPrice(price: number, { tax_basis_points, tax_included }: Terms): { total: number; tax: number } {
  if (tax_included) {
    const net = Math.floor((price * 10_000) / (10_000 + tax_basis_points));
    return { total: price, tax: price - net };
  }
  const tax = Math.ceil((price * tax_basis_points) / 10_000);
  return { total: price + tax, tax };
}
