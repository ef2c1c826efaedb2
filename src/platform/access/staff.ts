import type { Caller } from './caller.ts';

/** Levels of site staff. Each level includes the rights of the levels below it. */
export const STAFF_LEVELS = {
  /** Acts as a team moderator in every game, and sees the moderation queues of all games. */
  moderator: 1,
  /** Manages users, games, the site, and staff of lower levels. */
  administrator: 4,
  /** Manages all staff. */
  owner: 8,
} as const;

export type StaffLevelName = keyof typeof STAFF_LEVELS;

/** The caller's level; 0 for callers who are not staff. */
export const staffLevel = (caller: Caller): number =>
  caller.kind === 'user' ? (caller.staff ?? (caller.admin ? STAFF_LEVELS.administrator : 0)) : 0;

export const isSiteStaff = (caller: Caller): boolean => staffLevel(caller) > 0;

/** Staff manage only lower levels. Owners are the exception: they may manage each other. */
export const outranks = (own: number, other: number): boolean => own >= STAFF_LEVELS.owner || own > other;
