import { composeService, outsideOf } from '../src/composition/compose.ts';
import { addUser } from '../src/people/users/users.ts';
import { issueKey, issueToken } from '../src/platform/access/credentials.ts';
import { readSettings } from '../src/platform/config/settings.ts';

/** The service with a game full of mods, in its own process. */
const settings = readSettings(process.env);
const service = await composeService(settings, outsideOf(settings));
const app = service.apps.production;
const { query } = app.db;

const game = await query.selectFrom('games').select(['id', 'submitted_by']).executeTakeFirstOrThrow();

/** Many more than write at once, because the service takes a player who comments without a pause for spam. */
const PLAYERS = 1_024;
const { key, token, tokens } = await app.db.write(async (transaction) => {
  const tokenOf = async (userId: number) => (await issueToken(app, transaction, { userId })).access_token;
  const players: string[] = [];
  for (let i = 0; i < PLAYERS; i += 1)
    players.push(await tokenOf((await addUser(app, transaction, { username: `Player ${i}` })).id));
  const key = await issueKey(app, transaction, { gameId: game.id });
  return { key, token: await tokenOf(game.submitted_by), tokens: players };
});
const shown = query.selectFrom('mods').select('id').where('game_id', '=', game.id);
const mods = await shown
  .where('status', '=', 1)
  .where('visible', '=', 1)
  .orderBy('popularity', 'desc')
  .limit(1_000)
  .execute();

process.on('message', (message) => {
  if (message === 'cpu') process.send!(process.cpuUsage());
  if (message === 'metrics') process.send!({ ...app.db.counters, rss: process.memoryUsage.rss() });
  if (message === 'stop') void service.stop().then(() => process.exit(0));
});
// Without the program that measures it, the service would run for ever.
process.on('disconnect', () => process.exit());
process.send!({ port: service.port, game: game.id, key, token, tokens, mods: mods.map(({ id }) => id) });
