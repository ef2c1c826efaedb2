import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { PathId, page, pageOf } from '../../platform/http/objects.ts';
import { eventStream, noContent, ok, operation, Stream } from '../../platform/http/operation.ts';
import {
  changeSettings,
  notificationListing,
  notificationsOf,
  readAll,
  removeAll,
  removeNotification,
  setRead,
  settingsOf,
} from './inbox.ts';
import { watchNotifications } from './live.ts';
import { NotificationObject, NotificationSettingsObject, toNotification, toNotificationEvents } from './object.ts';

const NotificationPath = z.object({ notification_id: PathId });
const Settings = NotificationSettingsObject.meta({ id: 'NotificationSettings' });

export const getNotifications = operation({
  id: 'get-notifications',
  tag: 'Notifications',
  method: 'GET',
  path: '/me/notifications',
  says: 'Lists the notifications of the caller, the newest first. With `is_read=0` the total counts the unread ones.',
  access: user('read', 'personal'),
  list: notificationListing,
  returns: ok(pageOf(NotificationObject)),
  errors: [],
  handle: async (app, { caller, list, portal }) => {
    const { notifications, total } = await notificationsOf(app, caller, list);
    return page(
      notifications.map((each) => toNotification(app, each, portal)),
      total,
      list,
    );
  },
});

export const streamNotifications = operation({
  id: 'stream-notifications',
  tag: 'Notifications',
  method: 'GET',
  path: '/me/notifications/stream',
  says: 'Streams the notifications of the caller as Server-Sent Events, at most once a second. `notification` is a new one. `unread` tells which are unread, now and when it changes: how many (it counts up to 1,000), and the ids of the newest 100. With the id of the last received notification it continues after it, with up to 500; without it, it starts with the next one. One user can have 32 streams open on a process.',
  access: user('read', 'personal'),
  query: z.object({
    last_event_id: z.int().min(0).optional().meta({ description: 'For clients that cannot send Last-Event-ID.' }),
  }),
  headers: { 'last-event-id': { says: 'The id of the last received notification.' } },
  returns: eventStream,
  errors: [],
  handle: async (app, { caller, query, headers, portal }) => {
    const [named] = /^\d{1,15}$/.exec(headers['last-event-id'] ?? '') ?? [];
    const news = await watchNotifications(app, caller, named === undefined ? query.last_event_id : Number(named));
    return new Stream((signal) => toNotificationEvents(app, news(signal), portal));
  },
});

export const readNotifications = operation({
  id: 'read-notifications',
  tag: 'Notifications',
  method: 'POST',
  path: '/me/notifications',
  says: 'Marks all notifications of the caller as read.',
  access: user('write', 'personal'),
  returns: noContent,
  errors: [],
  handle: (app, { caller }) => readAll(app, caller),
});

export const deleteNotifications = operation({
  id: 'delete-notifications',
  tag: 'Notifications',
  method: 'DELETE',
  path: '/me/notifications',
  says: 'Removes all notifications of the caller.',
  access: user('write', 'personal'),
  returns: noContent,
  errors: [],
  handle: (app, { caller }) => removeAll(app, caller),
});

export const updateNotification = operation({
  id: 'update-notification',
  tag: 'Notifications',
  method: 'PUT',
  path: '/me/notifications/{notification_id}',
  says: 'Marks a notification as read or unread.',
  access: user('write', 'personal'),
  params: NotificationPath,
  body: z.object({ is_read: z.boolean() }),
  returns: ok(NotificationObject),
  errors: ['NOTIFICATION_NOT_FOUND'],
  handle: async (app, { caller, params, body, portal }) =>
    toNotification(app, await setRead(app, caller, params.notification_id, body.is_read), portal),
});

export const deleteNotification = operation({
  id: 'delete-notification',
  tag: 'Notifications',
  method: 'DELETE',
  path: '/me/notifications/{notification_id}',
  says: 'Removes a notification.',
  access: user('write', 'personal'),
  params: NotificationPath,
  returns: noContent,
  errors: ['NOTIFICATION_NOT_FOUND'],
  handle: (app, { caller, params }) => removeNotification(app, caller, params.notification_id),
});

export const getNotificationSettings = operation({
  id: 'get-notification-settings',
  tag: 'Notifications',
  method: 'GET',
  path: '/me/settings/notifications',
  says: 'Shows the mode of each kind of notification: not at all (`off`), on the site (`site`), there and by mail at once (`email`), or there and in one mail a day (`digest`).',
  access: user('read', 'personal'),
  returns: ok(Settings),
  errors: [],
  handle: (app, { caller }) => settingsOf(app, caller),
});

export const updateNotificationSettings = operation({
  id: 'update-notification-settings',
  tag: 'Notifications',
  method: 'PUT',
  path: '/me/settings/notifications',
  says: 'Sets the mode of each kind of notification. Kinds that are not sent keep their mode.',
  access: user('write', 'profile'),
  body: NotificationSettingsObject.partial(),
  returns: ok(Settings),
  errors: [],
  handle: (app, { caller, body }) => changeSettings(app, caller, body),
});

export const notificationOperations = [
  getNotifications,
  streamNotifications,
  readNotifications,
  deleteNotifications,
  updateNotification,
  deleteNotification,
  getNotificationSettings,
  updateNotificationSettings,
];
