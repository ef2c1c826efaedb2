import { notExported, retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalOffers: PersonalData = {
  columns: [
    {
      table: 'marketplace_submissions',
      column: 'submitted_by',
      exported: ['mod_id', 'game_id', 'status', 'reason', 'date_added', 'date_decided'],
      whenDeleted: retained('the mod stays with its team, under an id that tells no name'),
      whenMerged: 'moved',
    },
    {
      table: 'marketplace_submissions',
      column: 'decided_by',
      exported: notExported('a decision over someone else; the audit log has it'),
      whenDeleted: retained('a decision of a team, under an id that tells no name'),
      whenMerged: 'moved',
    },
  ],
};
