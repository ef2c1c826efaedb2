import { composeService, outsideOf } from '../src/composition/compose.ts';
import { issueKey, issueToken } from '../src/platform/access/credentials.ts';
import { readSettings } from '../src/platform/config/settings.ts';

/** The service with a game full of mods, in its own process. */
const settings = readSettings(process.env);
const service = await composeService(settings, outsideOf(settings));
const app = service.apps.production;
const { query } = app.db;

const game = await query.selectFrom('games').select(['id', 'submitted_by']).executeTakeFirstOrThrow();

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
  if (message === 'metrics') process.send!({ ...app.db.counters, rss: process.memoryUsage.rss() });
  if (message === 'stop') void service.stop().then(() => process.exit(0));
});
process.send!({ port: service.port, game: game.id, key, token, mods: mods.map(({ id }) => id) });
