import { type Levels, levelsOf, requireMod } from '../../catalogue/mods/mods.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { modfileListing } from './listing.ts';
import { addFile, type FileOrigin, type Incoming, type ModPath, type NewFile } from './modfiles.ts';
import { notAmong, statusOn } from './platforms.ts';
import { release } from './releasing.ts';
import * as store from './store.ts';

const FILE_THERE = 1;
/** The status of a source on a platform that it is to be cooked for. */
const TARGETED = 3;

type Reader = Pick<Database, 'first'>;

/** Only the teams of the mod and its game see sources and cooks. */
export async function requireMember(reader: Reader, caller: Caller, { gameId, modId }: ModPath): Promise<Levels> {
  const levels = await levelsOf(reader, caller, await requireMod(reader, caller, gameId, modId));
  if (levels.mod === 0 && levels.game === 0) throw new ApiError('MODFILE_CANNOT_INSPECT_FILES', { status: 403 });
  return levels;
}

export async function listSources(app: App, caller: Caller, which: ModPath, request: ListRequest) {
  await requireMember(app.db, caller, which);
  const scope = { kind: 'source' as const, modId: which.modId, submitterId: undefined, everything: true };
  const anywhere = { platform: undefined, platformStatus: undefined };
  return store.list(app.db.query, { ...scope, ...anywhere }, modfileListing, request);
}

/** Adds a source for locked platforms. It is inspected and scanned, but never goes live itself. */
export const addSource = (
  app: App,
  caller: UserCaller,
  which: ModPath,
  incoming: Incoming,
  fields: NewFile,
  onAdded: FileOrigin['onAdded'],
) => addFile(app, caller, which, incoming, fields, { kind: 'source', targets: lockedTargets, onAdded });

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

/** The result of a cook for one platform; it becomes an ordinary file. */
export interface CookedFile {
  readonly platform: string;
  /** The uploader of the source. */
  readonly submitterId: number;
  /** Runs in the transaction that adds the file. Returns whether to make it live where it needs no approval. */
  onAdded(transaction: Transaction, file: store.ModfileRow): Promise<boolean>;
}

export const addCooked = (
  app: App,
  caller: UserCaller,
  which: ModPath,
  incoming: Incoming,
  fields: Omit<NewFile, 'active' | 'platforms'>,
  { platform, submitterId, onAdded }: CookedFile,
) =>
  addFile(
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
      onAdded: async (transaction, mod, file) => {
        const isReleased = await onAdded(transaction, file);
        // A file for one console must not replace the file that is shown without a platform.
        if (isReleased) await release(app, transaction, mod, file, { userId: submitterId, shown: false });
      },
    },
  );

/** Undefined if the source was deleted or taken down. */
export async function findSource(reader: Reader, id: number): Promise<store.ModfileRow | undefined> {
  const file = await store.rowOf(reader, id);
  return file?.kind === 'source' && file.status === FILE_THERE && file.withdrawn === 0 ? file : undefined;
}

/** The platforms that the source is to be cooked for. */
export async function targetsOf(transaction: Transaction, id: number): Promise<string[]> {
  return (await store.platformsOf(transaction, id)).map(({ platform }) => platform);
}

/** The platforms of the game that accept no uploads. */
export async function lockedPlatforms(transaction: Transaction, gameId: number): Promise<string[]> {
  const offered = await store.platformsOfGame(transaction, gameId);
  return offered.filter(({ locked }) => locked === 1).map(({ platform }) => platform);
}

/** The source that was added last and is neither deleted nor taken down. */
export const newestSource = (transaction: Transaction, modId: number) => store.newestSource(transaction, modId);
