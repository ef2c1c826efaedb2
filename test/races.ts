import { operations } from '../src/composition/resources.ts';
import type { Database } from '../src/platform/database/database.ts';
import type { Kind } from '../src/platform/database/locks.ts';
import type { AnyOperation, Lockable } from '../src/platform/http/operation.ts';
import { locksOf } from '../src/platform/http/operation-locks.ts';
import { mergeOwnAccount } from '../src/signin/accounts/operations.ts';
import type { Answer, Client } from './api.ts';
import { AUTHORISATION, CALLERS, type CallerName } from './authorisation.ts';
import { inputFor, operationOf, type Scene } from './race-scene.ts';
import { SITUATED } from './race-situations.ts';

/** Settings for races: every request gets its own connection. */
export const RACE_SETTINGS = {
  settings: {
    MODSTEAD_JOBS: 'off',
    MODSTEAD_RATE_LIMITS: 'off',
    MODSTEAD_PAYMENTS: 'simulated',
    MODSTEAD_STORES: 'simulated',
    MODSTEAD_CONNECTIONS_PER_ADDRESS: '1000',
  },
  // A game can be deleted only after its mods.
  writesRows: true,
};

/** All requests of a race come from one address, which otherwise gets only half of the read concurrency. */
export const UNLIMITED_READS = { readConcurrency: 1_000 };

export const idOf = ({ declaration }: AnyOperation) => declaration.id;
const kindOf = (thing: Lockable): Kind => (thing === 'caller' ? 'users' : thing);
export const writing = operations.filter(({ declaration }) => declaration.method !== 'GET') as AnyOperation[];

const signOf = (id: string, caller: CallerName) =>
  [...(AUTHORISATION[id]?.open ?? '').replaceAll(' ', '')][CALLERS.indexOf(caller)];
const mayDo = (id: string, caller: CallerName) => signOf(id, caller) === '+';

/** Staff sends the requests that only staff may, the author all others. */
const forStaff = (operation: AnyOperation) => {
  const id = idOf(operation);
  if (['close-account', 'delete-account'].includes(id)) return false;
  const others: CallerName[] = ['stranger', 'author', 'mod8', 'game8'];
  return !others.some((caller) => mayDo(id, caller)) && signOf(id, 'admin') !== signOf(id, 'game8');
};

export interface Ender {
  /** The kind and id of the resource that both sides of a race name. */
  readonly of: (scene: Scene) => Partial<Record<Kind, number>>;
  readonly call: (scene: Scene) => Promise<Answer>;
  /** The operations that are refused afterwards; all by default. */
  readonly refuses?: (operation: AnyOperation) => boolean;
  /** Operations that are impossible in the state that the ender needs. */
  readonly without?: (operation: AnyOperation) => boolean;
  /** Prepares the state that the ender needs. */
  readonly before?: (scene: Scene, db: Database) => Promise<unknown>;
  /** Afterwards, when all jobs have run, no row names the user. */
  readonly erases?: 'whenDeleted' | 'whenMerged';
}

const calls =
  (id: string, by: (scene: Scene) => Client, more: (scene: Scene) => object = () => ({})) =>
  (scene: Scene): Promise<Answer> => {
    const operation = operationOf(id);
    const input = inputFor(operation, scene);
    const { params, ...rest } = more(scene) as { params?: object };
    return by(scene).call(operation, { ...input, ...rest, params: { ...input.params, ...params } });
  };
const asOwner = ({ owner }: Scene) => owner;
const asLeader = (scene: Scene) => scene.asLeader;
const asAuthor = ({ author }: Scene) => author.client;
const theAuthor = ({ author }: Scene) => ({ users: author.id });
const theStaff = ({ staff }: Scene) => ({ users: staff.id });
const inPath =
  (...kinds: Kind[]) =>
  ({ params }: Scene) => {
    const names = {
      games: 'game_id',
      mods: 'mod_id',
      guides: 'guide_id',
      collections: 'collection_id',
      modfiles: 'file_id',
    };
    return Object.fromEntries(kinds.map((kind) => [kind, params[names[kind as keyof typeof names]] as number]));
  };
export const nothing = () => false;

/** Operations that only a removed team membership allowed. */
const bySeat = (team: 'mod8' | 'game8') => (operation: AnyOperation) => {
  const others: CallerName[] = team === 'mod8' ? ['stranger'] : ['stranger', 'author', 'mod8'];
  return mayDo(idOf(operation), team) && !others.some((each) => mayDo(idOf(operation), each));
};
const membershipOf = (resource: 'mods' | 'games') => (scene: Scene) => ({
  params: { team_member_id: scene.teams[resource].find(({ user }) => user.id === scene.author.id)!.id },
});
const closing = ({ author }: Scene) => author.client.call(operationOf('close-account'));
const commentOn =
  (resource: 'mods' | 'guides' | 'collections') =>
  ({ comments }: Scene) => ({ comments: comments[resource]! });
const decision = (resource: string, idIn: (scene: Scene) => number) => ({
  call: calls('add-game-moderation-decision', asLeader, (scene) => ({
    body: { resource, id: idIn(scene), decision: 'delete', reason: 'Not like this' },
  })),
});
const onStaff = (operation: AnyOperation) => forStaff(operation);

/** Requests that delete, transfer or rename a resource, and the operations that must fail afterwards. */
export const ENDERS: Record<string, Ender> = {
  'delete-a-user': { of: theAuthor, call: calls('delete-a-user', asOwner), erases: 'whenDeleted' },
  'delete-account': {
    of: theAuthor,
    call: calls('delete-account', asAuthor),
    before: closing,
    without: (operation) => idOf(operation) === 'close-account',
    erases: 'whenDeleted',
  },
  'merge-account': {
    of: theAuthor,
    call: ({ taker, author }) => taker.call(mergeOwnAccount, { body: { access_token: author.client.token! } }),
    erases: 'whenMerged',
  },
  'lock-a-user': { of: theAuthor, call: calls('lock-a-user', asOwner) },
  'lock-a-user (staff)': {
    of: theStaff,
    call: calls('lock-a-user', asOwner, ({ staff }) => ({ params: { user_id: staff.id } })),
  },
  'ban-user': { of: theAuthor, call: calls('ban-user', asOwner) },
  'restrict-user-in-game': {
    of: theAuthor,
    call: calls('restrict-user-in-game', asLeader, ({ author }) => ({ params: { user_id: author.id } })),
    refuses: nothing,
  },
  'edit-authenticated-user': { of: theAuthor, call: calls('edit-authenticated-user', asAuthor), refuses: nothing },
  'update-staff-member': { of: theStaff, call: calls('update-staff-member', asOwner), refuses: onStaff },
  'delete-staff-member': { of: theStaff, call: calls('delete-staff-member', asOwner), refuses: onStaff },
  'edit-game': { of: inPath('games'), call: calls('edit-game', asLeader), refuses: nothing },
  'delete-game': {
    of: inPath('games'),
    call: calls('delete-game', asOwner),
    before: ({ game }, db) =>
      db.write(({ query }) => query.updateTable('mods').set({ status: 3 }).where('game_id', '=', game.id).execute()),
    without: (operation) =>
      ['mods', 'modfiles', 'collections'].some((kind) => lockedKindsOf(operation).includes(kind as Kind)),
  },
  'delete-game-team-member': {
    of: inPath('games'),
    call: calls('delete-game-team-member', asLeader, membershipOf('games')),
    refuses: bySeat('game8'),
  },
  'update-game-team-member': {
    of: inPath('games'),
    call: calls('update-game-team-member', asOwner, (scene) => ({
      ...membershipOf('games')(scene),
      body: { level: 1 },
    })),
    refuses: nothing,
  },
  'edit-mod': { of: inPath('mods'), call: calls('edit-mod', asLeader), refuses: nothing },
  'edit-mod-put': { of: inPath('mods'), call: calls('edit-mod-put', asLeader, () => ({ body: { status: 3 } })) },
  'delete-mod': { of: inPath('mods'), call: calls('delete-mod', asLeader) },
  'add-game-moderation-decision': { of: inPath('mods'), ...decision('mods', ({ mod }) => mod.id) },
  'add-game-moderation-decision (guides)': { of: inPath('guides'), ...decision('guides', ({ guide }) => guide.id) },
  'add-game-moderation-decision (collections)': {
    of: inPath('collections'),
    ...decision('collections', ({ collection }) => collection.id),
  },
  'delete-mod-team-member': {
    of: inPath('mods'),
    call: calls('delete-mod-team-member', asLeader, membershipOf('mods')),
    // Otherwise the game's team could still do what the mod's team no longer may.
    before: ({ author, game }, db) =>
      db.write(async (transaction) => {
        const memberships = transaction.query.deleteFrom('team_members').where('user_id', '=', author.id);
        await memberships.where('resource', '=', 'games').where('resource_id', '=', game.id).execute();
        transaction.changed('access');
      }),
    without: (operation) =>
      idOf(operation) === 'delete-source-modfile' ||
      !['stranger', 'author', 'mod8'].some((each) => mayDo(idOf(operation), each as CallerName)),
    refuses: bySeat('mod8'),
  },
  'update-mod-team-member': {
    of: inPath('mods'),
    call: calls('update-mod-team-member', asLeader, (scene) => ({
      ...membershipOf('mods')(scene),
      body: { level: 1 },
    })),
    refuses: nothing,
  },
  'delete-modfile': { of: inPath('modfiles'), call: calls('delete-modfile', asOwner) },
  'edit-guide': { of: inPath('guides'), call: calls('edit-guide', asLeader), refuses: nothing },
  'delete-guide': { of: inPath('guides'), call: calls('delete-guide', asLeader) },
  'update-collection': { of: inPath('collections'), call: calls('update-collection', asLeader), refuses: nothing },
  'delete-collection': { of: inPath('collections'), call: calls('delete-collection', asLeader) },
  'delete-mod-comment': { of: commentOn('mods'), call: calls('delete-mod-comment', asLeader) },
  'delete-guide-comment': { of: commentOn('guides'), call: calls('delete-guide-comment', asLeader) },
  'delete-collection-comment': { of: commentOn('collections'), call: calls('delete-collection-comment', asLeader) },
};

/** Operations that end something but are in no race, with the reason. */
export const NOT_RACED: Record<string, string> = {
  'change-email': 'locks like edit-authenticated-user, and needs codes from two mailboxes',
  'me-authenticate': 'locks like edit-authenticated-user, and needs a code from a mailbox',
  'decide-permission-review': 'locks like update-game-team-member, and needs a pending change',
  'undo-moderation-decision': 'locks like add-game-moderation-decision, and needs a decision of the caller',
  'delete-source-modfile': 'no operation adds to the source in its path; see start-cook',
};

/** Operations that cannot write in the scene, with the reason. They lock in the same way as similar ones. */
export const UNREACHED: Record<string, string> = {
  'delegation-token': 'stores nothing: the token is signed',
  'undo-moderation-decision': 'needs a decision of the caller',
  'release-moderated-content': 'needs a claim of the caller',
  'create-multipart-upload-link': 'changes nothing',
  'confirm-multipart-upload-part': 'needs a bucket, and shares its writes with add-multipart-upload-part',
};
/** Operations with several transactions, each of which needs the previous one to be committed. */
export const IN_STEPS = ['add-modfile', 'add-source-modfile', 'buy-token-pack'];

export function lockedKindsOf(operation: AnyOperation): Kind[] {
  const { under, ends } = locksOf(operation);
  return [...new Set([...under, ...ends].map(kindOf))];
}

/** Whether a request names this resource, according to its declaration. */
function isAbout(operation: AnyOperation, scene: Scene, kind: Kind, id: number): boolean {
  const { under, ends } = locksOf(operation);
  const things = [...under, ...ends].filter((thing) => kindOf(thing) === kind);
  const input = inputFor(operation, scene);
  const names = {
    users: 'user_id',
    games: 'game_id',
    mods: 'mod_id',
    guides: 'guide_id',
    collections: 'collection_id',
  };
  const more = { comments: 'comment_id', modfiles: 'file_id', message_threads: 'thread_id' };
  const callerId = forStaff(operation) ? scene.staff.id : scene.author.id;
  return things.some((thing) => {
    if (thing === 'caller') return callerId === id;
    const isInPath = operation.declaration.path.includes(`{${{ ...names, ...more }[kind]}}`);
    const named = operation.declaration.names?.[kind]?.({ ...input, query: {}, body: input.body ?? {} } as never) ?? [];
    return named.includes(id) || (isInPath && input.params?.[{ ...names, ...more }[kind]] === id);
  });
}

export const isBy = (scene: Scene, operation: AnyOperation) => (forStaff(operation) ? scene.staff : scene.author).id;
export const send = (operation: AnyOperation, scene: Scene) =>
  (forStaff(operation) ? scene.staff : scene.author).client.call(operation, inputFor(operation, scene));

/** Whether the operation adds to or changes the resource that the ender ends. */
export function races(name: string, operation: AnyOperation, scene: Scene): boolean {
  const about = Object.entries(ENDERS[name]!.of(scene)) as [Kind, number][];
  return !name.startsWith(idOf(operation)) && about.some(([kind, id]) => isAbout(operation, scene, kind, id));
}

/** The operations that do so in every scene. */
export const addersOf = (name: string, scene: Scene): AnyOperation[] =>
  writing.filter((operation) => {
    const id = idOf(operation);
    const cannotWrite = UNREACHED[id] || SITUATED.has(id) || ENDERS[name]!.without?.(operation);
    return !cannotWrite && races(name, operation, scene);
  });
