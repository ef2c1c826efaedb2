import { notExported, retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

const CHAIN = retained('each row is part of the hash chain, and the id alone does not reveal a name');

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
      exported: notExported('users see the effects of decisions about them, but not who made them'),
      whenDeleted: CHAIN,
      whenMerged: CHAIN,
    },
  ],
};
