import { notExported, retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalDecisions: PersonalData = {
  columns: [
    {
      table: 'moderation_decisions',
      column: 'user_id',
      exported: ['id', 'game_id', 'resource', 'resource_id', 'action', 'reason', 'date_added'],
      whenDeleted: retained('it is a decision on the content of others, who may appeal'),
      whenMerged: 'moved',
    },
    {
      table: 'moderation_days',
      column: 'user_id',
      exported: notExported('repeats the decisions'),
      whenDeleted: retained('repeats the decisions'),
      // The decisions have been moved before, and took their numbers along.
      whenMerged: 'dropped',
    },
    {
      table: 'moderation_claims',
      column: 'user_id',
      exported: ['game_id', 'resource', 'resource_id', 'date_expires'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
    },
    {
      table: 'moderation_snapshots',
      column: 'author_id',
      exported: ['decision_id', 'fields'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
    },
  ],
};
