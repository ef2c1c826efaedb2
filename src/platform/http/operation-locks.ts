import { refuseGone } from '../access/authenticate.ts';
import type { Caller } from '../access/caller.ts';
import type { App } from '../app.ts';
import { statement, type Transaction } from '../database/database.ts';
import { type Kind, type LockedRow, type LockMode, lock, type RowLock } from '../database/locks.ts';
import { answersTo } from '../database/pipelining.ts';
import { ApiError, type ErrorName } from '../errors/catalogue.ts';
import type { AnyInput } from './input.ts';
import type { AnyOperation, Lockable } from './operation.ts';

/** The path parameter that holds the id of each kind. */
const PATH_PARAMETER: Readonly<Record<Kind, string>> = {
  users: 'user_id',
  games: 'game_id',
  mods: 'mod_id',
  guides: 'guide_id',
  collections: 'collection_id',
  comments: 'comment_id',
  modfiles: 'file_id',
  message_threads: 'thread_id',
};

/** Every resource named in the path is locked except users, which only some operations need to exist. */
const LOCKED_BY_PATH = (Object.keys(PATH_PARAMETER) as Kind[]).filter((kind) => kind !== 'users');

/** The error for a resource that was deleted while the request ran, unless the handler noticed first. */
const ERROR_WHEN_DELETED: Readonly<Record<Kind, ErrorName>> = {
  users: 'USER_NOT_FOUND',
  games: 'GAME_DELETED',
  mods: 'MOD_DELETED',
  guides: 'RESOURCE_NOT_FOUND',
  collections: 'RESOURCE_NOT_FOUND',
  comments: 'COMMENT_NOT_FOUND',
  modfiles: 'RESOURCE_NOT_FOUND',
  message_threads: 'RESOURCE_NOT_FOUND',
};

const isPerson = ({ access }: AnyOperation['declaration']): boolean =>
  access.kind === 'user' || access.kind === 'reader' || (access.kind === 'anyone' && access.named === true);

/** The resources that a writing operation locks, by lock mode. */
export interface OperationLocks {
  readonly under: readonly Lockable[];
  readonly ends: readonly Lockable[];
}

/** The caller, the resources in the path, and those that the declaration adds. */
export function locksOf({ declaration }: AnyOperation): OperationLocks {
  const { method, path, ends = [], under = [], unlocked } = declaration;
  if (method === 'GET' || unlocked) return { under: [], ends: [] };
  const named = LOCKED_BY_PATH.filter((kind) => path.includes(`{${PATH_PARAMETER[kind]}}`));
  const things: Lockable[] = [...(isPerson(declaration) ? (['caller'] as const) : []), ...named, ...under];
  return { ends, under: [...new Set(things)].filter((thing) => !ends.includes(thing)) };
}

/** The errors that a concurrent deletion can cause. */
export function lockErrors(operation: AnyOperation): readonly ErrorName[] {
  const { under, ends } = locksOf(operation);
  const isByPerson = [...under, ...ends].includes('caller');
  const gone = under.flatMap((thing) => (thing === 'caller' ? [] : [ERROR_WHEN_DELETED[thing]]));
  return [...(isByPerson ? (['USER_DELETED', 'USER_BANNED', 'USER_LOCKED'] as const) : []), ...new Set(gone)];
}

const personOf = (caller: Caller): number | undefined =>
  caller.kind === 'user' && !caller.service ? caller.userId : undefined;

function idsOf({ declaration }: AnyOperation, thing: Lockable, input: AnyInput): readonly (number | undefined)[] {
  if (thing === 'caller') return [personOf(input.caller)];
  const params = input.params as Record<string, number | undefined>;
  return [params[PATH_PARAMETER[thing]], ...(declaration.names?.[thing]?.(input) ?? [])];
}

function rowLocksOf(operation: AnyOperation, input: AnyInput): RowLock[] {
  const { under, ends } = locksOf(operation);
  const locks = (things: readonly Lockable[], mode: LockMode) =>
    things.flatMap((thing) =>
      idsOf(operation, thing, input)
        .filter((id) => typeof id === 'number')
        .map((id): RowLock => ({ kind: thing === 'caller' ? 'users' : thing, id, mode })),
    );
  return [...locks(under, 'under'), ...locks(ends, 'ends')];
}

function refuseCaller(userId: number | undefined, found: readonly LockedRow[]): void {
  const person = found.find(({ kind, id }) => kind === 'users' && id === userId);
  if (!person) return;
  refuseGone(person.status);
  if (person.isLocked) throw new ApiError('USER_LOCKED');
}

/** Locks the rows, and refuses a caller who is gone. */
async function lockPresent(transaction: Transaction, locks: readonly RowLock[], callerId: number | undefined) {
  const found = await lock(transaction, locks);
  refuseCaller(callerId, found);
  return found;
}

const STAFF = statement('select level from site_staff where user_id = ?');

/** The caller may have lost their staff level since the request was authenticated. */
async function refuseFormerStaff(transaction: Transaction, userId: number | undefined, level: number): Promise<void> {
  const now = userId === undefined ? undefined : await transaction.first<{ level: number }>(STAFF, [userId]);
  if ((now?.level ?? 0) < level) throw new ApiError('TOKEN_EXPIRED_OR_REVOKED');
}

function requireAllPresent(locks: readonly RowLock[], found: readonly LockedRow[]): void {
  for (const { kind, id, mode } of locks) {
    if (mode === 'ends') continue;
    const there = found.find((each) => each.kind === kind && each.id === id);
    if (!there || there.isGone) throw new ApiError(ERROR_WHEN_DELETED[kind]);
  }
}

/**
 * Wraps the app so that each transaction of a writing operation first locks what the operation adds to or ends. The
 * handler's statements leave without waiting for the locks. A deleted caller is rejected whatever the handler says,
 * other deleted resources after it, because the handler may give a more precise error.
 */
export function withLocks(app: App, operation: AnyOperation, input: AnyInput): App {
  const locks = rowLocksOf(operation, input);
  if (locks.length === 0) return app;
  const callerId = personOf(input.caller);
  const staff = input.caller.kind === 'user' ? (input.caller.staff ?? 0) : 0;
  const write = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    app.db.write(async (transaction) => {
      const [found, , result] = await answersTo([
        lockPresent(transaction, locks, callerId),
        staff > 0 ? refuseFormerStaff(transaction, callerId, staff) : undefined,
        work(transaction),
      ]);
      requireAllPresent(locks, found);
      return result;
    });
  return { ...app, db: { ...app.db, write } };
}
