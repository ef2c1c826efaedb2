import { kept, untold } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

/** Whoever leads a mod that is not deleted neither deletes their account nor gives it up. */
export const personalMods: PersonalData = {
  columns: [
    {
      table: 'mods',
      column: 'submitted_by',
      told: [
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
      whenDeleted: kept('a deleted mod'),
      whenMerged: 'moved',
    },
    {
      table: 'mod_cards',
      column: 'submitted_by',
      told: untold('repeats the mod'),
      whenDeleted: kept('repeats the mod'),
      whenMerged: 'moved',
    },
  ],
};
