import { z } from 'zod';
import type { App } from '../../context.ts';
import { Id, Integer, Timestamp } from '../../http/objects.ts';
import type { Portal } from '../../platforms.ts';
import { toUserObject, UserObject } from '../users/object.ts';
import { KINDS, type NotificationKind, type StoredNotification } from './notifications.ts';

export const NotificationObject = z
  .object({
    id: Id,
    kind: z.enum(KINDS),
    user: UserObject.meta({ description: 'Who did it.' }),
    resource: z.string().meta({ description: 'What it is about: `mods`, `guides`, `games`, `users` or `threads`.' }),
    resource_id: Id,
    game_id: Integer.meta({ description: 'The game, and 0 for what belongs to none.' }),
    comment_id: Integer.meta({ description: 'The comment, and 0 for what is about none.' }),
    date_added: Timestamp,
    is_read: z.boolean(),
  })
  .meta({ id: 'Notification' });

export const toNotification = (
  app: App,
  stored: StoredNotification,
  portal: Portal | undefined,
): z.input<typeof NotificationObject> => ({
  id: stored.notification_id,
  kind: stored.kind as NotificationKind,
  user: toUserObject(app, stored, portal),
  resource: stored.resource,
  resource_id: stored.resource_id,
  game_id: stored.game_id,
  comment_id: stored.comment_id,
  date_added: stored.date_added,
  is_read: stored.is_read === 1,
});

export const NotificationSettingsObject = z.object(
  Object.fromEntries(KINDS.map((kind) => [kind, z.boolean()])) as Record<NotificationKind, z.ZodBoolean>,
);
