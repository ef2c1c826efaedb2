import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { PathId, page, pageOf } from '../../platform/http/objects.ts';
import { Created, created, noContent, ok, operation } from '../../platform/http/operation.ts';
import {
  ACCEPT_FROM,
  type AcceptFrom,
  changeSettings,
  deleteMessage,
  invite,
  invitesOf,
  join,
  leave,
  listMessages,
  markRead,
  messageListing,
  PEOPLE_MAX,
  reply,
  settingsOf,
  showThread,
  startThread,
  threadListing,
  threadsOf,
  unreadOf,
} from './messages.ts';
import {
  MessageThreadObject,
  PrivateMessageObject,
  toPrivateMessage,
  toThread,
  UnreadMessagesObject,
} from './object.ts';

const ThreadPath = z.object({ thread_id: PathId });
const MessagePath = ThreadPath.extend({ message_id: PathId });
const UserId = z.int().min(1);
const Content = z.string().trim().min(1).max(10_000).meta({
  description: 'Markup beyond simple formatting, links and images is not shown.',
});
const IN_THREAD = ['USER_PM_THREAD_DOESNT_EXIST', 'USER_PM_NOT_IN_THREAD'] as const;
const REACHABLE = ['USER_NOT_FOUND', 'USER_IS_BLOCKED', 'USER_INVITE_NOT_AUTHORISED'] as const;
const threads = '/me/messages/threads';

const MessageSettings = z.object({
  accept_from: z.enum(Object.keys(ACCEPT_FROM) as [AcceptFrom, ...AcceptFrom[]]).meta({
    description:
      'From whom the user accepts new conversations and invitations: everyone, users whom they follow, or nobody.',
  }),
});
const MessageSettingsObject = MessageSettings.meta({ id: 'MessageSettings' });

export const getMessageThreads = operation({
  id: 'get-message-threads',
  tag: 'Messages',
  method: 'GET',
  path: threads,
  says: 'Lists the caller’s conversations, those with the newest messages first.',
  access: user('read', 'personal'),
  list: threadListing,
  returns: ok(pageOf(MessageThreadObject)),
  errors: [],
  handle: async (app, { caller, list, portal }) => {
    const found = await threadsOf(app, caller, list);
    return page(
      found.threads.map((thread) => toThread(app, thread, portal)),
      found.total,
      list,
    );
  },
});

export const getMessageInvites = operation({
  id: 'get-message-invites',
  tag: 'Messages',
  method: 'GET',
  path: '/me/messages/invites',
  says: 'Lists the conversations that the caller is invited to.',
  access: user('read', 'personal'),
  list: threadListing,
  returns: ok(pageOf(MessageThreadObject)),
  errors: [],
  handle: async (app, { caller, list, portal }) => {
    const found = await invitesOf(app, caller, list);
    return page(
      found.threads.map((thread) => toThread(app, thread, portal)),
      found.total,
      list,
    );
  },
});

export const getUnreadMessages = operation({
  id: 'get-unread-messages',
  tag: 'Messages',
  method: 'GET',
  path: '/me/messages/unread',
  says: 'Counts the caller’s unread messages and open invitations.',
  access: user('read', 'personal'),
  returns: ok(UnreadMessagesObject),
  errors: [],
  handle: (app, { caller }) => unreadOf(app, caller),
});

export const addMessageThread = operation({
  id: 'add-message-thread',
  tag: 'Messages',
  method: 'POST',
  path: threads,
  says: 'Starts a conversation with one or more users by a first message.',
  access: user('write', 'personal'),
  under: ['users'],
  names: { users: ({ body }) => body.user_ids },
  body: z.object({
    subject: z.string().trim().min(1).max(80),
    content: Content,
    user_ids: z
      .array(UserId)
      .min(1)
      .max(PEOPLE_MAX - 1),
  }),
  once: true,
  returns: created(MessageThreadObject),
  errors: [...REACHABLE, 'PM_RATE_LIMIT_COMPOSE', 'USER_CANT_DO_ACTION_SPAM_DETECTED'],
  handle: async (app, { caller, body: { subject, content, user_ids }, portal }) => {
    const thread = await startThread(app, caller, { subject, content, userIds: user_ids });
    return new Created(toThread(app, thread, portal), `${app.addresses.api}${threads}/${thread.id}`);
  },
});

export const getMessageThread = operation({
  id: 'get-message-thread',
  tag: 'Messages',
  method: 'GET',
  path: `${threads}/{thread_id}`,
  says: 'Shows a conversation of the caller.',
  access: user('read', 'personal'),
  params: ThreadPath,
  returns: ok(MessageThreadObject),
  errors: IN_THREAD,
  handle: async (app, { caller, params, portal }) =>
    toThread(app, await showThread(app, caller, params.thread_id), portal),
});

export const leaveMessageThread = operation({
  id: 'leave-message-thread',
  tag: 'Messages',
  method: 'DELETE',
  path: `${threads}/{thread_id}`,
  says: 'Leaves a conversation, or declines the invitation to it.',
  access: user('write', 'personal'),
  params: ThreadPath,
  returns: noContent,
  errors: IN_THREAD,
  handle: (app, { caller, params }) => leave(app, caller, params.thread_id),
});

export const getMessages = operation({
  id: 'get-messages',
  tag: 'Messages',
  method: 'GET',
  path: `${threads}/{thread_id}/messages`,
  says: 'Lists the messages of a conversation, newest first, without those of users whom the caller has blocked.',
  access: user('read', 'personal'),
  params: ThreadPath,
  list: messageListing,
  returns: ok(pageOf(PrivateMessageObject)),
  errors: IN_THREAD,
  handle: async (app, { caller, params, list, portal }) => {
    const { messages, total } = await listMessages(app, caller, params.thread_id, list);
    return page(
      messages.map((message) => toPrivateMessage(app, message, portal)),
      total,
      list,
    );
  },
});

export const addMessage = operation({
  id: 'add-message',
  tag: 'Messages',
  method: 'POST',
  path: `${threads}/{thread_id}/messages`,
  says: 'Adds a message to a conversation.',
  access: user('write', 'personal'),
  params: ThreadPath,
  body: z.object({ content: Content }),
  once: true,
  returns: created(PrivateMessageObject),
  errors: [
    ...IN_THREAD,
    'USER_IS_BLOCKED',
    'PM_RATE_LIMIT_REPLY_LONG_TIMEFRAME',
    'PM_RATE_LIMIT_REPLY_SHORT_TIMEFRAME',
    'USER_CANT_DO_ACTION_SPAM_DETECTED',
  ],
  handle: async (app, { caller, params: { thread_id }, body, portal }) => {
    const message = await reply(app, caller, thread_id, body.content);
    return new Created(toPrivateMessage(app, message, portal), `${app.addresses.api}${threads}/${thread_id}/messages`);
  },
});

export const deleteAMessage = operation({
  id: 'delete-message',
  tag: 'Messages',
  method: 'DELETE',
  path: `${threads}/{thread_id}/messages/{message_id}`,
  says: 'Deletes one of the caller’s messages.',
  access: user('write', 'personal'),
  params: MessagePath,
  returns: noContent,
  errors: [...IN_THREAD, 'RESOURCE_NOT_FOUND'],
  handle: (app, { caller, params }) => deleteMessage(app, caller, params.thread_id, params.message_id),
});

export const readMessages = operation({
  id: 'read-messages',
  tag: 'Messages',
  method: 'POST',
  path: `${threads}/{thread_id}/read`,
  says: 'Marks the conversation as read.',
  access: user('write', 'personal'),
  params: ThreadPath,
  returns: noContent,
  errors: IN_THREAD,
  handle: (app, { caller, params }) => markRead(app, caller, params.thread_id),
});

export const inviteToThread = operation({
  id: 'invite-to-message-thread',
  tag: 'Messages',
  method: 'POST',
  path: `${threads}/{thread_id}/invites`,
  says: 'Invites a user to a conversation. They can read it after they have joined.',
  access: user('write', 'personal'),
  under: ['users'],
  names: { users: ({ body }) => [body.user_id] },
  params: ThreadPath,
  body: z.object({ user_id: UserId }),
  returns: noContent,
  errors: [
    ...IN_THREAD,
    ...REACHABLE,
    'USER_PM_ALREADY_IN_THREAD',
    'USER_INVITE_LIMIT_REACHED',
    'PM_RATE_LIMIT_INVITE',
    'PM_RATE_LIMIT_INVITE_TOTAL',
  ],
  handle: (app, { caller, params, body }) => invite(app, caller, params.thread_id, body.user_id),
});

export const joinMessageThread = operation({
  id: 'join-message-thread',
  tag: 'Messages',
  method: 'POST',
  path: `${threads}/{thread_id}/join`,
  says: 'Accepts the invitation to a conversation.',
  access: user('write', 'personal'),
  params: ThreadPath,
  returns: ok(MessageThreadObject),
  errors: [...IN_THREAD, 'USER_PM_ALREADY_IN_THREAD'],
  handle: async (app, { caller, params, portal }) => toThread(app, await join(app, caller, params.thread_id), portal),
});

export const getMessageSettings = operation({
  id: 'get-message-settings',
  tag: 'Messages',
  method: 'GET',
  path: '/me/messages/settings',
  says: 'Shows from whom the caller accepts new conversations.',
  access: user('read', 'personal'),
  returns: ok(MessageSettingsObject),
  errors: [],
  handle: async (app, { caller }) => ({ accept_from: await settingsOf(app, caller) }),
});

export const updateMessageSettings = operation({
  id: 'update-message-settings',
  tag: 'Messages',
  method: 'PUT',
  path: '/me/messages/settings',
  says: 'Sets from whom the caller accepts new conversations.',
  access: user('write', 'profile'),
  body: MessageSettings,
  returns: ok(MessageSettingsObject),
  errors: [],
  handle: async (app, { caller, body }) => {
    await changeSettings(app, caller, body.accept_from);
    return { accept_from: body.accept_from };
  },
});

export const messageOperations = [
  getMessageThreads,
  getMessageInvites,
  getUnreadMessages,
  addMessageThread,
  getMessageThread,
  leaveMessageThread,
  getMessages,
  addMessage,
  deleteAMessage,
  readMessages,
  inviteToThread,
  joinMessageThread,
  getMessageSettings,
  updateMessageSettings,
];
