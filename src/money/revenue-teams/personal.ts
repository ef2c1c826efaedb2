import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalRevenueTeams: PersonalData = {
  columns: [
    {
      table: 'revenue_teams',
      column: 'changed_by',
      exported: ['id', 'mod_id', 'game_id', 'date_added'],
      whenDeleted: retained('a decision that explains past earnings'),
      whenMerged: 'moved',
    },
    {
      table: 'revenue_shares',
      column: 'user_id',
      exported: ['revenue_team_id', 'split'],
      whenDeleted: retained('it explains past earnings, and the id alone tells no name'),
      whenMerged: 'moved',
    },
  ],
};
