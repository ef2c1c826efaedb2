import { composeService, outsideOf } from '../src/composition/compose.ts';
import { addUser } from '../src/people/users/users.ts';
import { issueKey, issueToken } from '../src/platform/access/credentials.ts';
import { readSettings } from '../src/platform/config/settings.ts';
import { insertMany } from '../src/platform/database/bulk.ts';

/** The service with a game full of mods, in its own process. */
const settings = readSettings(process.env);
const service = await composeService(settings, outsideOf(settings));
const app = service.apps.production;
const { query } = app.db;

const game = await query.selectFrom('games').select(['id', 'submitted_by']).executeTakeFirstOrThrow();

const MODS = 1_000;
const shown = query.selectFrom('mods').select('id').where('game_id', '=', game.id);
const byPopularity = await shown
  .where('status', '=', 1)
  .where('visible', '=', 1)
  .orderBy('popularity', 'desc')
  .execute();
/** Those that requests are about. */
const mods = byPopularity.slice(0, MODS);
const others = byPopularity.length > MODS ? byPopularity.slice(MODS) : byPopularity;

/** Many more than write at once, because the service takes a player who comments without a pause for spam. */
const PLAYERS = 1_024;
/** A table of subscriptions with a page or two is read as a whole, which no service with players does. */
const SUBSCRIPTIONS_OF_EACH = 20;
const { key, token, tokens } = await app.db.write(async (transaction) => {
  const tokenOf = async (userId: number) => (await issueToken(app, transaction, { userId })).access_token;
  const players: string[] = [];
  const rows: { user_id: number; mod_id: number; date_added: number }[] = [];
  for (let i = 0; i < PLAYERS; i += 1) {
    const { id } = await addUser(app, transaction, { username: `Player ${i}` });
    players.push(await tokenOf(id));
    for (let j = 0; j < SUBSCRIPTIONS_OF_EACH; j += 1)
      rows.push({ user_id: id, mod_id: others[(i * 7 + j) % others.length]!.id, date_added: app.clock.now() });
  }
  await insertMany({ transaction, dialect: app.db.dialect }, 'subscriptions', rows);
  const key = await issueKey(app, transaction, { gameId: game.id });
  return { key, token: await tokenOf(game.submitted_by), tokens: players };
});
if (app.db.dialect === 'postgres') await app.db.executeAlone('analyze subscriptions');

process.on('message', (message) => {
  if (message === 'cpu') process.send!(process.cpuUsage());
  if (message === 'metrics') process.send!({ ...app.db.counters, rss: process.memoryUsage.rss() });
  if (message === 'stop') void service.stop().then(() => process.exit(0));
});
// Without the program that measures it, the service would run for ever.
process.on('disconnect', () => process.exit());
process.send!({ port: service.port, game: game.id, key, token, tokens, mods: mods.map(({ id }) => id) });
