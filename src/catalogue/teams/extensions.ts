import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import { extensionPoint } from '../../platform/extensions.ts';
import type { TeamResource } from './teams.ts';

/** The owner of a team: a game, or a mod of one. */
export interface Place {
  readonly resource: TeamResource;
  readonly id: number;
  readonly gameId: number;
}

/** The submitter leads the team. */
export interface Standing {
  readonly submitted_by: number;
}

/** The operations that teams need of the resource they belong to. Games and mods contribute one each. */
export interface TeamOwner {
  readonly resource: TeamResource;
  /** Refuses callers who may not see the game or mod. */
  readonly require: (reader: Pick<Database, 'first'>, caller: Caller, place: Place) => Promise<Standing>;
  /** Makes another user the submitter. */
  readonly transferOwnership: (app: App, transaction: Transaction, place: Place, userId: number) => Promise<void>;
  /** Invalidates cached responses that show the game or mod. */
  readonly invalidate: (transaction: Transaction, place: Place) => void;
  /** Whether the list of members may be cached for the visibility class of the caller. Always, by default. */
  readonly isVisibleToClass?: (reader: Pick<Database, 'first'>, caller: Caller, place: Place) => Promise<boolean>;
  readonly recordMembership?: (
    app: App,
    transaction: Transaction,
    place: Place,
    userId: number,
    type: 'USER_TEAM_JOIN' | 'USER_TEAM_LEAVE',
  ) => Promise<void>;
  /** Records that the team changed, by this user. It runs last. */
  readonly recordTeamChange?: (app: App, transaction: Transaction, place: Place, userId: number) => Promise<void>;
}

export const teamOwners = extensionPoint<TeamOwner>('owners of teams');

/** A change that grants or revokes the powers of an administrator over a game. */
export type SensitiveTeamChange =
  | { readonly kind: 'invite'; readonly email: string; readonly level: number }
  | { readonly kind: 'change'; readonly member: number; readonly level: number; readonly leader: boolean }
  | { readonly kind: 'remove'; readonly member: number };

export interface NewMember {
  readonly userId: number;
  readonly level: number;
  readonly invitedBy: number;
}

export interface LevelChange {
  readonly userId: number;
  readonly from: number;
  readonly to: number;
  readonly changedBy: number;
}

/** How other resources take part in changes of teams. */
export interface TeamExtension {
  /** Runs in the transaction of the change, after every other check. Throwing an error refuses the change. */
  readonly onSensitiveChange?: (
    app: App,
    transaction: Transaction,
    caller: UserCaller,
    gameId: number,
    change: SensitiveTeamChange,
  ) => Promise<void>;
  /** Runs after the transaction of a change was rolled back. */
  readonly onFailure?: (app: App, caller: UserCaller, gameId: number, error: unknown) => Promise<void>;
  /** Runs in the transaction in which an invitation is accepted. */
  readonly onJoin?: (app: App, transaction: Transaction, place: Place, member: NewMember) => Promise<void>;
  readonly onLevelChange?: (app: App, transaction: Transaction, place: Place, change: LevelChange) => Promise<void>;
  /** Runs before a member leaves or is removed. Throwing an error refuses it. */
  readonly onLeave?: (app: App, transaction: Transaction, place: Place, userId: number) => Promise<void>;
}

export const teamExtensions = extensionPoint<TeamExtension>('teams');
