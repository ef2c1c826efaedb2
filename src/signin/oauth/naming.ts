import { GAME_ACCEPTED } from '../../catalogue/games/games.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError, type ValidationRule } from '../../platform/errors/catalogue.ts';
import {
  areConfusable,
  confusableRuns,
  confusableSkeletons,
  confusableWords,
  withoutRun,
} from '../../platform/filters/confusables.ts';
import { distinctiveWords } from '../../platform/filters/generic-words.ts';
import { resemblesService } from '../../platform/filters/reserved-names.ts';
import * as store from './store.ts';

/** Shorter game names are common words, so they are protected only as whole names. */
const WITHIN_LETTERS_MIN = 5;

export interface Named {
  readonly gameId: number;
  readonly name: string;
  /** Whether users see the name on the consent page. */
  readonly isShown: boolean;
}

/**
 * Refuses a name that users could confuse with the service, its staff, another game or another game’s application. Only
 * names of accepted games are protected, and only accepted games may use their own, so that nobody reserves a name by
 * adding a game. The lock serialises naming until the commit.
 */
export async function requireClientName(app: App, transaction: Transaction, client: Named): Promise<void> {
  await store.lockNames(transaction);
  const game = await store.gameShown(transaction.query, client.gameId);
  const own = game?.status === GAME_ACCEPTED ? game.name : '';
  if (resemblesService(client.name, app.settings.domain, own)) refuse('name_reserved');
  const isTaken = takenIn(client.name, own);
  for (let after = 0, names: store.NamedRow[]; ; after = names.at(-1)!.id) {
    names = await store.gameNames(transaction, client.gameId, after);
    if (names.some(({ name }) => isTaken(name))) refuse('name_of_another');
    if (names.length < store.NAMES_AT_ONCE) break;
  }
  if (!client.isShown) return;
  const applications = await store.shownClientNames(transaction.query, client.gameId);
  if (applications.some(({ name }) => sameApplication(name, client.name))) refuse('name_of_another');
}

const spellingsOf = (name: string): string[] =>
  [name, name.toLowerCase()].map((text) => distinctiveWords(text).join('')).filter((spelling) => spelling !== '');

/** Whether two names differ in generic words alone: `Cloud Atlas Login`. A word may occur in many names: `Sky Planner`. */
function sameApplication(one: string, other: string): boolean {
  const others = spellingsOf(other);
  return spellingsOf(one).some((spelling) => others.includes(spelling));
}

/** Whether a name contains that of another game, in any script. */
function takenIn(name: string, own: string): (other: string) => boolean {
  const spellings = [name, name.toLowerCase()].map((text) => withoutRun(confusableWords(text), own));
  const whole = new Set(spellings.map((words) => words.join('')));
  const runs = new Set(spellings.flatMap((words) => [...confusableRuns(words)]));
  return (other) => {
    // A game with a generic name has it as a whole only: `Skyport Workshop` names another one.
    if (distinctiveWords(other).length === 0) return areConfusable(name, other);
    return confusableSkeletons(other).some(
      (skeleton) =>
        skeleton !== '' && (whole.has(skeleton) || (skeleton.length >= WITHIN_LETTERS_MIN && runs.has(skeleton))),
    );
  };
}

function refuse(rule: ValidationRule): never {
  throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'name', rule }] });
}
