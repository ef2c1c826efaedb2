import { notExported, retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalBans: PersonalData = {
  columns: [
    {
      table: 'address_bans',
      column: 'user_id',
      exported: notExported('addresses of other people, which only the site staff see'),
      whenDeleted: retained('a decision about the site'),
      whenMerged: 'moved',
    },
  ],
};
