import { type Selectable, sql } from 'kysely';
import type { Query, Tables } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { isMutedBy } from '../../platform/database/muted.ts';

// Reads the tables that `records/events` writes, together with mods, teams and subscriptions.

export type ModEventRow = Pick<
  Selectable<Tables['mod_events']>,
  'id' | 'game_id' | 'mod_id' | 'user_id' | 'event_type' | 'date_added'
>;
export type UserEventRow = Selectable<Tables['user_events']>;

/** Which events a list contains, and which of them its caller may see. */
export interface EventScope {
  readonly gameId: number;
  readonly modId: number | undefined;
  /** Includes events that are not public. */
  readonly everything: boolean;
  /** Includes them for the mods whose team this user belongs to. */
  readonly memberId: number | undefined;
  /** Only the newest of each mod and type. */
  readonly latest: boolean;
  /** Only events of mods that this user subscribes to. */
  readonly subscriberId?: number | undefined;
  /** Without events of mods whose authors this user has muted. */
  readonly muterId?: number | undefined;
}

function within(query: Query, scope: EventScope) {
  const { gameId, modId, everything, memberId, latest, subscriberId, muterId } = scope;
  let events = query.selectFrom('mod_events as e').where('e.game_id', '=', gameId);
  if (subscriberId !== undefined)
    events = events.where(
      sql<boolean>`e.mod_id in (select s.mod_id from subscriptions s where s.user_id = ${subscriberId})`,
    );
  if (muterId !== undefined)
    events = events.where(sql<boolean>`not exists (select 1 from mods m where m.id = e.mod_id
      and ${isMutedBy(muterId, 'm.submitted_by')})`);
  if (modId !== undefined) events = events.where('e.mod_id', '=', modId);
  if (everything) return latest ? events.where('e.newest', '=', 1) : events;
  const shown = latest ? 'e.newest_shown' : 'e.shown';
  if (memberId === undefined) return events.where(shown, '=', 1);
  const isOwn = sql<boolean>`e.mod_id in (select t.resource_id from team_members t
    where t.resource = 'mods' and t.user_id = ${memberId})`;
  return events.where((eb) =>
    eb.or([eb.and([isOwn, eb('e.newest', '>=', Number(latest))]), eb.and([eb.not(isOwn), eb(shown, '=', 1)])]),
  );
}

const COLUMNS = ['e.id', 'e.game_id', 'e.mod_id', 'e.user_id', 'e.event_type', 'e.date_added'] as const;

export async function listModEvents(query: Query, scope: EventScope, listing: Listing, request: ListRequest) {
  const wanted = () => narrowed(within(query, scope), listing, request);
  const { total } = await wanted().select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const events: ModEventRow[] = await paged(wanted().select(COLUMNS), listing, request).execute();
  return { events, total: Number(total) };
}

export async function listUserEvents(query: Query, userId: number, listing: Listing, request: ListRequest) {
  const wanted = () => narrowed(query.selectFrom('user_events as e').where('e.user_id', '=', userId), listing, request);
  const { total } = await wanted().select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const events: UserEventRow[] = await paged(wanted().select(COLUMNS), listing, request).execute();
  return { events, total: Number(total) };
}
