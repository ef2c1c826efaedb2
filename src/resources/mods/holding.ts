import type { Caller, UserCaller } from '../../access/caller.ts';
import type { App } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { noteHold, ruled, type Said } from '../rules/judging.ts';
import { MOD_ACCEPTED, MOD_NOT_ACCEPTED } from './access.ts';
import { applyModChanges, type ModRow, requireModForChange } from './mods.ts';

/** Until the game's team accepts the mod, no file does. */
export const holdMod = (app: App, transaction: Transaction, mod: Pick<ModRow, 'id' | 'game_id'>, by: Said) =>
  noteHold(app, transaction, 'mods', mod, by);

/**
 * What is handed in for a mod is held against the rules of its game. Where one of them wants the game's team to look
 * first, the whole mod waits. Answers the mod as it is then.
 */
export async function ruledMod<M extends { readonly id: number; readonly game_id: number; readonly status: number }>(
  app: App,
  transaction: Transaction,
  caller: Caller,
  mod: M,
): Promise<M> {
  const { held } = await ruled(app, transaction, caller, mod.game_id);
  if (!held) return mod;
  await holdMod(app, transaction, mod, held);
  if (mod.status !== MOD_ACCEPTED) return mod;
  const row = await requireModForChange(transaction, caller, mod.game_id, mod.id);
  await applyModChanges(app, transaction, row, { status: MOD_NOT_ACCEPTED }, (caller as UserCaller).userId);
  return { ...mod, status: MOD_NOT_ACCEPTED };
}
