import { ADMINISTRATOR } from '../../catalogue/teams/teams.ts';
import { accessChanged } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Bulk } from '../../platform/database/bulk.ts';
import { eventsScope, RETENTION_SECONDS } from '../../records/events/events.ts';
import * as store from './store.ts';

export interface OwnedMod {
  readonly gameId: number;
  readonly modId: number;
  readonly userId: number;
  readonly dateAdded: number;
  readonly isPublic: boolean;
}

/** Makes the owners of new mods administrators of their teams. */
export async function addOwners(bulk: Bulk, mods: readonly OwnedMod[]): Promise<void> {
  const members = mods.map(({ modId, userId, dateAdded }) => ({
    resource: 'mods',
    resource_id: modId,
    user_id: userId,
    level: ADMINISTRATOR,
    position: 'Owner',
    date_added: dateAdded,
  }));
  await store.addTeamMembers(bulk, members);
  accessChanged(bulk.transaction);
}

/** Records the events of new mods. Those that would have expired by now are omitted. */
export async function recordNewMods(app: App, bulk: Bulk, mods: readonly OwnedMod[]): Promise<void> {
  const recent = mods.filter(({ dateAdded }) => dateAdded >= app.clock.now() - RETENTION_SECONDS);
  const namesOf = ({ gameId, modId, userId, dateAdded }: OwnedMod) => ({
    game_id: gameId,
    mod_id: modId,
    user_id: userId,
    date_added: dateAdded,
  });
  const available = recent.filter(({ isPublic }) => isPublic);
  await store.addModEvents(
    bulk,
    available.map((mod) => ({ ...namesOf(mod), event_type: 'MOD_AVAILABLE', shown: 1, newest: 1, newest_shown: 1 })),
  );
  await store.addUserEvents(
    bulk,
    recent.map((mod) => ({ ...namesOf(mod), event_type: 'USER_TEAM_JOIN' })),
  );
  for (const gameId of new Set(available.map((mod) => mod.gameId))) bulk.transaction.changed(eventsScope(gameId));
}
