import { GAME_ACCEPTED } from '../../catalogue/games/games.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError, type ValidationRule } from '../../platform/errors/catalogue.ts';
import {
  confusableRuns,
  confusableSkeleton,
  confusableSkeletons,
  confusableWords,
  withoutRun,
} from '../../platform/filters/confusables.ts';
import { resemblesService } from '../../platform/filters/reserved-names.ts';
import * as store from './store.ts';

/** Shorter game names are common words, so they are protected only as whole names. */
const WITHIN_LETTERS_MIN = 5;

/** Purposes of applications. A name made of these alone identifies no application, so every game may use it. */
const GENERIC: ReadonlySet<string> = new Set(
  [
    ...['app', 'application', 'backend', 'bot', 'client', 'community', 'companion', 'console', 'dashboard', 'desktop'],
    ...['discord', 'forum', 'game', 'home', 'hub', 'launcher', 'login', 'manager', 'mobile', 'mod', 'mods', 'portal'],
    ...['server', 'shop', 'site', 'store', 'test', 'tool', 'tools', 'tv', 'web', 'website', 'wiki', 'workshop'],
  ].map(confusableSkeleton),
);

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
  if (!client.isShown || isGeneric(client.name)) return;
  const applications = await store.shownClientNames(transaction.query, client.gameId);
  if (applications.some(({ name }) => !isGeneric(name) && isTaken(name))) refuse('name_of_another');
}

const isGeneric = (name: string): boolean => confusableWords(name).every((word) => GENERIC.has(word));

/** Whether a name contains another one, in any script. */
function takenIn(name: string, own: string): (other: string) => boolean {
  const spellings = [name, name.toLowerCase()].map((text) => withoutRun(confusableWords(text), own));
  const whole = new Set(spellings.map((words) => words.join('')));
  const runs = new Set(spellings.flatMap((words) => [...confusableRuns(words)]));
  return (other) =>
    confusableSkeletons(other).some(
      (skeleton) =>
        skeleton !== '' && (whole.has(skeleton) || (skeleton.length >= WITHIN_LETTERS_MIN && runs.has(skeleton))),
    );
}

function refuse(rule: ValidationRule): never {
  throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'name', rule }] });
}
