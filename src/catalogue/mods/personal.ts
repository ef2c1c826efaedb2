import { notExported, retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

/** Whoever leads a mod that is not deleted neither deletes their account nor gives it up. */
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
