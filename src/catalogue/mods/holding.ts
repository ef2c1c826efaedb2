import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { carryOut, noteHold, ruled, type Said, type Verdict } from '../rules/judging.ts';
import { MOD_ACCEPTED, MOD_NOT_ACCEPTED } from './access.ts';
import { applyModChanges, type ModRow, requireModForChange } from './mods.ts';

/** Until the game's team accepts the mod, no file does. */
export const holdMod = (app: App, transaction: Transaction, mod: Pick<ModRow, 'id' | 'game_id'>, by: Said) =>
  noteHold(app, transaction, 'mods', mod, by);

export const carryOutForMod = (
  app: App,
  transaction: Transaction,
  verdict: Verdict,
  { id, game_id, submitted_by }: Pick<ModRow, 'id' | 'game_id' | 'submitted_by'>,
) => carryOut(app, transaction, verdict, { resource: 'mods', id, gameId: game_id, authorId: submitted_by });

/**
 * What is handed in for a mod is held against the rules of its game. Where one of them wants the game's team to look
 * first, the whole mod waits. Answers the mod as it is then.
 */
export async function ruledMod<M extends Pick<ModRow, 'id' | 'game_id' | 'status' | 'submitted_by'>>(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  mod: M,
): Promise<M> {
  const verdict = await ruled(app, transaction, caller, mod.game_id);
  await carryOutForMod(app, transaction, verdict, mod);
  const { held } = verdict;
  if (!held) return mod;
  await holdMod(app, transaction, mod, held);
  if (mod.status !== MOD_ACCEPTED) return mod;
  const row = await requireModForChange(transaction, caller, mod.game_id, mod.id);
  await applyModChanges(app, transaction, row, { status: MOD_NOT_ACCEPTED }, caller.userId);
  return { ...mod, status: MOD_NOT_ACCEPTED };
}
