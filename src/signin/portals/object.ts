import { z } from 'zod';
import { Id, Timestamp } from '../../platform/http/objects.ts';
import { LINKED_PORTALS } from '../../platform/vocabulary/game-platforms.ts';
import type { AccountRow } from './accounts.ts';
import type { ShownSettings } from './settings.ts';

export const ConnectionObject = z
  .object({
    id: Id,
    portal: z.enum(LINKED_PORTALS),
    portal_user_id: z.string(),
    game_id: z.int().min(0).meta({ description: '0 if the portal’s id of the user is the same in all games' }),
    display_name: z.string(),
    avatar_url: z.string().nullable(),
    date_added: Timestamp,
    date_used: Timestamp,
    monetization_account: z
      .boolean()
      .meta({ description: 'Whether the studio has requested that the user can buy and sell.' }),
  })
  .meta({ id: 'Connection' });

export const toConnection = (row: AccountRow): z.input<typeof ConnectionObject> => ({
  id: row.id,
  portal: row.portal as z.input<typeof ConnectionObject>['portal'],
  portal_user_id: row.portal_id,
  game_id: row.game_id,
  display_name: row.display_name,
  avatar_url: row.avatar || null,
  date_added: row.date_added,
  date_used: row.date_used,
  monetization_account: row.monetization_account === 1,
});

export const GamePortalObject = z
  .object({
    portal: z.enum(LINKED_PORTALS),
    settings: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    secrets: z
      .array(z.string())
      .meta({ description: 'Names of the secrets that are set. Their values are never shown.' }),
    redirect_uri: z
      .string()
      .meta({ description: 'The redirect URI to register with the portal for sign-in on the web.' }),
    date_updated: Timestamp,
  })
  .meta({ id: 'GamePortal' });

export const toGamePortal = (shown: ShownSettings, redirectUri: string): z.input<typeof GamePortalObject> => ({
  portal: shown.portal as z.input<typeof GamePortalObject>['portal'],
  settings: Object.fromEntries(
    Object.entries(shown.fields).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  ),
  secrets: [...shown.secrets],
  redirect_uri: redirectUri,
  date_updated: shown.dateUpdated,
});
