import { notExported, retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

const EMPTY = retained('an account that has no name, address or picture any more, so that what stays has an author');

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
      exported: notExported('an account that the person gave up'),
      whenDeleted: EMPTY,
      whenMerged: EMPTY,
    },
    {
      table: 'remembered_bans',
      column: 'user_id',
      exported: notExported('there is nobody left to tell'),
      whenDeleted: retained('a ban outlives the account; the address cannot be told from its digest'),
      whenMerged: retained('a banned account is not merged'),
    },
  ],
};
