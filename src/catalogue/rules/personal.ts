import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalRules: PersonalData = {
  columns: [
    {
      table: 'rule_decisions',
      column: 'user_id',
      exported: ['id', 'game_id', 'operation', 'verdict', 'facts', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
    },
    {
      table: 'game_rule_versions',
      column: 'edited_by',
      exported: ['rule_id', 'version', 'game_id', 'name', 'message', 'date_added'],
      whenDeleted: retained('a rule of the game'),
      whenMerged: 'moved',
    },
  ],
};
