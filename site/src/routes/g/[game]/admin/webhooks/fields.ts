import type { Field } from '#components/dashboard/fields.ts';

export const EVENTS = [
  'MOD_AVAILABLE',
  'MOD_UNAVAILABLE',
  'MOD_EDITED',
  'MOD_DELETED',
  'MOD_TEAM_CHANGED',
  'MODFILE_CHANGED',
  'MOD_COMMENT_ADDED',
  'MOD_COMMENT_DELETED',
  'GUIDE_COMMENT_ADDED',
  'GUIDE_COMMENT_DELETED',
  'COLLECTION_COMMENT_ADDED',
  'COLLECTION_COMMENT_DELETED',
  'COOK_QUEUED',
  'COOK_SUCCEEDED',
  'COOK_FAILED',
  'COOK_BUILD_WITHDRAWN',
  'USER_TEAM_JOIN',
  'USER_TEAM_LEAVE',
  'USER_SUBSCRIBE',
  'USER_UNSUBSCRIBE',
  'USER_RESTRICTED',
  'USER_RESTRICTION_LIFTED',
  'RULE_MATCHED',
] as const;

export const WEBHOOK: readonly Field[] = [
  { name: 'name', kind: 'text', required: true, says: 'webhook_name' },
  { name: 'url', kind: 'url', required: true, says: 'webhook_url' },
  { name: 'events', kind: 'many', options: EVENTS },
  { name: 'is_active', kind: 'yes' },
];

export const ROTATION: readonly Field[] = [
  { name: 'webhook_id', kind: 'id' },
  { name: 'overlap', kind: 'number' },
];
