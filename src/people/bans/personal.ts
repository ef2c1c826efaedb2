import { notExported, retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalBans: PersonalData = {
  columns: [
    {
      table: 'address_bans',
      column: 'user_id',
      exported: notExported('addresses of others, which the staff alone sees'),
      whenDeleted: retained('a decision over the site'),
      whenMerged: 'moved',
    },
  ],
};
