import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { fold } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

/** The limits; decision 32 has the reasons. */
const LINKS_MAX = 5;
const PER_MINUTE_MAX = 10;
const SAME_TEXT_MAX = 3;
const MINUTE = 60;
const HOUR = 3_600;
const LOOKED_AT_MAX = 200;

const LINK = /(?:https?:\/\/|www\.)\S/gi;

export function requireFewLinks(content: string): void {
  if ((content.match(LINK)?.length ?? 0) > LINKS_MAX) throw new ApiError('USER_CANT_DO_ACTION_SPAM_DETECTED');
}

/** Ignores white space and case. */
export const gist = (content: string) => fold(content).replace(/\s+/g, ' ').trim();

/** The user's comments that `requireNoFlood` compares a new one with. */
export const recentOf = async (app: App, transaction: Transaction, userId: number): Promise<store.Recent[]> =>
  store.recentOf(transaction, userId, app.clock.now() - HOUR, LOOKED_AT_MAX);

/** Refuses the same text again in the same place or too often in others, and too many comments in a minute. */
export function requireNoFlood(
  app: App,
  recent: readonly store.Recent[],
  subject: store.Subject,
  content: string,
): void {
  const now = app.clock.now();
  const same = recent.filter((other) => gist(other.content) === gist(content));
  const isHere = ({ resource, id }: store.Subject) => resource === subject.resource && id === subject.id;
  const isFlood = recent.filter(({ date_added }) => date_added > now - MINUTE).length >= PER_MINUTE_MAX;
  if (isFlood || same.some(isHere) || same.length >= SAME_TEXT_MAX)
    throw new ApiError('USER_CANT_DO_ACTION_SPAM_DETECTED');
}
