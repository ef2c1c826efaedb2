import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { auditGame } from '../../records/audit/audit.ts';
import { requireGame, requireGameForChange } from '../games/games.ts';
import { MANAGER, teamLevel } from '../teams/teams.ts';
import * as store from './store.ts';

/** Extensions that a game refuses in archives, and extensions that it reports to its team. */
export interface FileTypes {
  readonly refused: readonly string[];
  readonly reported: readonly string[];
}

/** The game's settings for file types; empty by default. */
export async function fileTypesOf(reader: Pick<Database, 'first'>, gameId: number): Promise<FileTypes> {
  const row = await store.fileTypesOf(reader, gameId);
  return { refused: JSON.parse(row?.refused ?? '[]'), reported: JSON.parse(row?.reported ?? '[]') };
}

export async function requireFileTypes(app: App, caller: Caller, gameId: number): Promise<FileTypes> {
  await requireGame(app.db, caller, gameId);
  return fileTypesOf(app.db, gameId);
}

/** For managers of the game. Existing files are not inspected again. */
export async function changeFileTypes(
  app: App,
  caller: UserCaller,
  gameId: number,
  changes: { readonly [K in keyof FileTypes]?: FileTypes[K] | undefined },
): Promise<FileTypes> {
  return app.db.write(async (transaction) => {
    await requireGameForChange(transaction, caller, gameId);
    if ((await teamLevel(transaction, caller, 'games', gameId)) < MANAGER)
      throw new ApiError('GAME_NO_UPDATE_PERMISSION');
    const before = await fileTypesOf(transaction, gameId);
    const { refused = before.refused, reported = before.reported } = changes;
    const row = { game_id: gameId, refused: JSON.stringify(refused), reported: JSON.stringify(reported) };
    await store.putFileTypes(transaction.query, row);
    await auditGame(app, transaction, caller, gameId, { action: 'file-types', data: { refused, reported } });
    return { refused, reported };
  });
}
