/** What a studio can be told of. A noun that tells of something else adds it here. */
export const STUDIO_EVENTS = [
  'MODFILE_CHANGED',
  'MOD_AVAILABLE',
  'MOD_UNAVAILABLE',
  'MOD_EDITED',
  'MOD_DELETED',
  'MOD_TEAM_CHANGED',
  'MOD_COMMENT_ADDED',
  'MOD_COMMENT_DELETED',
  'GUIDE_COMMENT_ADDED',
  'GUIDE_COMMENT_DELETED',
  'USER_TEAM_JOIN',
  'USER_TEAM_LEAVE',
  'USER_SUBSCRIBE',
  'USER_UNSUBSCRIBE',
  'USER_RESTRICTED',
  'USER_RESTRICTION_LIFTED',
  'RULE_MATCHED',
] as const;
export type StudioEventKind = (typeof STUDIO_EVENTS)[number];
