import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import type { MailMessage } from '../../platform/mail/mail.ts';
import { normalisedEmail, requireUser } from '../users/users.ts';
import * as store from './store.ts';

const PURPOSE = 'mailings/opt-out';
/** How long the unsubscribe link of a mail stays valid. */
const LINK_SECONDS = 365 * 86_400;
const SHAPE = /^([A-Za-z0-9_-]{43}\.(\d{1,15}))\.([A-Za-z0-9_-]{43})$/;

/** The text as HTML with the address as a link. */
const linked = (text: string, link: string) => text.replace(link, `<a href="${link}">${link}</a>`);

const digestOf = (app: App, email: string): string => app.secrets.digest(`address ${normalisedEmail(email)}`);

/** Sends an unsolicited mail with an unsubscribe link, except to addresses that opted out. */
export async function sendMailing(app: App, message: MailMessage, language: Language): Promise<void> {
  const digest = digestOf(app, message.to);
  if (await store.hasOptedOut(app.db.query, digest)) return;
  const text = `${digest}.${app.clock.now() + LINK_SECONDS}`;
  const hash = `${text}.${app.secrets.sign(PURPOSE, text)}`;
  const link = `${app.addresses.site}/unsubscribe?hash=${hash}`;
  const footer = localise('mail_opt_out', language, { link });
  await app.mail.send({
    ...message,
    text: `${message.text}\n\n${footer}`,
    ...(message.html !== undefined && { html: `${message.html}\n<p>${linked(footer, link)}</p>` }),
    // The page asks a visitor to confirm and accepts the one-click POST of mail programs, so one address serves both.
    optOut: link,
  });
}

/** The digest of the address that the link belongs to. */
export async function requireOptOut(app: App, userId: number | undefined, hash: string): Promise<string> {
  const [, text, expires, signature] = SHAPE.exec(hash) ?? [];
  if (!text || !app.secrets.verify(PURPOSE, text, signature!)) throw new ApiError('USER_EMAIL_OPT_OUT_INVALID_HASH');
  if (Number(expires) <= app.clock.now()) throw new ApiError('USER_EMAIL_OPT_OUT_EXPIRED_HASH');
  const digest = text.split('.')[0]!;
  const email = userId === undefined ? undefined : (await requireUser(app, userId)).email;
  if (email && digestOf(app, email) !== digest) throw new ApiError('USER_EMAIL_OPT_OUT_DIFFERENT_USER');
  return digest;
}

export async function optOut(app: App, userId: number | undefined, hash: string): Promise<void> {
  const address_digest = await requireOptOut(app, userId, hash);
  await app.db.write(({ query }) => store.put(query, { address_digest, date_added: app.clock.now() }));
}

export const callerId = (caller: Caller): number | undefined => (caller.kind === 'user' ? caller.userId : undefined);

/** An account without an address gets no mails. */
export async function wantsMailings(app: App, { userId }: UserCaller): Promise<boolean> {
  const { email } = await requireUser(app, userId);
  return email !== null && !(await store.hasOptedOut(app.db.query, digestOf(app, email)));
}

/** The setting in the account, which needs no link. */
export async function setMailings(app: App, { userId }: UserCaller, isWanted: boolean): Promise<void> {
  const { email } = await requireUser(app, userId);
  if (email === null)
    throw new ApiError('USER_UNVERIFIED_ACCOUNTS', { fields: [{ field: 'email', rule: 'email_unconfirmed' }] });
  const address_digest = digestOf(app, email);
  await app.db.write(async ({ query }) => {
    if (isWanted) await store.remove(query, address_digest);
    else await store.put(query, { address_digest, date_added: app.clock.now() });
  });
}
