/** The events of a mod, as event lists and webhooks name them. */
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

/** The events of a user. */
export const USER_EVENTS = ['USER_TEAM_JOIN', 'USER_TEAM_LEAVE', 'USER_SUBSCRIBE', 'USER_UNSUBSCRIBE'] as const;
export type UserEventType = (typeof USER_EVENTS)[number];

/** All that a studio can receive: the events of mods and users, and those that no event list shows. */
export const STUDIO_EVENTS = [
  ...MOD_EVENTS,
  'COOK_QUEUED',
  'COOK_SUCCEEDED',
  'COOK_FAILED',
  'COOK_BUILD_WITHDRAWN',
  'GUIDE_COMMENT_ADDED',
  'GUIDE_COMMENT_DELETED',
  'COLLECTION_COMMENT_ADDED',
  'COLLECTION_COMMENT_DELETED',
  ...USER_EVENTS,
  'USER_RESTRICTED',
  'USER_RESTRICTION_LIFTED',
  'RULE_MATCHED',
] as const;
export type StudioEventKind = (typeof STUDIO_EVENTS)[number];
