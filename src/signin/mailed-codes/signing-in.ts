import { refuseBanned } from '../../people/users/bans.ts';
import { addUser, admitUser, findUserByEmailIn, playerName, type UserRow } from '../../people/users/users.ts';
import type { KeyCaller } from '../../platform/access/caller.ts';
import { type IssuedToken, issueToken } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import {
  clientRequester,
  findCode,
  type Guess,
  pageRequester,
  type Requester,
  SHORT_CODE_LENGTH,
  sendCode,
} from './codes.ts';
import { forgetOldPlaces, rememberPlaces } from './known-places.ts';
import * as store from './store.ts';

/** For a day, used and expired codes get other errors than wrong ones. */
const REMEMBER_SECONDS = 86_400;

export interface CodeRequest {
  readonly email: string;
  readonly ip: string;
  readonly language: Language;
  /** The handle of an earlier sign-in on the same device. */
  readonly handle?: string | undefined;
  readonly codeLength?: number | undefined;
}

/** Mails a sign-in code to a player and returns the handle of the request. */
export function requestEmailCode(app: App, { keyId }: KeyCaller, request: CodeRequest): Promise<string> {
  const { email, ip, language, handle, codeLength = SHORT_CODE_LENGTH } = request;
  const isShort = codeLength <= SHORT_CODE_LENGTH;
  return sendCode(app, clientRequester(keyId, ip, handle), { email, language, mail: 'sign_in_mail', isShort });
}

/** A browser on the sign-in page. */
export interface Visitor {
  /** The digest of the session cookie. */
  readonly visitDigest: string;
  /** The cookie that a browser keeps after a sign-in. */
  readonly browser: string;
  readonly ip: string;
}

const visitorAsker = ({ visitDigest, browser, ip }: Visitor): Requester => pageRequester(visitDigest, ip, browser);

/** Mails a code to a visitor of the sign-in page. */
export async function requestPageCode(app: App, visitor: Visitor, email: string, language: Language): Promise<void> {
  await sendCode(app, visitorAsker(visitor), { email, language, mail: 'sign_in_mail' });
}

export interface Exchange extends Guess {
  readonly ip: string;
  readonly dateExpires?: number | undefined;
  /** Of the account, if this is its first sign-in. */
  readonly language: Language;
}

export const exchangeEmailCode = (app: App, caller: KeyCaller, exchange: Exchange): Promise<IssuedToken> =>
  redeemCode(app, clientRequester(caller.keyId, exchange.ip, exchange.handle), exchange, (transaction, { id }) =>
    issueToken(app, transaction, { userId: id, gameId: caller.gameId, dateExpires: exchange.dateExpires }),
  );

/** Redeems a code in the browser that requested it, and returns the result of `give`. */
export const redeemPageCode = <T>(
  app: App,
  visitor: Visitor,
  guess: Pick<Exchange, 'code' | 'language'>,
  give: (transaction: Transaction, user: UserRow) => Promise<T>,
): Promise<T> => redeemCode(app, visitorAsker(visitor), guess, give);

/** Redeems a code, and creates the account on the first sign-in. */
async function redeemCode<T>(
  app: App,
  requester: Requester,
  guess: Guess & Pick<Exchange, 'language'>,
  give: (transaction: Transaction, user: UserRow) => Promise<T>,
): Promise<T> {
  const outcome = await app.db.write(async (transaction) => {
    const found = await findCode(app, transaction, requester, guess);
    if (found instanceof ApiError) return found;
    const known = await findUserByEmailIn(transaction, found.email);
    if (!known) await refuseBanned(app, transaction, `email ${found.email}`);
    const user = known ?? (await addUser(app, transaction, newUser(app, found.email, guess.language)));
    await admitUser(transaction, user.id);
    await rememberPlaces(app, transaction, user.id, requester.marks ?? {});
    return give(transaction, user);
  });
  // Throwing inside the transaction would roll back the counted attempt.
  if (outcome instanceof ApiError) throw outcome;
  return outcome;
}

const newUser = (app: App, email: string, language: Language) => ({ email, username: playerName(app), language });

/** Deletes expired codes, counters and known places. */
export async function forgetOutdatedCodes(app: App): Promise<void> {
  const now = app.clock.now();
  await app.db.write(async (transaction) => {
    const { query } = transaction;
    await store.forgetCodes(query, now - REMEMBER_SECONDS);
    await store.forgetCounters(query, now);
    await forgetOldPlaces(app, transaction);
  });
}
