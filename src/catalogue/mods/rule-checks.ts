import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { checkRules, putOnHold, type RuleVersion, recordOutcome, type Verdict } from '../rules/evaluation.ts';
import { MOD_ACCEPTED, MOD_NOT_ACCEPTED } from './access.ts';
import { applyModChanges, type ModRow, requireModForChange } from './mods.ts';

/** Records that the mod waits for the game's team. New files do not make it accepted meanwhile. */
export const holdModForReview = (
  app: App,
  transaction: Transaction,
  mod: Pick<ModRow, 'id' | 'game_id'>,
  by: RuleVersion,
) => putOnHold(app, transaction, 'mods', mod, by);

export const recordOutcomeForMod = (
  app: App,
  transaction: Transaction,
  verdict: Verdict,
  { id, game_id, submitted_by }: Pick<ModRow, 'id' | 'game_id' | 'submitted_by'>,
) => recordOutcome(app, transaction, verdict, { resource: 'mods', id, gameId: game_id, authorId: submitted_by });

/**
 * Applies the game's rules to a submission for a mod. If a rule holds the submission, the whole mod waits for the
 * game's team; returns the mod with its new status.
 */
export async function applyRulesToMod<M extends Pick<ModRow, 'id' | 'game_id' | 'status' | 'submitted_by'>>(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  mod: M,
): Promise<M> {
  const verdict = await checkRules(app, transaction, caller, mod.game_id);
  await recordOutcomeForMod(app, transaction, verdict, mod);
  const { held } = verdict;
  if (!held) return mod;
  await holdModForReview(app, transaction, mod, held);
  if (mod.status !== MOD_ACCEPTED) return mod;
  const row = await requireModForChange(transaction, caller, mod.game_id, mod.id);
  await applyModChanges(app, transaction, row, { status: MOD_NOT_ACCEPTED }, caller.userId);
  return { ...mod, status: MOD_NOT_ACCEPTED };
}
