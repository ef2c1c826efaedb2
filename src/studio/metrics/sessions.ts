import { requireGame } from '../../catalogue/games/games.ts';
import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { recordSession, type Step } from '../../records/metrics/sessions.ts';
import type { SessionReport } from '../../records/metrics/signing.ts';

export async function report(
  app: App,
  caller: Caller,
  gameId: number | undefined,
  step: Step,
  sent: SessionReport,
  platform = '',
): Promise<void> {
  if (gameId === undefined) throw new ApiError('GAME_NOT_FOUND');
  await requireGame(app.db, caller, gameId);
  const userId = caller.kind === 'user' ? caller.userId : 0;
  await recordSession(app, { gameId, platform }, userId, step, sent);
}
