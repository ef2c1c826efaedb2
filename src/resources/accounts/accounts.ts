import type { KeyCaller } from '../../access/caller.ts';
import { forgetTokens, type IssuedToken, issueToken, revokeTokens } from '../../access/credentials.ts';
import type { App } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { ApiError } from '../../errors/catalogue.ts';
import type { Language } from '../../localisation/languages.ts';
import { say } from '../../localisation/texts.ts';
import { refuseBanned } from '../users/bans.ts';
import { addUser, findUserByEmailIn, normalisedEmail, refuseSignIn, type UserRow } from '../users/users.ts';
import { mailed } from './mailed-codes.ts';
import * as store from './store.ts';

const CODE_LENGTH = 5;
const CODE_MINUTES = 15;
const ATTEMPTS_MAX = 5;
/** Mails to one address while a code lasts. */
const CODES_PER_ADDRESS = 6;
/** Used and outdated codes are told apart from wrong ones for a day. */
const REMEMBER_SECONDS = 86_400;

/** Mails a sign-in code. The answer is the same whether or not the address has an account. */
export const requestEmailCode = (app: App, caller: KeyCaller, email: string, ip: string, language: Language) =>
  sendCode(app, caller, { email, ip, language, mail: 'sign_in_mail' });

export interface WantedCode {
  readonly email: string;
  readonly ip: string;
  readonly language: Language;
  /** What the mail says the code is for. */
  readonly mail: 'sign_in_mail' | 'merge_mail';
}

/** Mails a code that shows who reads the mails of an address. */
export async function sendCode(app: App, caller: KeyCaller, { email, ip, language, mail }: WantedCode): Promise<void> {
  const address = normalisedEmail(email);
  const code = app.random.code(CODE_LENGTH);
  const now = app.clock.now();
  const isSent = await app.db.write(async ({ query }) => {
    // A flood from many places ends here. It is answered as ever, and the last code stays good.
    if ((await store.codesSince(query, address, now - CODE_MINUTES * 60)) >= CODES_PER_ADDRESS) return false;
    await store.closeCodes(query, address, now);
    await store.addCode(query, {
      digest: app.secrets.digest(code),
      email: address,
      key_id: caller.keyId,
      ip,
      date_added: now,
      date_expires: now + CODE_MINUTES * 60,
      date_redeemed: null,
      attempts: 0,
    });
    return true;
  });
  if (!isSent) return;
  const letter = {
    to: address,
    subject: say(`${mail}_subject`, language, { code }),
    text: say(`${mail}_text`, language, { code, minutes: CODE_MINUTES }),
  };
  await mailed(app.mail.send(letter));
}

export interface Exchange {
  readonly code: string;
  readonly ip: string;
  readonly dateExpires?: number | undefined;
}

/**
 * The service's own pages ask for codes as a key would that belongs to nobody. Such a code is good only where it was
 * asked for, which then is one browser and not an address.
 */
export const PAGES: KeyCaller = { kind: 'key', keyId: 0, gameId: undefined, userId: undefined };

/** The same for codes to merge accounts, which are good for the account that asked. */
export const MERGING: KeyCaller = { kind: 'key', keyId: -1, gameId: undefined, userId: undefined };

/** Redeems a code for a token. */
export const exchangeEmailCode = (app: App, caller: KeyCaller, exchange: Exchange): Promise<IssuedToken> =>
  redeemEmailCode(app, caller, exchange, (transaction, { id }) =>
    issueToken(app, transaction, { userId: id, gameId: caller.gameId, dateExpires: exchange.dateExpires }),
  );

/** Redeems a code for what `give` gives, and makes the account of someone who signs in for the first time. */
export async function redeemEmailCode<T>(
  app: App,
  caller: KeyCaller,
  exchange: Exchange,
  give: (transaction: Transaction, user: UserRow) => Promise<T>,
): Promise<T> {
  const outcome = await app.db.write(async (transaction) => {
    const found = await findCode(app, transaction, caller, exchange);
    if (found instanceof ApiError) return found;
    const known = await findUserByEmailIn(transaction, found.email);
    if (!known) await refuseBanned(app, transaction, `email ${found.email}`);
    const user = known ?? (await addUser(app, transaction, { email: found.email, username: newUsername(app) }));
    refuseSignIn(user);
    return give(transaction, user);
  });
  // A refusal is answered only now: thrown inside, it would undo the counted attempt.
  if (outcome instanceof ApiError) throw outcome;
  return outcome;
}

/** The code as it was sent, which is redeemed by this; or why there is none. */
export async function findCode(
  app: App,
  { query }: Transaction,
  caller: KeyCaller,
  { code, ip }: Exchange,
): Promise<store.CodeRow | ApiError> {
  const now = app.clock.now();
  const codes = await store.codesWith(query, app.secrets.digest(code.trim().toUpperCase()));
  const open = codes.find(
    (row) =>
      row.date_redeemed === null &&
      row.date_expires > now &&
      row.attempts < ATTEMPTS_MAX &&
      row.key_id === caller.keyId &&
      (row.key_id > PAGES.keyId || row.ip === ip),
  );
  if (open && (await store.redeem(query, open.id, now))) return open;
  await store.countAttempt(query, { keyId: caller.keyId, ip }, now);
  return new ApiError(refusalOf(codes, caller, now));
}

function refusalOf(codes: readonly store.CodeRow[], caller: KeyCaller, now: number) {
  const [latest] = codes;
  if (!latest || latest.attempts >= ATTEMPTS_MAX) return 'EMAIL_EXCHANGE_INVALID_CODE';
  if (latest.date_redeemed !== null) return 'EMAIL_EXCHANGE_CODE_ALREADY_REDEEMED';
  if (latest.date_expires <= now) return 'EMAIL_EXCHANGE_CODE_EXPIRED';
  return latest.key_id === caller.keyId ? 'EMAIL_EXCHANGE_INVALID_CODE' : 'EMAIL_EXCHANGE_DIFFERENT_API_KEY';
}

const newUsername = (app: App) => `player-${app.random.hex(8)}`;

export async function signOut(app: App, tokenId: number): Promise<void> {
  await app.db.write((transaction) => revokeTokens(app, transaction, { tokenId }));
}

/** Codes and tokens that nobody can use any more leave the database. */
export async function forgetOutdated(app: App): Promise<void> {
  const before = app.clock.now() - REMEMBER_SECONDS;
  await app.db.write(async ({ query }) => {
    await store.forgetCodes(query, before);
    await forgetTokens(query, before);
  });
}
