import { addGame } from '../src/catalogue/games/games.ts';
import { composeService, outsideOf } from '../src/composition/compose.ts';
import { fillGame } from '../src/demo/filling.ts';
import { addUser } from '../src/people/users/users.ts';
import { readSettings } from '../src/platform/config/settings.ts';

/**
 * Fills a game with mods, in a folder that later runs reuse. It has its own process, so that the memory it needs does
 * not count for the service.
 */
const settings = readSettings(process.env);
const service = await composeService(settings, outsideOf(settings));
const app = service.apps.production;
const known = await app.db.query.selectFrom('games').select('id').executeTakeFirst();
if (!known) {
  const game = await app.db.write(async (transaction) => {
    const owner = await addUser(app, transaction, { username: 'Owner' });
    return addGame(app, transaction, { name: 'Full Game', ownerId: owner.id, accepted: true });
  });
  await fillGame(app, { gameId: game.id, mods: Number(process.env['BENCH_MODS']), seed: 'bench' });
}
await service.stop();
process.send!('filled');
process.disconnect!();
