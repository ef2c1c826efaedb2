import { normalisedEmail } from '../../people/users/users.ts';
import type { App } from '../../platform/app.ts';
import type { Query, Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { mailCode } from '../../platform/mail/code-mails.ts';
import { ATTEMPTS_MAX, CODE_LENGTH, CODE_MINUTES, digestOfCode } from '../../platform/mail/codes.ts';
import {
  areSpent,
  type Budget,
  exhausted,
  giveBack,
  guessBudgets,
  type Lane,
  laneName,
  mailBudgets,
  networkGuessBudgets,
  networksOf,
  remoteGuessBudgets,
  takeAll,
  tryTake,
} from './budgets.ts';
import { knownPlace, type OriginMarks } from './known-places.ts';
import * as store from './store.ts';

/** Shipped clients accept five characters only. */
export const SHORT_CODE_LENGTH = 5;

/** Where a code is requested or entered. */
export interface Requester {
  /** The id of the API key; `PAGES` and `MERGING` are ids that no key has. */
  readonly keyId: number;
  /** A code is valid where it was requested: in this network, browser or account. */
  readonly place: string;
  /** Set only if the place is not a secret. */
  readonly ip?: string | undefined;
  readonly marks?: OriginMarks;
}

/** Codes of the sign-in page are valid in the browser that requested them. */
export const pageRequester = (visitDigest: string, ip: string, browser: string): Requester => ({
  keyId: 0,
  place: visitDigest,
  ip,
  marks: { browser },
});

/** A merge code is valid for the account that requested it. */
export const mergeRequester = (userId: number): Requester => ({ keyId: -1, place: `user/${userId}` });

/** The place of an API client is its network, unless it sends the handle of its request. */
export function clientRequester(keyId: number, ip: string, handle?: string): Requester {
  const place = networksOf(ip)[0] ?? ip;
  return { keyId, place, ip, marks: { network: { keyId, network: place }, handle } };
}

const isClient = ({ keyId }: { readonly keyId: number }): boolean => keyId > 0;

export interface WantedCode {
  readonly email: string;
  readonly language: Language;
  /** Which mail explains the purpose of the code. */
  readonly mail: 'sign_in_mail' | 'merge_mail';
  /** Five characters, unless there were too many wrong guesses for this mailbox. */
  readonly isShort?: boolean;
}

/**
 * Mails a code that proves control of a mailbox and returns the handle of the request. The answer does not depend on
 * whether the address has an account.
 */
export async function sendCode(app: App, requester: Requester, wanted: WantedCode): Promise<string> {
  const email = normalisedEmail(wanted.email);
  const handle = app.random.token();
  const code = await app.db.write((transaction) => addCode(app, transaction, requester, { ...wanted, email, handle }));
  const { language, mail } = wanted;
  const letter = {
    to: email,
    subject: localise(`${mail}_subject`, language, { code }),
    text: localise(`${mail}_text`, language, { code, minutes: CODE_MINUTES }),
  };
  await mailCode(app, letter).catch(async (error) => {
    const requested = { email, keyId: requester.keyId, place: requester.place };
    await app.db.write(({ query }) => store.removeCode(query, app.secrets.digest(code), requested));
    throw error;
  });
  return handle;
}

async function addCode(
  app: App,
  transaction: Transaction,
  requester: Requester,
  { email, handle, isShort }: WantedCode & { readonly handle: string },
): Promise<string> {
  const { query } = transaction;
  const now = app.clock.now();
  const lane = await laneOf(app, transaction, requester, email);
  await takeAll(app, query, mailBudgets(app, email, lane));
  const staysShort = isShort && !(await areSpent(app, query, guessBudgets(app, email, laneName(lane))));
  const code = app.random.code(staysShort ? SHORT_CODE_LENGTH : CODE_LENGTH);
  await store.closeCodes(query, { email, keyId: requester.keyId, place: requester.place }, now);
  await store.addCode(query, {
    digest: app.secrets.digest(code),
    email,
    key_id: requester.keyId,
    ip: requester.place,
    handle_digest: isClient(requester) ? app.secrets.digest(handle) : null,
    lane: laneName(lane),
    is_short: staysShort ? 1 : 0,
    date_added: now,
    date_expires: now + CODE_MINUTES * 60,
    date_redeemed: null,
    attempts: 0,
  });
  return code;
}

async function laneOf(app: App, transaction: Transaction, requester: Requester, email: string): Promise<Lane> {
  if (requester.ip === undefined) return { kind: 'user', place: requester.place };
  const digest = await knownPlace(app, transaction, email, requester.marks ?? {});
  return digest === undefined ? { kind: 'stranger', ip: requester.ip } : { kind: 'known', digest };
}

export interface Guess {
  readonly code: string;
  /** The mailbox, which makes the code valid in other places. */
  readonly email?: string | undefined;
  /** The handle from the answer to the request. */
  readonly handle?: string | undefined;
}

/** A code that a guess is compared with, and the counters that the guess uses. */
interface Target {
  readonly row: store.CodeRow;
  readonly counter: store.AttemptCounter;
  readonly budgets: readonly Budget[];
}

/** Redeems the code, or returns the error. Wrong guesses are counted. */
export async function findCode(
  app: App,
  { query }: Transaction,
  requester: Requester,
  guess: Guess,
): Promise<store.CodeRow | ApiError> {
  const networks = isClient(requester) && guess.handle === undefined ? networkGuessBudgets(requester.ip) : [];
  const taken = await tryTake(app, query, networks);
  if (taken !== true) return exhausted(app, query, taken);
  const digest = digestOfCode(app, guess.code);
  const counted = await countGuess(app, query, await targetsOf(app, query, requester, guess));
  const hit = counted.find(({ row }) => row.digest === digest && row.key_id === requester.keyId);
  const isRedeemed = hit !== undefined && (await store.redeem(query, hit.row.id, app.clock.now()));
  const refusal = isRedeemed ? undefined : await refusalOf(app, query, requester, guess, digest, counted);
  // A used or expired code reveals nothing to a client that already has it.
  if (isRedeemed || refusal === 'EMAIL_EXCHANGE_CODE_ALREADY_REDEEMED' || refusal === 'EMAIL_EXCHANGE_CODE_EXPIRED') {
    await giveBack(query, networks);
    for (const target of counted) await uncount(query, target);
  }
  return refusal === undefined ? hit!.row : new ApiError(refusal);
}

async function targetsOf(app: App, query: Query, requester: Requester, { email, handle }: Guess): Promise<Target[]> {
  const now = app.clock.now();
  const target = (row: store.CodeRow, counter: store.AttemptCounter): Target => {
    const budgets =
      counter === 'remote_attempts' ? remoteGuessBudgets(app, row.email) : guessBudgets(app, row.email, row.lane);
    return { row, counter, budgets: row.is_short ? budgets : [] };
  };
  if (handle !== undefined) {
    const rows = await store.openCodes(query, { handle_digest: app.secrets.digest(handle) }, now);
    return rows.map((row) => target(row, 'handle_attempts'));
  }
  if (email === undefined) {
    const rows = await store.openCodes(query, { ip: requester.place }, now);
    return rows.map((row) => target(row, 'attempts'));
  }
  const rows = await store.openCodes(query, { email: normalisedEmail(email) }, now);
  return rows
    .filter((row) => row.ip === requester.place || (isClient(requester) && row.key_id === requester.keyId))
    .map((row) => target(row, row.ip === requester.place ? 'attempts' : 'remote_attempts'));
}

/** Counting before comparing locks the counters, so that concurrent guesses cannot share an attempt. */
async function countGuess(app: App, query: Query, targets: readonly Target[]): Promise<Target[]> {
  const counted: Target[] = [];
  for (const target of targets) {
    if ((await tryTake(app, query, target.budgets)) !== true) continue;
    if (await store.countAttempt(query, target.row.id, target.counter, ATTEMPTS_MAX)) counted.push(target);
    else await giveBack(query, target.budgets);
  }
  return counted;
}

async function uncount(query: Query, { row, counter, budgets }: Target): Promise<void> {
  await store.uncountAttempt(query, row.id, counter);
  await giveBack(query, budgets);
}

/**
 * Only codes requested in the same place get specific errors; otherwise strangers could probe for codes of other users.
 */
async function refusalOf(
  app: App,
  query: Query,
  requester: Requester,
  { handle }: Guess,
  digest: string,
  counted: readonly Target[],
) {
  const handleDigest = handle === undefined ? undefined : app.secrets.digest(handle);
  const latest = (await store.codesWith(query, digest)).find((row) =>
    handleDigest === undefined ? row.ip === requester.place : row.handle_digest === handleDigest,
  );
  if (!latest) return 'EMAIL_EXCHANGE_INVALID_CODE';
  if (latest.date_redeemed !== null) return 'EMAIL_EXCHANGE_CODE_ALREADY_REDEEMED';
  if (latest.date_expires <= app.clock.now()) return 'EMAIL_EXCHANGE_CODE_EXPIRED';
  const isOfOtherKey = latest.key_id !== requester.keyId && counted.some(({ row }) => row.id === latest.id);
  return isOfOtherKey ? 'EMAIL_EXCHANGE_DIFFERENT_API_KEY' : 'EMAIL_EXCHANGE_INVALID_CODE';
}
