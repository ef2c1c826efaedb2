import { issueKey, issueToken } from '../src/access/credentials.ts';
import { composeService, outsideOf } from '../src/compose.ts';
import { readSettings } from '../src/config/settings.ts';
import { fillGame } from '../src/resources/demo/filling.ts';
import { addGame } from '../src/resources/games/games.ts';
import { addUser } from '../src/resources/users/users.ts';

/** The service with a game full of mods, in a process of its own. A folder that was filled before is used again. */
const MODS = Number(process.env['BENCH_MODS']);
const settings = readSettings(process.env);
const service = await composeService(settings, outsideOf(settings));
const app = service.apps.production;
const { query } = app.db;

const known = await query.selectFrom('games').select(['id', 'submitted_by']).executeTakeFirst();
const game = known ?? (await app.db.write(newGame));
if (!known) await fillGame(app, { gameId: game.id, mods: MODS, seed: 'bench' });

async function newGame(transaction: Parameters<Parameters<typeof app.db.write>[0]>[0]) {
  const owner = await addUser(app, transaction, { username: 'Owner' });
  return addGame(app, transaction, { name: 'Full Game', ownerId: owner.id, accepted: true });
}

const { key, token } = await app.db.write(async (transaction) => ({
  key: await issueKey(app, transaction, { gameId: game.id }),
  token: (await issueToken(app, transaction, { userId: game.submitted_by })).access_token,
}));
const shown = query.selectFrom('mods').select('id').where('game_id', '=', game.id);
const mods = await shown
  .where('status', '=', 1)
  .where('visible', '=', 1)
  .orderBy('popularity', 'desc')
  .limit(64)
  .execute();

process.on('message', (message) => {
  if (message === 'cpu') process.send!(process.cpuUsage());
  if (message === 'figures') process.send!({ ...app.db.figures, rss: process.memoryUsage.rss() });
  if (message === 'stop') void service.stop().then(() => process.exit(0));
});
process.send!({ port: service.port, game: game.id, key, token, mods: mods.map(({ id }) => id) });
