import { MOD_EVENTS, USER_EVENTS } from '../events/kinds.ts';

/** What a studio can be told of: all events of mods and people, and what has no list of its own. */
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
