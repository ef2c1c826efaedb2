import { OPERATOR } from '../platform/access/caller.ts';
import { ApiError } from '../platform/errors/catalogue.ts';
import { LINKED_PORTALS, type LinkedPortal } from '../platform/vocabulary/game-platforms.ts';
import { fieldsOf, putAudited } from '../signin/portals/settings.ts';
import { columns, command, idOf, misuse } from './invocation/command.ts';
import { requireKnownGame, withApp } from './operator.ts';

export default command({
  name: 'portal set',
  usage: '--game GAME_ID --portal PORTAL KEY=VALUE…',
  says: 'Configures sign-in through a portal for a game. An empty value removes a setting.',
  json: true,
  options: {
    game: { type: 'string', value: 'GAME_ID', required: true, says: 'the game' },
    portal: { type: 'string', value: 'PORTAL', required: true, says: `one of ${LINKED_PORTALS.join(', ')}` },
  },
  positionals: true,
  run: async ({ values, positionals, settings, environment }) => {
    const gameId = idOf(values.game, '--game');
    const portal = LINKED_PORTALS.find((each) => each === values.portal);
    if (!portal) throw misuse(`--portal must be one of ${LINKED_PORTALS.join(', ')}, not "${values.portal}".`);
    const changes = changesOf(portal, positionals);
    return withApp(settings(), environment, async (app) => {
      await requireKnownGame(app, gameId);
      const shown = await app.db
        .write((transaction) => putAudited(app, transaction, OPERATOR, gameId, portal, changes))
        .catch(explain);
      const { fields, secrets } = shown;
      const lines = Object.entries(fields).map(([name, value]) => [name, [value].flat().join(', ')] as const);
      const hidden = secrets.map((name) => [name, '(set)'] as const);
      return {
        object: { portal, settings: fields, secrets },
        text: `Game ${gameId} now has these settings for ${portal}\n${columns([...lines, ...hidden])}`,
      };
    });
  },
});

/** Lists are separated by commas. */
function changesOf(portal: LinkedPortal, pairs: readonly string[]): Record<string, string | string[]> {
  const rules = fieldsOf(portal);
  if (pairs.length === 0) throw misuse(`Name a setting: ${Object.keys(rules).join(', ')}.`);
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
      const rule = rules[name];
      if (!rule) throw misuse(`"${pair}" is not KEY=VALUE with one of ${Object.keys(rules).join(', ')}.`);
      return [
        name,
        rule.list
          ? value
              .split(',')
              .map((each) => each.trim())
              .filter(Boolean)
          : value.trim(),
      ];
    }),
  );
}

function explain(error: unknown): never {
  if (!(error instanceof ApiError) || !error.fields) throw error;
  throw misuse(error.fields.map(({ field, rule }) => `The ${field} is ${rule}.`).join(' '));
}
