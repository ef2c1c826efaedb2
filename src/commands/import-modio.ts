import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Claim, Piece } from '../moving/origins/modio-reader.ts';
import { command, idOf, misuse, Refusal } from './invocation/command.ts';
import { withApp } from './operator.ts';

export default command({
  name: 'import modio',
  usage: 'FOLDER --url URL --game GAME_ID --api-key KEY [--token TOKEN] […]',
  says: `Imports a game from another server of this API, with its ids, through the API alone.

FOLDER keeps what was fetched: a run that was interrupted continues, and the next one fetches only what has changed
since, and removes what was removed there. What was changed here meanwhile stays, and the report names it.
Requests are few at once and pause when the server asks for it. Run it nightly before a switch, with the same token.
Users become placeholders that their owners claim by signing in with the address or portal account of --claims.`,
  json: true,
  positionals: true,
  options: {
    url: { type: 'string', value: 'URL', required: true, says: 'the API, such as https://g-1.modapi.io/v1' },
    game: { type: 'string', value: 'GAME_ID', required: true, says: 'the game there' },
    'api-key': { type: 'string', value: 'KEY', required: true, says: 'an API key of the game' },
    token: { type: 'string', value: 'TOKEN', says: 'an access token of a team member, who sees more' },
    'allow-host': {
      type: 'string',
      value: 'HOST',
      multiple: true,
      says: 'files may also come from this host (repeatable)',
    },
    without: {
      type: 'string',
      value: 'PIECE',
      multiple: true,
      says: 'files, media, comments, teams, guides or collections (repeatable)',
    },
    claims: {
      type: 'string',
      value: 'FILE',
      says: 'lines such as {"user_id":7,"email":"…"} or with portal and portal_id',
    },
    'people-tokens': {
      type: 'string',
      value: 'FILE',
      says: 'tokens of people who agreed that subscriptions and ratings move',
    },
    parallel: { type: 'string', value: 'N', says: 'requests at once, from 1 to 32 (default: 4)' },
    'with-powers': { type: 'boolean', says: 'also take the team of the game' },
    overwrite: { type: 'boolean', says: 'also replace and remove what was changed here since the last import' },
    'fetch-only': { type: 'boolean', says: 'write the archive and import nothing' },
    'dry-run': { type: 'boolean', says: 'fetch, count what would be taken, and import nothing' },
  },
  run: async ({ positionals, values, settings, environment, json }) => {
    const [folder, more] = positionals;
    if (folder === undefined || more !== undefined) throw misuse('Name one folder for what is fetched.');
    const game = idOf(values.game, '--game');
    const { ModioOrigin } = await import('../moving/origins/modio.ts');
    const { PIECES } = await import('../moving/origins/modio-reader.ts');
    for (const piece of values.without)
      if (!PIECES.includes(piece as Piece)) throw misuse(`--without must be one of ${PIECES.join(', ')}.`);
    const claims = await linesOf(values.claims);
    const peopleTokens = await linesOf(values['people-tokens']);
    return withApp(settings(), environment, async (app) => {
      const { Fetcher } = await import('../moving/origins/fetcher.ts');
      const { KeptConnections } = await import('../platform/egress/egress.ts');
      const { importFetched } = await import('./import-fetched.ts');
      const { keptOf } = await import('../records/imports/store.ts');
      const connections = new KeptConnections();
      const fetcherWith = (token: string | undefined) =>
        new Fetcher(app.egress, {
          base: values.url,
          query: { api_key: values['api-key'] },
          headers: token ? { authorization: `Bearer ${token}` } : {},
          hosts: values['allow-host'],
          connections,
          parallel: parallelOf(values.parallel),
        });
      const fetcher = fetcherWith(values.token);
      const source = `${fetcher.base.href}games/${game}`;
      const keptMods = await keptOf(app.db.query, source, 'mods');
      return importFetched(app, {
        folder: resolve(folder),
        source,
        powers: values['with-powers'],
        overwrite: values.overwrite,
        isFetchOnly: values['fetch-only'],
        isDryRun: values['dry-run'],
        isQuiet: json,
        fetch: (work, progress) =>
          new ModioOrigin(fetcher, work, {
            game,
            without: new Set(values.without as Piece[]),
            peopleTokens,
            claims: claims.map(claimOf),
            fetcherWith,
            keptMods,
            now: () => app.clock.now(),
            isMember: values.token !== undefined,
            ...(progress && { progress }),
          })
            .fetch()
            .finally(() => connections.close()),
      });
    });
  },
});

async function linesOf(file: string | undefined): Promise<string[]> {
  if (file === undefined) return [];
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Refusal(`${file} cannot be read.`);
  });
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function claimOf(line: string): Claim {
  try {
    const claim = JSON.parse(line) as Claim;
    if (Number.isSafeInteger(claim.user_id)) return claim;
  } catch {}
  throw misuse(`--claims: ${line.slice(0, 80)} is not a claim such as {"user_id":7,"email":"ada@example.com"}.`);
}

const PARALLEL_MAX = 32;

export function parallelOf(text: string | undefined): number {
  const number = text === undefined ? 4 : Number(text);
  if (!Number.isInteger(number) || number < 1 || number > PARALLEL_MAX)
    throw misuse(`--parallel must be a whole number from 1 to ${PARALLEL_MAX}.`);
  return number;
}
