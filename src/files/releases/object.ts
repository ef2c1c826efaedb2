import { z } from 'zod';
import { Id, Timestamp } from '../../platform/http/objects.ts';
import type { ReleaseRow } from './releases.ts';

export const ReleaseObject = z
  .object({
    id: Id,
    game_id: Id,
    mod_id: Id,
    modfile_id: Id,
    released_by: Id,
    confirmed_by: Id,
    date_added: Timestamp,
    date_expires: Timestamp,
  })
  .meta({ id: 'Release' });

export const toRelease = (row: ReleaseRow): z.input<typeof ReleaseObject> => ({
  id: row.id,
  game_id: row.game_id,
  mod_id: row.mod_id,
  modfile_id: row.modfile_id,
  released_by: row.actor_id,
  confirmed_by: row.user_id,
  date_added: row.date_added,
  date_expires: row.date_expires,
});

export const ReleaseGuardObject = z.object({ wanted: z.boolean() }).meta({ id: 'ReleaseConfirmation' });
