import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { RunningJob } from '../../platform/jobs/worker.ts';
import { type Language, languageOf } from '../../platform/localisation/languages.ts';
import { localise, type TextName } from '../../platform/localisation/texts.ts';
import { MailError, type MailMessage } from '../../platform/mail/mail.ts';
import { escapeHtml } from '../../platform/text/markup.ts';
import { sendMailing } from '../mailings/mailings.ts';
import { lookOf } from '../site/site.ts';
import { enqueueNextSubscribers, type NotificationKind, type Update, usualMode, wakeMail } from './notifications.ts';
import * as store from './store.ts';

/** Beyond this number the rest waits for the next daily mail. */
const LETTERS_PER_HOUR = 20;
const HOUR = 3_600;
const LINES_MAX = 50;
const PEOPLE_AT_ONCE = 500;

/** Enqueues a mail for every user with a notification due. */
export async function mailDue(app: App, job: Pick<RunningJob, 'heartbeat'>): Promise<void> {
  const now = app.clock.now();
  const some = (after: number) => store.awaitingMail(app.db, now, after, PEOPLE_AT_ONCE);
  for (let people = await some(0); people.length > 0; people = await some(people.at(-1)!)) {
    await app.db.write(async (transaction) => {
      for (const userId of people) await wakeMail(app, transaction, userId);
    });
    await job.heartbeat();
  }
}

/**
 * Mails a user what is due. The content of a letter is stored before it is sent, so that a retry after a crash sends the
 * same letter with the same message id.
 */
export async function mailPerson(app: App, userId: number): Promise<void> {
  for (const letter of await store.unsentLetters(app.db, userId)) await send(app, letter);
  const letter = await app.db.write((transaction) => gather(app, transaction, userId));
  if (letter) await send(app, letter);
}

async function gather(app: App, transaction: Transaction, userId: number): Promise<store.LetterRow | undefined> {
  const now = app.clock.now();
  if (!(await store.isAnyDue(transaction, userId, now))) return undefined;
  if ((await store.lettersSince(transaction, userId, now - HOUR)) < LETTERS_PER_HOUR)
    return store.addLetter(transaction, userId, now);
  await store.postponeToDigest(transaction, userId, now);
  return undefined;
}

async function send(app: App, letter: store.LetterRow): Promise<void> {
  const to = await store.addressee(app.db, letter.user_id);
  const lines = to ? await store.linesOf(app.db, letter.id) : [];
  if (to && lines.length > 0) await post(app, letter, to, lines);
  await app.db.write(async (transaction) => void (await store.setSent(transaction, letter.id, app.clock.now())));
}

async function post(app: App, letter: store.LetterRow, to: store.Addressee, lines: readonly store.LineRow[]) {
  const language = languageOf(to.language) ?? 'en';
  const id = `${app.environment}-notifications-${letter.id}-${letter.date_added}`;
  try {
    await sendMailing(app, { id, to: to.email, ...written(app, await nameOf(app), lines, language) }, language);
  } catch (cause) {
    if (!(cause instanceof MailError && cause.permanent)) throw cause;
    app.log.warn('a mail with notifications was refused for good', { letter: letter.id, error: cause });
  }
}

/** The name of the site; its address if the operator has not named it. */
async function nameOf({ db, addresses }: App): Promise<string> {
  const { name, isNamed } = await lookOf(db);
  return isNamed ? name : new URL(addresses.site).host;
}

function written(
  app: App,
  site: string,
  lines: readonly store.LineRow[],
  language: Language,
): Pick<MailMessage, 'subject' | 'text' | 'html'> {
  const items = lines.slice(0, LINES_MAX).map((line) => ({ says: said(line, language), link: linkOf(app, line) }));
  const lead = localise('notification_mail_lead', language, { site });
  const more =
    lines.length > LINES_MAX ? [localise('notification_mail_more', language, { count: lines.length - LINES_MAX })] : [];
  const listed = items.map(({ says, link }) => `<li><a href="${escapeHtml(link)}">${escapeHtml(says)}</a></li>`);
  return {
    subject: localise('notification_mail_subject', language, { site, count: lines.length }),
    text: [lead, ...items.map(({ says, link }) => `- ${says}\n  ${link}`), ...more].join('\n\n'),
    html: [
      `<p>${escapeHtml(lead)}</p>`,
      `<ul>${listed.join('\n')}</ul>`,
      ...more.map((text) => `<p>${escapeHtml(text)}</p>`),
    ].join('\n'),
  };
}

/** Keeps control characters in names from breaking the layout of the mail. */
const oneLine = (text: string | null): string => (text ?? '').replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 100);

const said = ({ kind, username, name }: store.LineRow, language: Language): string =>
  localise(`notification_${kind as NotificationKind}` satisfies TextName, language, {
    user: oneLine(username),
    thing: oneLine(name),
  });

function linkOf({ addresses }: App, { resource, name_id, game_name_id, user_name_id }: store.LineRow): string {
  if (resource === 'users' && user_name_id) return addresses.user(user_name_id);
  if (!name_id) return addresses.site;
  if (resource === 'games') return addresses.game(name_id);
  if (!game_name_id) return addresses.site;
  if (resource === 'mods') return addresses.mod(game_name_id, name_id);
  return resource === 'guides' ? addresses.guide(game_name_id, name_id) : addresses.collection(game_name_id, name_id);
}

const SUBSCRIBERS_AT_ONCE = 1_000;

/** Notifies one batch of subscribers and enqueues the next, so that other writers run in between. */
export const notifySomeSubscribers = (app: App, update: Update): Promise<void> =>
  app.db.write(async (transaction) => {
    const { modId, gameId, actorId, date, after } = update;
    const about = { resource: 'mods', resource_id: modId, game_id: gameId, comment_id: 0 };
    const row = { kind: 'mod_updated' as const, actor_id: actorId, ...about, date_added: date };
    const bounds = { after, most: SUBSCRIBERS_AT_ONCE };
    const last = await store.addForSubscribers(transaction, row, usualMode(row.kind), bounds);
    if (last > 0) await enqueueNextSubscribers(app, transaction, { ...update, after: last });
  });
