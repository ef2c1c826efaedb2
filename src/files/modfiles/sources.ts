import { type Levels, levelsOf, requireMod } from '../../catalogue/mods/mods.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { modfileListing } from './listing.ts';
import { type ClamdBehaviour, type Incoming, type NewFile, takeFile, type Which } from './modfiles.ts';
import { notAmong, statusOn } from './platforms.ts';
import { release } from './releasing.ts';
import * as store from './store.ts';

const FILE_THERE = 1;
/** Of a source on a platform: what is made of it shall run there. */
const TARGETED = 3;

type Reader = Pick<Database, 'first'>;

/** Sources, and what is made of them, concern the teams of the mod and its game alone. */
export async function requireMember(reader: Reader, caller: Caller, { gameId, modId }: Which): Promise<Levels> {
  const levels = await levelsOf(reader, caller, await requireMod(reader, caller, gameId, modId));
  if (levels.mod === 0 && levels.game === 0) throw new ApiError('MODFILE_CANNOT_INSPECT_FILES', { status: 403 });
  return levels;
}

export async function listSources(app: App, caller: Caller, which: Which, request: ListRequest) {
  await requireMember(app.db, caller, which);
  const scope = { kind: 'source' as const, modId: which.modId, submitterId: undefined, everything: true };
  const anywhere = { platform: undefined, platformStatus: undefined };
  return store.list(app.db.query, { ...scope, ...anywhere }, modfileListing, request);
}

/** Adds a source, of which files for locked platforms are made. It is inspected and scanned, and never live itself. */
export const addSource = (
  app: App,
  caller: UserCaller,
  which: Which,
  incoming: Incoming,
  fields: NewFile,
  named: ClamdBehaviour['named'],
) => takeFile(app, caller, which, incoming, fields, { kind: 'source', targets: lockedTargets, named });

async function lockedTargets(
  transaction: Transaction,
  gameId: number,
  asked: readonly string[] | undefined,
): Promise<store.FilePlatform[]> {
  const locked = (await store.platformsOfGame(transaction, gameId)).filter((each) => each.locked === 1);
  if (locked.length === 0) throw new ApiError('GAME_CANT_HAVE_PLATFORM_SPECIFIC_FILES');
  const wanted = asked === undefined || asked.length === 0 ? locked.map(({ platform }) => platform) : asked;
  const targets = locked.filter(({ platform }) => wanted.includes(platform));
  if (targets.length < new Set(wanted).size) throw notAmong('platforms', locked);
  return targets.map(({ platform }) => ({ platform, status: TARGETED }));
}

/** What was made of a source, for one platform: from here on a file like any other. */
export interface CookedFile {
  readonly platform: string;
  /** Whoever uploaded the source. */
  readonly submitterId: number;
  /** In the transaction that names the file; answers whether it goes live where it needs no approval. */
  named(transaction: Transaction, file: store.ModfileRow): Promise<boolean>;
}

export const addCooked = (
  app: App,
  caller: UserCaller,
  which: Which,
  incoming: Incoming,
  fields: Omit<NewFile, 'active' | 'platforms'>,
  { platform, submitterId, named }: CookedFile,
) =>
  takeFile(
    app,
    caller,
    which,
    incoming,
    { ...fields, active: false },
    {
      kind: 'file',
      submitterId,
      targets: async (transaction, gameId) => {
        const offered = await store.platformsOfGame(transaction, gameId);
        const target = offered.find((each) => each.platform === platform);
        if (!target) throw notAmong('platforms', offered);
        return [statusOn(target)];
      },
      named: async (transaction, mod, file) => {
        const isReleased = await named(transaction, file);
        // A file for one console must not take the place of the one that is shown without a platform.
        if (isReleased) await release(app, transaction, mod, file, { userId: submitterId, shown: false });
      },
    },
  );

/** A source as long as it is there: neither deleted nor taken down. */
export async function findSource(reader: Reader, id: number): Promise<store.ModfileRow | undefined> {
  const file = await store.rowOf(reader, id);
  return file?.kind === 'source' && file.status === FILE_THERE && file.withdrawn === 0 ? file : undefined;
}

/** The platforms that files shall be made for. */
export async function targetsOf(transaction: Transaction, id: number): Promise<string[]> {
  return (await store.platformsOf(transaction, id)).map(({ platform }) => platform);
}

/** What the game does not let anyone upload for. */
export async function lockedPlatforms(transaction: Transaction, gameId: number): Promise<string[]> {
  const offered = await store.platformsOfGame(transaction, gameId);
  return offered.filter(({ locked }) => locked === 1).map(({ platform }) => platform);
}

/** The source that was added last, of those that are there. */
export const newestSource = (transaction: Transaction, modId: number) => store.newestSource(transaction, modId);
