import { notExported, retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

const DECISION = retained('a decision of staff or of a team, under an id that tells no name');

export const personalPartners: PersonalData = {
  columns: [
    {
      table: 'seller_accounts',
      column: 'user_id',
      once: [],
      exported: ['status', 'reason', 'date_added', 'date_decided'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
    },
    {
      table: 'seller_accounts',
      column: 'decided_by',
      exported: notExported('a decision over someone else; the audit log has it'),
      whenDeleted: DECISION,
      whenMerged: 'moved',
    },
    {
      table: 'partners',
      column: 'user_id',
      once: ['game_id'],
      exported: ['game_id', 'status', 'reason', 'date_added', 'date_decided'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
    },
    {
      table: 'partners',
      column: 'decided_by',
      exported: notExported('a decision over someone else; the audit log has it'),
      whenDeleted: DECISION,
      whenMerged: 'moved',
    },
  ],
};
