import type { z } from 'zod';
import { OperatorChangesBody } from '../catalogue/games/changes.ts';
import { OPERATOR } from '../platform/access/caller.ts';
import { ApiError } from '../platform/errors/catalogue.ts';
import { validate } from '../platform/http/request/coerce.ts';
import {
  assign,
  type Fields,
  type FieldValue,
  isFields,
  newFormTree,
  toFields,
} from '../platform/http/request/forms.ts';
import { problemText } from './failure.ts';
import { columns, command, idOf, misuse, PROGRAM } from './invocation/command.ts';
import { auditCommand, requireKnownGame, withApp } from './operator.ts';

const KEYS = Object.keys(OperatorChangesBody.shape);

export default command({
  name: 'game set',
  usage: 'GAME_ID key=value …',
  says: `Changes settings of a game and prints the result.

Keys are ${KEYS.slice(0, -1).join(', ')} and ${KEYS.at(-1)}.
summary_length_max is how many characters the summary of a mod may have, 200 to 2,000, for games that move in with
longer ones.
Lists and objects are given in parts, as theme[primary]=#1A2B3C, or whole, as JSON.`,
  json: true,
  positionals: true,
  options: {},
  run: async ({ positionals, settings, environment }) => {
    const [id, ...pairs] = positionals;
    if (id === undefined || pairs.length === 0)
      throw misuse(`"game set" needs a game's id and key=value; "${PROGRAM} game set --help" lists the keys.`);
    const gameId = idOf(id, 'GAME_ID');
    const changes = changesOf(pairs);
    return withApp(settings(), environment, async (app) => {
      const { applyGameChanges, requireGameDocument } = await import('../catalogue/games/games.ts');
      await requireKnownGame(app, gameId);
      await app.db.write(async (transaction) => {
        await applyGameChanges(app, transaction, gameId, changes, 'en');
        const fields = Object.keys(changes);
        await auditCommand(app, transaction, 'games.edit', { resource: 'games', id: gameId, gameId }, { fields });
      });
      const { body } = await requireGameDocument(app.db, OPERATOR, gameId, 'en', true);
      const { takedown_reports, summary_length_max } = await requireKnownGame(app, gameId);
      const game: Record<string, unknown> = { ...JSON.parse(`${body}}`), takedown_reports, summary_length_max };
      const shown = Object.keys(changes).map((key) => [key, JSON.stringify(game[key])] as const);
      return { object: game, text: `Game ${gameId} has now\n${columns(shown)}` };
    });
  },
});

/** Checks every pair, so that one error names all problems. */
function changesOf(pairs: readonly string[]): z.output<typeof OperatorChangesBody> {
  const problems: string[] = [];
  const fields = fieldsOf(pairs, problems);
  try {
    const changes = validate(OperatorChangesBody, fields);
    for (const key of Object.keys(fields)) if (!(key in changes)) problems.push(`The ${key} needs a value.`);
    if (problems.length === 0) return changes;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    problems.push(...(error.fields ?? []).map(problemText));
  }
  throw misuse(problems.join(' '));
}

function fieldsOf(pairs: readonly string[], problems: string[]): Fields {
  const tree = newFormTree();
  const whole: Fields = {};
  for (const pair of pairs) {
    const [, path = '', key = '', value] = /^(([^=[\]]*)[^=]*)=(.*)$/s.exec(pair) ?? [];
    if (value === undefined) problems.push(`"${pair}" is not key=value.`);
    else if (!KEYS.includes(key)) problems.push(`"${key}" is not a setting of a game.`);
    else if (path === key && isStructured(key) && /^[[{]/.test(value)) readJson(key, value, whole, problems);
    else assign(tree, path, value);
  }
  return { ...toFields(tree), ...whole };
}

const isStructured = (key: string) => ['theme', 'other_urls', 'platforms'].includes(key);

function readJson(key: string, text: string, fields: Fields, problems: string[]): void {
  try {
    const value = JSON.parse(text) as FieldValue;
    if (isFields(value) || Array.isArray(value)) fields[key] = value;
  } catch {
    problems.push(`The ${key} is not valid JSON.`);
  }
}
