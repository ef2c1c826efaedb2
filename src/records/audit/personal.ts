import { notExported, retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

const CHAIN = retained('each row is signed with the one before it, and the id alone tells no name');

export const personalAudit: PersonalData = {
  columns: [
    {
      table: 'audit_log',
      column: 'user_id',
      exported: ['id', 'date_added', 'game_id', 'action', 'resource', 'resource_id', 'reason'],
      whenDeleted: CHAIN,
      whenMerged: CHAIN,
    },
    {
      table: 'audit_log',
      column: 'resource_id',
      where: "resource = 'users'",
      exported: notExported('what was decided over someone is told by its effects; who did it is not theirs to know'),
      whenDeleted: CHAIN,
      whenMerged: CHAIN,
    },
  ],
};
