import { z } from 'zod';
import { Id, Timestamp } from '../../platform/http/objects.ts';
import { MOD_EVENTS, type ModEventType, USER_EVENTS, type UserEventType } from '../../records/webhooks/kinds.ts';
import type { ModEventRow, UserEventRow } from './events.ts';

export const ModEventObject = z
  .object({ id: Id, mod_id: Id, user_id: Id, date_added: Timestamp, event_type: z.enum(MOD_EVENTS) })
  .meta({ id: 'ModEvent' });

export const UserEventObject = z
  .object({ id: Id, game_id: Id, mod_id: Id, user_id: Id, date_added: Timestamp, event_type: z.enum(USER_EVENTS) })
  .meta({ id: 'UserEvent' });

export function toModEvent(event: ModEventRow): z.input<typeof ModEventObject> {
  const { id, mod_id, user_id, date_added } = event;
  return { id, mod_id, user_id, date_added, event_type: event.event_type as ModEventType };
}

export function toUserEvent(event: UserEventRow): z.input<typeof UserEventObject> {
  const { id, game_id, mod_id, user_id, date_added } = event;
  return { id, game_id, mod_id, user_id, date_added, event_type: event.event_type as UserEventType };
}
