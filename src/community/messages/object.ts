import { z } from 'zod';
import { toUserObject, UserObject } from '../../people/users/object.ts';
import type { App } from '../../platform/app.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { Portal } from '../../platform/vocabulary/game-platforms.ts';
import { INVITED, type StoredMessage, type ThreadOfMember } from './messages.ts';

export const MessageThreadObject = z
  .object({
    id: Id,
    subject: z.string(),
    started_by: Id.meta({ description: 'The user who started it.' }),
    invited_by: Integer.meta({
      description: 'The user who invited the caller; 0 if the caller was in it from the start.',
    }),
    date_added: Timestamp,
    date_updated: Timestamp.meta({ description: 'When the last message was added, in Unix seconds.' }),
    unread: Integer.meta({ description: 'The number of messages since the caller last read.' }),
    members: z.array(z.object({ user: UserObject, invited: z.boolean() })),
  })
  .meta({ id: 'MessageThread' });

export const toThread = (
  app: App,
  thread: ThreadOfMember,
  portal: Portal | undefined,
): z.input<typeof MessageThreadObject> => ({
  id: thread.id,
  subject: thread.subject,
  started_by: thread.started_by,
  invited_by: thread.invited_by,
  date_added: thread.date_added,
  date_updated: thread.date_updated,
  unread: thread.unread,
  members: thread.members.map((member) => ({
    user: toUserObject(app, member, portal),
    invited: member.status === INVITED,
  })),
});

export const PrivateMessageObject = z
  .object({
    id: Id,
    thread_id: Id,
    user: UserObject,
    date_added: Timestamp,
    content: z.string().meta({ description: 'Markup beyond simple formatting, links and images is removed.' }),
  })
  .meta({ id: 'PrivateMessage' });

export const toPrivateMessage = (
  app: App,
  message: StoredMessage,
  portal: Portal | undefined,
): z.input<typeof PrivateMessageObject> => ({
  id: message.message_id,
  thread_id: message.thread_id,
  user: toUserObject(app, message, portal),
  date_added: message.date_added,
  content: message.markup,
});

export const UnreadMessagesObject = z
  .object({ messages: Integer, threads: Integer, invites: Integer })
  .meta({ id: 'UnreadMessages' });
