import { addGame } from '../src/catalogue/games/games.ts';
import { builtSite } from '../src/commands/site-build.ts';
import { composeService, outsideOf } from '../src/composition/compose.ts';
import { addUser } from '../src/people/users/users.ts';
import { createAuthenticator } from '../src/platform/access/authenticate.ts';
import { reader } from '../src/platform/access/caller.ts';
import { issueToken } from '../src/platform/access/credentials.ts';
import { readSettings } from '../src/platform/config/settings.ts';

/** The service with content for the benchmarks, in its own process. */
const settings = readSettings(process.env);
const service = await composeService(settings, outsideOf(settings), { site: builtSite() });
const app = service.apps.production;
const GAMES = 200;
const WRITERS = 64;

const content = await app.db.write(async (transaction) => {
  const owner = await addUser(app, transaction, { username: 'Owner' });
  let first: Awaited<ReturnType<typeof addGame>> | undefined;
  for (let i = 0; i < GAMES; i += 1) {
    const game = await addGame(app, transaction, {
      name: `Bench Game ${i}`,
      ownerId: owner.id,
      accepted: true,
      summary:
        'A game with a summary of the usual length, so that its object has the usual size in every list that shows it.',
      tagGroups: [
        {
          name: 'Theme',
          type: 'checkboxes',
          tags: ['Audio', 'Cheating', 'Environment', 'Gameplay', 'Visual', 'Quality of life'],
        },
        { name: 'Version', type: 'dropdown', hidden: true, tags: ['1.0', '1.1', '1.2', '2.0'] },
      ],
    });
    first ??= game;
  }
  const tokens: string[] = [];
  for (let i = 0; i < WRITERS; i += 1)
    tokens.push((await issueToken(app, transaction, { userId: owner.id })).access_token);
  const others: number[] = [];
  for (let i = 0; i < WRITERS; i += 1) others.push((await addUser(app, transaction, { username: `Other ${i}` })).id);
  return { game: first!.id, key: first!.api_key, tokens, others };
});

const CHECKS = 1_000_000;

/** The cost of authenticating a token that is already cached. */
function microsecondsPerTokenCheck(): number {
  const [bearer] = content.tokens;
  const check = () => authenticator.authenticate(reader(), 'GET', { bearer, apiKey: undefined });
  const before = process.cpuUsage();
  for (let i = 0; i < CHECKS; i += 1) void check();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CHECKS;
}

const authenticator = createAuthenticator(app);
await authenticator.authenticate(reader(), 'GET', { bearer: content.tokens[0], apiKey: undefined });

process.on('message', (message) => {
  if (message === 'token check') process.send!(microsecondsPerTokenCheck());
  if (message === 'cpu') process.send!(process.cpuUsage());
  if (message === 'metrics') process.send!({ ...app.db.counters, rss: process.memoryUsage.rss() });
  if (message === 'stop') void service.stop().then(() => process.exit(0));
});
process.send!({ port: service.port, ...content });
