import { notExported, retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

/** A leader of a mod that is not deleted can neither delete nor merge their account. */
export const personalMods: PersonalData = {
  columns: [
    {
      table: 'mods',
      column: 'submitted_by',
      exported: [
        'id',
        'game_id',
        'name',
        'name_id',
        'status',
        'visible',
        'date_added',
        'homepage_url',
        'summary',
        'description',
      ],
      whenDeleted: retained('a deleted mod'),
      whenMerged: 'moved',
    },
    {
      table: 'mod_cards',
      column: 'submitted_by',
      exported: notExported('repeats the mod'),
      whenDeleted: retained('repeats the mod'),
      whenMerged: 'moved',
    },
  ],
};
