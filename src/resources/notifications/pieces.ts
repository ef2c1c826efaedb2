import type { App } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import * as store from './store.ts';

// Other nouns tell here what they do, so this file knows none of them.

export const KINDS = ['comment', 'reply', 'mention', 'follower', 'team_invite', 'message', 'message_invite'] as const;
export type NotificationKind = (typeof KINDS)[number];

export interface Happening {
  /** Who is told. */
  readonly userId: number;
  readonly kind: NotificationKind;
  /** Who did it. */
  readonly actorId: number;
  readonly resource: 'mods' | 'guides' | 'collections' | 'games' | 'users' | 'threads';
  readonly resourceId: number;
  readonly gameId?: number;
  readonly commentId?: number;
}

/** Tells a person in the transaction of what happened. Nobody is told of what they did themselves. */
export async function notify(app: App, transaction: Transaction, what: Happening): Promise<void> {
  if (what.userId === what.actorId) return;
  await store.add(transaction, {
    user_id: what.userId,
    kind: what.kind,
    actor_id: what.actorId,
    resource: what.resource,
    resource_id: what.resourceId,
    game_id: what.gameId ?? 0,
    comment_id: what.commentId ?? 0,
    date_added: app.clock.now(),
  });
}
