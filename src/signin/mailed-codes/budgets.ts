import { networkOf, networkText } from '../../platform/access/networks.ts';
import type { App } from '../../platform/app.ts';
import type { Query } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

/** A rate limit of `max` per window of `seconds`, which begins with the first use. Decision 68 derives the numbers. */
export interface Budget {
  readonly bucket: string;
  readonly max: number;
  readonly seconds: number;
}

const QUARTER_HOUR = 900;
const HOUR = 3_600;
const DAY = 86_400;

/** A counter’s name is a digest, so that it does not reveal the mailbox. */
const mailboxOf = (app: App, email: string): string => app.secrets.digest(`mailbox ${email}`);

/**
 * The rate-limit class of a request for a code. A place from which the owner has signed in before has its own budget,
 * which strangers cannot use up; strangers share one per mailbox and network.
 */
export type Lane =
  | { readonly kind: 'known'; readonly digest: string }
  | { readonly kind: 'user'; readonly place: string }
  | { readonly kind: 'stranger'; readonly ip: string | undefined };

export function laneName(lane: Lane): string {
  if (lane.kind === 'known') return `known ${lane.digest}`;
  return lane.kind === 'user' ? `user ${lane.place}` : `stranger ${networksOf(lane.ip)[1] ?? ''}`;
}

/** The address, its site and its provider: IPv4 /32, /24, /16; IPv6 /64, /48, /32. */
export function networksOf(ip: string | undefined): string[] {
  const isSix = ip?.includes(':') && !ip.startsWith('::ffff:');
  return (isSix ? [64, 48, 32] : [32, 24, 16]).flatMap((bits) => {
    const network = networkOf(`${ip}/${bits}`);
    return network ? [networkText(network)] : [];
  });
}

/** Limits how many codes are mailed to a mailbox. */
export function mailBudgets(app: App, email: string, lane: Lane): Budget[] {
  const mails = `mails/${mailboxOf(app, email)}`;
  if (lane.kind === 'known') return [{ bucket: `${mails}/${lane.digest}`, max: 6, seconds: QUARTER_HOUR }];
  if (lane.kind === 'user')
    return [
      { bucket: `${mails}/users/${lane.place}`, max: 3, seconds: QUARTER_HOUR },
      { bucket: `${mails}/users`, max: 12, seconds: HOUR },
    ];
  const [own, site] = networksOf(lane.ip);
  return [
    ...(own === undefined ? [] : [{ bucket: `${mails}/${own}`, max: 4, seconds: QUARTER_HOUR }]),
    ...(site === undefined ? [] : [{ bucket: `${mails}/${site}`, max: 6, seconds: QUARTER_HOUR }]),
    { bucket: `${mails}/strangers`, max: 12, seconds: HOUR },
  ];
}

/** Limits the wrong guesses of short codes per mailbox and requester. */
export function guessBudgets(app: App, email: string, lane: string): Budget[] {
  const guesses = `guesses/${mailboxOf(app, email)}`;
  const own = { bucket: `${guesses}/${lane}`, max: 10, seconds: DAY };
  return lane.startsWith('stranger ') ? [own, { bucket: `${guesses}/strangers`, max: 50, seconds: DAY }] : [own];
}

/** Limits guesses that name a mailbox from a place other than where the code was requested. */
export const remoteGuessBudgets = (app: App, email: string): Budget[] => [
  { bucket: `guesses/${mailboxOf(app, email)}/remote`, max: 10, seconds: DAY },
];

/** Limits wrong guesses without a handle per network. */
export const networkGuessBudgets = (ip: string | undefined): Budget[] =>
  networksOf(ip).map((network, index) => ({
    bucket: `guesses/${network}`,
    max: [30, 120, 600][index]!,
    seconds: HOUR,
  }));

/** Takes one from each budget, or throws, so that the transaction rolls all of them back. */
export async function takeAll(app: App, query: Query, budgets: readonly Budget[]): Promise<void> {
  for (const budget of budgets)
    if (!(await store.takeFrom(query, budget.bucket, budget, app.clock.now())))
      throw await exhausted(app, query, budget);
}

/** Limits mails that a signed-in user triggers to arbitrary addresses. */
export const userMailBudgets = (app: App, email: string, userId: number): Budget[] =>
  mailBudgets(app, email, { kind: 'user', place: `user/${userId}` });

export async function exhausted(app: App, query: Query, { bucket }: Budget): Promise<ApiError> {
  const now = app.clock.now();
  const ends = (await store.counterOf(query, bucket, now))?.date_ends ?? now;
  return new ApiError('RATE_LIMITED_ENDPOINT', { retryAfterSeconds: Math.max(1, ends - now) });
}

/** Takes one from each and returns true, or takes none and returns the first exhausted budget. */
export async function tryTake(app: App, query: Query, budgets: readonly Budget[]): Promise<true | Budget> {
  for (const [index, budget] of budgets.entries()) {
    if (await store.takeFrom(query, budget.bucket, budget, app.clock.now())) continue;
    await giveBack(query, budgets.slice(0, index));
    return budget;
  }
  return true;
}

export async function giveBack(query: Query, budgets: readonly Budget[]): Promise<void> {
  for (const { bucket } of budgets) await store.giveBackTo(query, bucket);
}

export async function areSpent(app: App, query: Query, budgets: readonly Budget[]): Promise<boolean> {
  for (const { bucket, max } of budgets)
    if (((await store.counterOf(query, bucket, app.clock.now()))?.used ?? 0) >= max) return true;
  return false;
}
