import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import { extensionPoint } from '../../platform/extensions.ts';
import type { CommentedKind } from './kinds.ts';

type Reader = Pick<Database, 'first'>;

/** Content with comments, as its caller sees it. */
export interface Commented {
  readonly id: number;
  readonly gameId: number;
  readonly ownerId: number;
  /** Everyone sees it, so responses about it may be cached. */
  readonly isPublic: boolean;
  /** Its own settings and those of its game allow comments. */
  readonly allowsComments: boolean;
  /** `community_options` of its game. */
  readonly gameOptions: number;
  /** The caller belongs to its team or that of its game, who delete, pin and lock. */
  readonly isTeam: boolean;
}

/** Contributed by a resource whose content has comments. */
export interface Commentable {
  readonly resource: CommentedKind['resource'];
  /** Throws an error of the kind's `unseen` for a caller who may not see the content. */
  find(app: App, reader: Reader, caller: Caller, gameId: number, id: number): Promise<Commented>;
  /** The same for a change: locks the content, so that concurrent changes of its comments run one by one. */
  lock(app: App, transaction: Transaction, caller: Caller, gameId: number, id: number): Promise<Commented>;
  /** The last step of the transaction that adds or removes comments. */
  onChange(app: App, transaction: Transaction, content: Commented, change: CommentChange): Promise<void>;
}

export interface CommentChange {
  readonly type: 'added' | 'deleted';
  readonly userId: number;
  /** Of the user's connection, if known. */
  readonly address?: string | undefined;
  readonly platform?: string | undefined;
  /** By how many the number of visible comments changes. */
  readonly difference: number;
}

export const commentables = extensionPoint<Commentable>('comments');

export const findCommentable = (app: App, resource: string): Commentable | undefined =>
  app.extensions.of(commentables).find((each) => each.resource === resource);

export function commentableOf(app: App, { resource }: CommentedKind): Commentable {
  const found = findCommentable(app, resource);
  if (!found) throw new Error(`no resource contributes commentable ${resource}`);
  return found;
}
