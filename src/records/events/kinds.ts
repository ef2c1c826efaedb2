/** What happens to mods, as lists of events and studios name it. */
export const MOD_EVENTS = [
  'MODFILE_CHANGED',
  'MOD_AVAILABLE',
  'MOD_UNAVAILABLE',
  'MOD_EDITED',
  'MOD_DELETED',
  'MOD_TEAM_CHANGED',
  'MOD_COMMENT_ADDED',
  'MOD_COMMENT_DELETED',
] as const;
export type ModEventType = (typeof MOD_EVENTS)[number];

/** What people do. */
export const USER_EVENTS = ['USER_TEAM_JOIN', 'USER_TEAM_LEAVE', 'USER_SUBSCRIBE', 'USER_UNSUBSCRIBE'] as const;
export type UserEventType = (typeof USER_EVENTS)[number];
