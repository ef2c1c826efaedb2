import { NewPackBody } from '../money/packs/changes.ts';
import { OPERATOR } from '../platform/access/caller.ts';
import { ApiError } from '../platform/errors/catalogue.ts';
import { validate } from '../platform/http/request/coerce.ts';
import { problemText } from './failure.ts';
import { command, idOf, misuse } from './invocation/command.ts';
import { requireKnownGame, withApp } from './operator.ts';

export default command({
  name: 'pack add',
  usage: '--game GAME_ID --name N --tokens N --price MINOR [--currency C] [--sku portal=SKU]…',
  says: `Adds a token pack to what a game sells.

The game sells once its monetization_options have the bit 1, as by "game set GAME_ID monetization_options=3 dependency_option=2".`,
  json: true,
  options: {
    game: { type: 'string', value: 'GAME_ID', required: true, says: 'the game' },
    name: { type: 'string', value: 'N', required: true, says: 'what buyers see' },
    tokens: { type: 'string', value: 'N', required: true, says: 'how many tokens it has' },
    price: { type: 'string', value: 'MINOR', required: true, says: 'in the smallest unit, such as cents' },
    currency: { type: 'string', value: 'C', says: 'ISO 4217, such as USD (default: that of the game’s terms)' },
    sku: { type: 'string', multiple: true, value: 'portal=SKU', says: 'what a store calls it, such as steam=1001' },
  },
  run: async ({ values, settings, environment }) => {
    const gameId = idOf(values.game, '--game');
    const { name, tokens, price, currency, sku = [] } = values;
    const fields = fieldsOf({
      name,
      tokens,
      price,
      ...(currency && { currency }),
      ...(sku.length > 0 && { skus: sku }),
    });
    return withApp(settings(), environment, async (app) => {
      const { addPack } = await import('../money/packs/packs.ts');
      await requireKnownGame(app, gameId);
      const pack = await addPack(app, OPERATOR, gameId, fields).catch(explain);
      return { object: { id: pack.id }, text: `Game ${gameId} sells ${pack.name} (pack ${pack.id}).` };
    });
  },
});

function fieldsOf(sent: Record<string, string | string[]>) {
  try {
    return validate(NewPackBody, sent);
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): never {
  throw error instanceof ApiError && error.fields ? misuse(error.fields.map(problemText).join(' ')) : error;
}
