import { notExported, retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

const EMPTY = retained('an account without name, address and avatar, so that its remaining content has an author');

export const personalProfiles: PersonalData = {
  columns: [
    {
      table: 'users',
      column: 'id',
      exported: [
        'id',
        'status',
        'name_id',
        'username',
        'email',
        'admin',
        'date_joined',
        'date_online',
        'avatar',
        'timezone',
        'language',
        'country',
        'privacy_options',
        'monetization_status',
        'birth_date',
        'mature_content',
        'date_closed',
        'portal_names',
      ],
      whenDeleted: EMPTY,
      whenMerged: EMPTY,
    },
    {
      table: 'users',
      column: 'merged_into',
      exported: notExported('an account that its user has given up'),
      whenDeleted: EMPTY,
      whenMerged: EMPTY,
    },
    {
      table: 'remembered_bans',
      column: 'user_id',
      exported: notExported('nobody is left to export it to'),
      whenDeleted: retained('a ban outlasts the account; the address cannot be derived from its digest'),
      whenMerged: retained('a banned account is not merged'),
    },
  ],
};
