import type { Database } from '../../platform/database/database.ts';
import { plainText } from '../../platform/text/markup.ts';
import * as store from './store.ts';

const MENTIONS_MAX = 10;
const MENTION = /(?<![\p{L}\p{N}_@./-])@([\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*)/gu;

/** The `name_id`s after an @ in the visible text, at most ten. */
export function namesIn(markup: string): string[] {
  const names = new Set<string>();
  for (const [, name] of plainText(markup).matchAll(MENTION)) {
    names.add(name!.toLowerCase());
    if (names.size >= MENTIONS_MAX) break;
  }
  return [...names];
}

/** The users that a comment mentions. Empty once it was deleted. */
export const mentionedIn = (reader: Pick<Database, 'all'>, commentId: number): Promise<number[]> =>
  store.mentioned(reader, commentId);
