import type { PostingFilter } from '../money/ledger/statements.ts';
import { idOf, misuse } from './invocation/command.ts';

/** The options by which `ledger statement` and `ledger export` select postings. */
export const PERIOD = {
  game: { type: 'string', value: 'GAME_ID', says: 'postings of one game' },
  user: { type: 'string', value: 'USER_ID', says: 'accounts of one user' },
  from: { type: 'string', value: 'UNIX', says: 'from this second on' },
  until: { type: 'string', value: 'UNIX', says: 'before this second' },
} as const;

type Values = { readonly [K in keyof typeof PERIOD]: string | undefined };

export function filterOf({ game, user, from, until }: Values): PostingFilter {
  return {
    gameId: game === undefined ? undefined : idOf(game, '--game'),
    userId: user === undefined ? undefined : idOf(user, '--user'),
    from: secondOf('--from', from),
    until: secondOf('--until', until),
  };
}

function secondOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,12}$/.test(text)) throw misuse(`${name} must be Unix seconds, not "${text}".`);
  return Number(text);
}
