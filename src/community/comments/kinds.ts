import type { ErrorName } from '../../platform/errors/catalogue.ts';

/** A kind of content that has comments. The declarations of its operations follow from it. */
export interface CommentedKind {
  /** As in the path, and in the table of comments. */
  readonly resource: 'mods' | 'guides' | 'collections';
  /** The singular of the resource, as in the ids of operations and the names of parameters. */
  readonly singular: string;
  readonly errors: {
    /** Thrown where the caller may not see the content. */
    readonly unseen: readonly ErrorName[];
    readonly noDelete: ErrorName;
    readonly tooDeep: ErrorName;
    readonly keptByTeam: ErrorName;
    readonly noNegativeKarma: ErrorName;
  };
}

export const commentedMods: CommentedKind = {
  resource: 'mods',
  singular: 'mod',
  errors: {
    unseen: ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'],
    noDelete: 'MOD_COMMENT_NO_DELETE_PERMISSION',
    tooDeep: 'MOD_COMMENT_REPLY_READ_TOO_BIG',
    keptByTeam: 'MOD_COMMENT_NO_COMMENT_PERMISSION_BY_ADMIN',
    noNegativeKarma: 'MOD_COMMENT_NEGATIVE_KARMA_DISABLED',
  },
};

export const commentedGuides: CommentedKind = {
  resource: 'guides',
  singular: 'guide',
  errors: {
    unseen: ['GAME_NOT_FOUND', 'GAME_DELETED', 'GUIDE_NO_VIEW_PERMISSION', 'RESOURCE_NOT_FOUND', 'GUIDE_DELETED'],
    noDelete: 'GUIDE_COMMENT_NO_DELETE_PERMISSION',
    tooDeep: 'GUIDE_COMMENT_REPLY_READ_TOO_BIG',
    keptByTeam: 'GUIDE_COMMENT_NO_COMMENT_PERMISSION_BY_ADMIN',
    noNegativeKarma: 'GUIDE_COMMENT_NEGATIVE_KARMA_DISABLED',
  },
};

export const commentedCollections: CommentedKind = {
  resource: 'collections',
  singular: 'collection',
  errors: {
    unseen: ['GAME_NOT_FOUND', 'GAME_DELETED', 'RESOURCE_NOT_FOUND'],
    noDelete: 'COLLECTIONS_COMMENT_NO_DELETE_PERMISSION',
    tooDeep: 'COLLECTIONS_COMMENT_REPLY_READ_TOO_BIG',
    keptByTeam: 'COLLECTIONS_COMMENT_NO_COMMENT_PERMISSION_BY_ADMIN',
    noNegativeKarma: 'MOD_COMMENT_NEGATIVE_KARMA_DISABLED',
  },
};
