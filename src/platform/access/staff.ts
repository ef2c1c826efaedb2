import type { Caller } from './caller.ts';

/** Levels of those who run the site. Each may what those below may. */
export const STAFF_LEVELS = {
  /** Acts in every game as a moderator of its team would, and sees the queues of all. */
  moderator: 1,
  /** Decides over people, games and the site, and over staff below. */
  administrator: 4,
  /** Decides over all staff. */
  owner: 8,
} as const;

export type StaffLevelName = keyof typeof STAFF_LEVELS;

/** The caller's level; 0 for everyone else. */
export const staffLevel = (caller: Caller): number =>
  caller.kind === 'user' ? (caller.staff ?? (caller.admin ? STAFF_LEVELS.administrator : 0)) : 0;

export const isSiteStaff = (caller: Caller): boolean => staffLevel(caller) > 0;

/** Only who stands above someone decides over them; owners are equals who keep an eye on each other. */
export const outranks = (own: number, other: number): boolean => own >= STAFF_LEVELS.owner || own > other;
