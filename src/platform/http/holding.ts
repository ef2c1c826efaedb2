import { refuseGone } from '../access/authenticate.ts';
import type { Caller } from '../access/caller.ts';
import type { App } from '../app.ts';
import { statement, type Transaction } from '../database/database.ts';
import { type Found, type Held, type Hold, type Kind, lock } from '../database/locks.ts';
import { ApiError, type ErrorName } from '../errors/catalogue.ts';
import type { AnyInput } from './input.ts';
import type { AnyOperation, Thing } from './operation.ts';

/** Which part of a path names which kind of thing. */
const NAMED_BY: Readonly<Record<Kind, string>> = {
  users: 'user_id',
  games: 'game_id',
  mods: 'mod_id',
  guides: 'guide_id',
  collections: 'collection_id',
  comments: 'comment_id',
  modfiles: 'file_id',
  message_threads: 'thread_id',
};

/** What a path names is what is written under, but for people: of them only some operations need that they are there. */
const IN_PATHS = (Object.keys(NAMED_BY) as Kind[]).filter((kind) => kind !== 'users');

/** What is said of something that ended while the request was under way, where the noun itself has not noticed. */
const GONE: Readonly<Record<Kind, ErrorName>> = {
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

/** What an operation that writes holds while it does, by how. */
export interface Holding {
  readonly under: readonly Thing[];
  readonly ends: readonly Thing[];
}

/** The caller, what the path names, and what the declaration adds to it. */
export function holdingOf({ declaration }: AnyOperation): Holding {
  const { method, path, ends = [], under = [], unheld } = declaration;
  if (method === 'GET' || unheld) return { under: [], ends: [] };
  const named = IN_PATHS.filter((kind) => path.includes(`{${NAMED_BY[kind]}}`));
  const things: Thing[] = [...(isPerson(declaration) ? (['caller'] as const) : []), ...named, ...under];
  return { ends, under: [...new Set(things)].filter((thing) => !ends.includes(thing)) };
}

/** What an operation can answer because something ended at the same moment. */
export function holdingErrors(operation: AnyOperation): readonly ErrorName[] {
  const { under, ends } = holdingOf(operation);
  const isByPerson = [...under, ...ends].includes('caller');
  const gone = under.flatMap((thing) => (thing === 'caller' ? [] : [GONE[thing]]));
  return [...(isByPerson ? (['USER_DELETED', 'USER_BANNED', 'USER_LOCKED'] as const) : []), ...new Set(gone)];
}

const personOf = (caller: Caller): number | undefined =>
  caller.kind === 'user' && !caller.service ? caller.userId : undefined;

function idsOf({ declaration }: AnyOperation, thing: Thing, input: AnyInput): readonly (number | undefined)[] {
  if (thing === 'caller') return [personOf(input.caller)];
  const params = input.params as Record<string, number | undefined>;
  return [params[NAMED_BY[thing]], ...(declaration.names?.[thing]?.(input) ?? [])];
}

function heldBy(operation: AnyOperation, input: AnyInput): Held[] {
  const { under, ends } = holdingOf(operation);
  const held = (things: readonly Thing[], hold: Hold) =>
    things.flatMap((thing) =>
      idsOf(operation, thing, input)
        .filter((id) => typeof id === 'number')
        .map((id): Held => ({ kind: thing === 'caller' ? 'users' : thing, id, hold })),
    );
  return [...held(under, 'under'), ...held(ends, 'ends')];
}

function refuseCaller(userId: number | undefined, found: readonly Found[]): void {
  const person = found.find(({ kind, id }) => kind === 'users' && id === userId);
  if (!person) return;
  refuseGone(person.status);
  if (person.isLocked) throw new ApiError('USER_LOCKED');
}

const STAFF = statement('select level from site_staff where user_id = ?');

/** What the caller was when the request came in they may not be any more; the next request finds out what they are. */
async function refuseFormerStaff(transaction: Transaction, userId: number | undefined, level: number): Promise<void> {
  const now = userId === undefined ? undefined : await transaction.first<{ level: number }>(STAFF, [userId]);
  if ((now?.level ?? 0) < level) throw new ApiError('TOKEN_EXPIRED_OR_REVOKED');
}

function requireAllThere(held: readonly Held[], found: readonly Found[]): void {
  for (const { kind, id, hold } of held) {
    if (hold === 'ends') continue;
    const there = found.find((each) => each.kind === kind && each.id === id);
    if (!there || there.isGone) throw new ApiError(GONE[kind]);
  }
}

/**
 * The app as an operation that writes sees it: each of its transactions begins by holding what the operation adds to or
 * ends. A caller who is gone by then is refused before anything else. What else is gone by then is for the noun to say,
 * which may tell more of it; where it does not notice, nothing is committed.
 */
export function holding(app: App, operation: AnyOperation, input: AnyInput): App {
  const held = heldBy(operation, input);
  if (held.length === 0) return app;
  const callerId = personOf(input.caller);
  const staff = input.caller.kind === 'user' ? (input.caller.staff ?? 0) : 0;
  const write = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    app.db.write(async (transaction) => {
      const found = await lock(transaction, held);
      refuseCaller(callerId, found);
      if (staff > 0) await refuseFormerStaff(transaction, callerId, staff);
      const result = await work(transaction);
      requireAllThere(held, found);
      return result;
    });
  return { ...app, db: { ...app.db, write } };
}
