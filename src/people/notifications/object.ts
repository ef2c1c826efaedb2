import { z } from 'zod';
import type { App } from '../../platform/app.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { Portal } from '../../platform/vocabulary/game-platforms.ts';
import { toUserObject, UserObject } from '../users/object.ts';
import type { StoredNotification } from './inbox.ts';
import type { NotificationNews } from './live.ts';
import { KINDS, modesOf, type NotificationKind, type NotificationMode } from './notifications.ts';

export const NotificationObject = z
  .object({
    id: Id,
    kind: z.enum(KINDS),
    user: UserObject.nullable().meta({ description: 'The acting user; null if a team decided.' }),
    resource: z.string().meta({
      description:
        'The resource of the subject: `mods`, `guides`, `games`, `collections`, `users`, `threads` or `comments`.',
    }),
    resource_id: Id,
    game_id: Integer.meta({ description: 'The game of the subject, or 0.' }),
    comment_id: Integer.meta({ description: 'The comment, or 0.' }),
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
  user: stored.id === null ? null : toUserObject(app, stored as Parameters<typeof toUserObject>[1], portal),
  resource: stored.resource,
  resource_id: stored.resource_id,
  game_id: stored.game_id,
  comment_id: stored.comment_id,
  date_added: stored.date_added,
  is_read: stored.is_read === 1,
});

/** A comment between events, which clients ignore: sending it checks that the caller still has access. */
const NOTHING_NEW = ':\n\n';

export async function* toNotificationEvents(
  app: App,
  news: AsyncIterable<NotificationNews>,
  portal: Portal | undefined,
): AsyncGenerator<string> {
  for await (const { added = [], unread } of news) {
    const events = added.map((stored) => {
      const data = JSON.stringify(toNotification(app, stored, portal));
      return `id: ${stored.notification_id}\nevent: notification\ndata: ${data}\n\n`;
    });
    if (unread) events.push(`event: unread\ndata: ${JSON.stringify(unread)}\n\n`);
    yield events.join('') || NOTHING_NEW;
  }
}

const modeOf = (kind: NotificationKind) => z.enum(modesOf(kind) as [NotificationMode, ...NotificationMode[]]);

export const NotificationSettingsObject = z.object(
  Object.fromEntries(KINDS.map((kind) => [kind, modeOf(kind)])) as Record<NotificationKind, ReturnType<typeof modeOf>>,
);
