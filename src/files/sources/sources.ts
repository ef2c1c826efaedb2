import { isValidLink } from '../../catalogue/live-files/links.ts';
import { requireModByLink } from '../../catalogue/mods/access.ts';
import { OPERATOR, type UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { isScanPassed } from '../../platform/scanning/states.ts';
import { cancelCooksOfSource, cookNewSource } from '../cooks/cooks.ts';
import { deleteModfile, type Incoming, type ModfileRow, type ModPath, type NewFile } from '../modfiles/modfiles.ts';
import { addSource, findSource } from '../modfiles/sources.ts';

/** Adds a source, and cooks it at once if the game does so. */
export const addCookedSource = (app: App, caller: UserCaller, which: ModPath, incoming: Incoming, fields: NewFile) =>
  addSource(app, caller, which, incoming, fields, (transaction, _, source) =>
    cookNewSource(app, transaction, source, fields.active),
  );

export const deleteSource = (app: App, caller: UserCaller, which: ModPath, sourceId: number): Promise<void> =>
  deleteModfile(app, caller, which, sourceId, {
    kind: 'source',
    deleted: (transaction) => cancelCooksOfSource(app, transaction, sourceId),
  });

/** By a signed link. The current state of the source decides, not that at signing. */
export async function requireSourceByLink(
  app: App,
  { gameId, modId }: ModPath,
  sourceId: number,
  segment: string,
): Promise<ModfileRow> {
  const source = await findSource(app.db, sourceId);
  const isMeant = source?.mod_id === modId && source.game_id === gameId;
  if (!isMeant || !isValidLink(app, source, segment, app.clock.now()) || !isScanPassed(source, app.settings))
    throw new ApiError('MODFILE_NOT_FOUND');
  await requireModByLink(app.db, OPERATOR, gameId, modId);
  return source;
}
