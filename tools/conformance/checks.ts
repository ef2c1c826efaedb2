import { createHash } from 'node:crypto';
import { type Asked, exchange, type Reply, type Server, statusOfRaw } from './exchange.ts';
import { type Contract, operationAt, problemsOf, schemaOf } from './schemas.ts';

type Json = Record<string, unknown>;

/** What the checks know about the server. */
export interface Suite {
  readonly server: Server;
  readonly contract: Contract;
  readonly apiKey: string | undefined;
  readonly token: string | undefined;
  /** Also subscribes, rates, and takes both back. */
  readonly writes: boolean;
  readonly gameId: number | undefined;
  readonly now: () => number;
}

/** A game and a mod that the key can read, found before the checks. */
export interface Subject {
  readonly gameId: number;
  readonly mod: Json;
  readonly file: Json | undefined;
}

export interface Check {
  readonly id: string;
  readonly says: string;
  readonly needs?: 'file' | 'token' | 'writes';
  /** Returns what is wrong. */
  run(suite: Suite, subject: Subject): Promise<readonly string[]>;
}

const keyed = ({ apiKey }: Suite, asked: Asked = {}): Asked =>
  apiKey === undefined ? asked : { ...asked, query: { ...asked.query, api_key: apiKey } };
const read = (suite: Suite, path: string, asked?: Asked) => exchange(suite.server, 'GET', path, keyed(suite, asked));

const errorOf = ({ json }: Reply): Json => ((json as Json | undefined)?.['error'] ?? {}) as Json;
const pageOf = ({ json }: Reply) =>
  json as { data: Json[]; result_count: number; result_offset: number; result_limit: number; result_total: number };

/** Every response: JSON with its length, and an error that clients can read. */
function protocolProblems({ status, headers, bytes, json }: Reply): string[] {
  const problems: string[] = [];
  if (status !== 204 && json === undefined) problems.push(`status ${status} without a JSON body`);
  if (headers['transfer-encoding'] !== undefined) problems.push('the response is chunked');
  if (status !== 204 && Number(headers['content-length']) !== bytes.length) problems.push('no right Content-Length');
  if (status !== 429 && status !== 503 && headers['retry-after'] !== undefined)
    problems.push(`Retry-After with status ${status}`);
  if (status < 400) return problems;
  const { code, error_ref, message, errors } = errorOf({ status, headers, bytes, json });
  if (code !== status) problems.push(`error.code is ${code} with status ${status}`);
  if (!Number.isInteger(error_ref) || error_ref === 0) problems.push(`error.error_ref is ${error_ref}`);
  if (typeof message !== 'string') problems.push('error.message is no text');
  if (errors !== undefined && !Object.values(errors as Json).every((each) => typeof each === 'string'))
    problems.push('error.errors has values that are no texts');
  return problems;
}

function refusal(reply: Reply, status: number, refs: readonly number[]): string[] {
  const problems = protocolProblems(reply);
  if (reply.status !== status) problems.push(`status ${reply.status} instead of ${status}`);
  else if (!refs.includes(errorOf(reply)['error_ref'] as number))
    problems.push(`error_ref ${errorOf(reply)['error_ref']} instead of ${refs.join(' or ')}`);
  return problems;
}

const isAbsolute = (value: unknown) =>
  typeof value === 'string' && /^https?:\/\/[^/]+/.test(value) && URL.canParse(value);
const ADDRESS = /(?:_url|^url|^original|^thumb_\w+)$/;

function addressProblems(value: unknown, path = '$'): string[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => addressProblems(each, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    if (typeof each === 'object') return addressProblems(each, `${path}.${name}`);
    return ADDRESS.test(name) && !isAbsolute(each) ? [`${path}.${name} is ${JSON.stringify(each)}`] : [];
  });
}

/** Reads an operation and compares the answer with the contract. */
const readCheck = (template: string, says: string, pathOf: (subject: Subject) => string): Check => ({
  id: `read ${template}`,
  says,
  run: async (suite, subject) => {
    const reply = await read(suite, pathOf(subject));
    const problems = protocolProblems(reply);
    if (reply.status !== 200) return [...problems, `status ${reply.status}`];
    const schema = schemaOf(operationAt(suite.contract, 'GET', template), 200);
    if (schema) problems.push(...problemsOf(suite.contract, schema, reply.json));
    if (Array.isArray((reply.json as Json)['data'])) problems.push(...envelopeProblems(reply));
    return [...problems, ...addressProblems(reply.json)];
  },
});

function envelopeProblems(reply: Reply): string[] {
  const { data, result_count, result_offset, result_limit, result_total } = pageOf(reply);
  const problems: string[] = [];
  if (result_count !== data.length) problems.push(`result_count is ${result_count} for ${data.length} results`);
  if (data.length > result_limit || result_limit > 100) problems.push(`result_limit is ${result_limit}`);
  if (result_total < result_offset + data.length) problems.push(`result_total is ${result_total}`);
  return problems;
}

const ofGame = ({ gameId }: Subject) => `/games/${gameId}`;
const ofMod = (subject: Subject) => `${ofGame(subject)}/mods/${subject.mod['id']}`;
const mods = (suite: Suite, subject: Subject, query: Record<string, string>, headers: Record<string, string> = {}) =>
  read(suite, `${ofGame(subject)}/mods`, { query, headers });

const READS: readonly Check[] = [
  readCheck('/ping', 'The server answers.', () => '/ping'),
  readCheck('/games', 'Games are listed.', () => '/games'),
  readCheck('/games/{game_id}', 'A game is shown.', ofGame),
  readCheck('/games/{game_id}/stats', 'A game has statistics.', (subject) => `${ofGame(subject)}/stats`),
  readCheck('/games/{game_id}/tags', 'A game lists its tags.', (subject) => `${ofGame(subject)}/tags`),
  readCheck('/games/{game_id}/mods', 'Mods are listed.', (subject) => `${ofGame(subject)}/mods`),
  readCheck(
    '/games/{game_id}/mods/stats',
    'Statistics of mods are listed.',
    (subject) => `${ofGame(subject)}/mods/stats`,
  ),
  readCheck(
    '/games/{game_id}/mods/events',
    'Events of mods are listed.',
    (subject) => `${ofGame(subject)}/mods/events`,
  ),
  readCheck('/games/{game_id}/mods/{mod_id}', 'A mod is shown.', ofMod),
  ...(['stats', 'files', 'tags', 'metadatakvp', 'dependencies', 'team', 'comments'] as const).map((part) =>
    readCheck(`/games/{game_id}/mods/{mod_id}/${part}`, `A mod has ${part}.`, (subject) => `${ofMod(subject)}/${part}`),
  ),
];

const ERRORS: readonly Check[] = [
  {
    id: 'error without a key',
    says: 'A read without credentials is 401, 11000.',
    run: async ({ server }, subject) => refusal(await exchange(server, 'GET', `${ofMod(subject)}/team`), 401, [11_000]),
  },
  {
    id: 'error of a malformed key',
    says: 'A malformed key is 401, 11001.',
    run: async ({ server }) =>
      refusal(await exchange(server, 'GET', '/games', { query: { api_key: 'short' } }), 401, [11_001]),
  },
  {
    id: 'error of an unknown key',
    says: 'An unknown key is 401, 11002.',
    run: async ({ server }) =>
      refusal(
        await exchange(server, 'GET', '/games', { query: { api_key: '0123456789abcdef0123456789abcdef' } }),
        401,
        [11_002],
      ),
  },
  {
    id: 'error of a bad token',
    says: 'An unknown token is 401, 11005: clients sign the user in again.',
    run: async ({ server }) =>
      refusal(await exchange(server, 'GET', '/me', { headers: { authorization: 'Bearer made-up' } }), 401, [11_005]),
  },
  {
    id: 'error of an unknown game',
    says: 'An unknown game is 404, 14001.',
    run: async (suite) => refusal(await read(suite, '/games/999999999'), 404, [14_001]),
  },
  {
    id: 'error of an unknown mod',
    says: 'An unknown mod is 404, 15022.',
    run: async (suite, subject) => refusal(await read(suite, `${ofGame(subject)}/mods/999999999`), 404, [15_022]),
  },
  {
    id: 'error of an unknown route',
    says: 'An unknown route is 404, 14000, in JSON.',
    run: async (suite) => refusal(await read(suite, '/no/such/route'), 404, [14_000]),
  },
  {
    id: 'error of an invalid filter',
    says: 'An invalid value of a filter is 422, 13009, and names the field.',
    run: async (suite, subject) => {
      const reply = await mods(suite, subject, { id: 'x' });
      const errors = errorOf(reply)['errors'] as Json | undefined;
      return [
        ...refusal(reply, 422, [13_009]),
        ...(errors && 'id' in errors ? [] : ['error.errors does not name "id"']),
      ];
    },
  },
];

const isSorted = (values: readonly number[]) =>
  values.every((value, index) => index === 0 || values[index - 1]! >= value);

const LISTS: readonly Check[] = [
  {
    id: 'list limit',
    says: '`_limit` sets the page, and more than 100 counts as 100.',
    run: async (suite, subject) => {
      const one = pageOf(await mods(suite, subject, { _limit: '1' }));
      const many = pageOf(await mods(suite, subject, { _limit: '1000' }));
      return [
        ...(one.result_limit === 1 && one.data.length === 1 ? [] : [`_limit=1 gives ${one.data.length} results`]),
        ...(many.result_limit === 100 ? [] : [`_limit=1000 gives result_limit ${many.result_limit}`]),
        ...(one.result_total === many.result_total ? [] : ['result_total depends on _limit']),
      ];
    },
  },
  {
    id: 'list total',
    says: 'Pages end at `result_total`, and a page beyond is empty.',
    run: async (suite, subject) => {
      const { result_total: total } = pageOf(await mods(suite, subject, { _limit: '1' }));
      const last = pageOf(await mods(suite, subject, { _offset: String(Math.max(0, total - 1)) }));
      const beyond = pageOf(await mods(suite, subject, { _offset: String(total) }));
      return [
        ...(last.data.length === 1 ? [] : [`the last page has ${last.data.length} results`]),
        ...(beyond.data.length === 0 && beyond.result_count === 0 ? [] : ['a page beyond the end is not empty']),
      ];
    },
  },
  {
    id: 'list sort',
    says: '`_sort=-id` sorts by descending ids.',
    run: async (suite, subject) => {
      const ids = pageOf(await mods(suite, subject, { _sort: '-id' })).data.map(({ id }) => Number(id));
      return isSorted(ids) ? [] : [`the order is ${ids.slice(0, 5).join(', ')}`];
    },
  },
  {
    id: 'list filters',
    says: '`id`, `id-in` and `id-not-in` filter.',
    run: async (suite, subject) => {
      const id = String(subject.mod['id']);
      const named = pageOf(await mods(suite, subject, { 'id-in': id }));
      const others = pageOf(await mods(suite, subject, { 'id-not-in': id })).data;
      return [
        ...(named.data.length === 1 && String(named.data[0]!['id']) === id
          ? []
          : [`id-in=${id} gives ${named.data.length}`]),
        ...(others.some((each) => String(each['id']) === id) ? [`id-not-in=${id} contains it`] : []),
      ];
    },
  },
  {
    id: 'list unknown columns',
    says: 'Filters and sorts by unknown columns are ignored.',
    run: async (suite, subject) => {
      const reply = await mods(suite, subject, { 'tico-lk': '*x*', _sort: '-tico' });
      return reply.status === 200 && pageOf(reply).data.length > 0 ? [] : [`status ${reply.status}`];
    },
  },
];

const QUIRKS: readonly Check[] = [
  {
    id: 'quirk trailing slash',
    says: 'Paths may end with a slash.',
    run: async (suite, subject) => statusProblems(await read(suite, `${ofMod(subject)}/`)),
  },
  {
    id: 'quirk empty bearer',
    says: 'An empty bearer token falls back to the key.',
    run: async (suite, subject) =>
      statusProblems(await read(suite, ofMod(subject), { headers: { authorization: 'Bearer ' } })),
  },
  {
    id: 'quirk raw space',
    says: 'A raw space in a query is accepted.',
    run: async (suite, subject) => {
      const status = await statusOfRaw(suite.server, `${ofGame(subject)}/mods?_q=a b&api_key=${suite.apiKey ?? ''}`);
      return status === 200 ? [] : [`status ${status}`];
    },
  },
  {
    id: 'quirk platform header',
    says: 'Platforms are accepted in any case, and unknown portals are ignored.',
    run: async (suite, subject) =>
      statusProblems(
        await read(suite, ofMod(subject), { headers: { 'x-modio-platform': 'WINDOWS', 'x-modio-portal': 'Apply' } }),
      ),
  },
  {
    id: 'quirk content type of a read',
    says: 'Reads may carry the Content-Type of a form.',
    run: async (suite, subject) =>
      statusProblems(
        await read(suite, ofMod(subject), { headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
      ),
  },
  {
    id: 'quirk live file ids',
    says: 'Platforms without a live file are left out; ids are never 0.',
    run: async (suite, subject) => {
      const { json } = await read(suite, ofMod(subject));
      const platforms = ((json as Json)['platforms'] ?? []) as Json[];
      return platforms.some(({ modfile_live }) => !modfile_live) ? ['modfile_live is 0'] : [];
    },
  },
  {
    id: 'download without credentials',
    says: '`binary_url` is fetched without credentials, and with a key appended.',
    needs: 'file',
    run: async (suite, { file }) => {
      const { binary_url, date_expires } = file!['download'] as { binary_url: string; date_expires: number };
      const plain = await followed(suite, binary_url);
      const appended = await followed(
        suite,
        `${binary_url}${binary_url.includes('?') ? '&' : '?'}api_key=${suite.apiKey ?? ''}`,
      );
      return [
        ...(plain.status === 200 || plain.status === 206 ? [] : [`status ${plain.status} without credentials`]),
        ...(appended.status === 200 || appended.status === 206 ? [] : [`status ${appended.status} with a key`]),
        ...(date_expires > suite.now() ? [] : ['date_expires is past']),
      ];
    },
  },
  {
    id: 'download range',
    says: 'A range is answered with 206 and these bytes alone.',
    needs: 'file',
    run: async (suite, { file }) => {
      const { binary_url } = file!['download'] as { binary_url: string };
      const reply = await followed(suite, binary_url, { range: 'bytes=1-4' });
      return reply.status === 206 && reply.bytes.length === 4
        ? []
        : [`status ${reply.status} with ${reply.bytes.length} bytes`];
    },
  },
  {
    id: 'download digest',
    says: 'Length and MD5 of the file are those that are published.',
    needs: 'file',
    run: async (suite, { file }) => {
      const { binary_url } = file!['download'] as { binary_url: string };
      const { bytes } = await followed(suite, binary_url);
      const md5 = createHash('md5').update(bytes).digest('hex');
      return [
        ...(bytes.length === file!['filesize'] ? [] : [`${bytes.length} bytes instead of ${file!['filesize']}`]),
        ...(md5 === (file!['filehash'] as Json)['md5']
          ? []
          : [`MD5 ${md5} instead of ${(file!['filehash'] as Json)['md5']}`]),
      ];
    },
  },
];

const statusProblems = (reply: Reply): string[] =>
  reply.status === 200 ? protocolProblems(reply) : [`status ${reply.status}`, ...protocolProblems(reply)];

const REDIRECTS_MAX = 1;

async function followed({ server }: Suite, url: string, headers: Record<string, string> = {}): Promise<Reply> {
  let reply = await exchange(server, 'GET', url, { headers });
  for (
    let hop = 0;
    hop < REDIRECTS_MAX && reply.status >= 301 && reply.status < 400 && reply.headers['location'];
    hop++
  )
    reply = await exchange(server, 'GET', new URL(String(reply.headers['location']), url).href, { headers });
  return reply;
}

const signed = ({ token }: Suite): Record<string, string> => ({ authorization: `Bearer ${token}` });
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const SIGNED_IN: readonly Check[] = [
  ...(['/me', '/me/subscribed', '/me/games', '/me/mods', '/me/files', '/me/ratings', '/me/events'] as const).map(
    (path): Check => ({
      id: `read ${path}`,
      says: 'The user reads their own data.',
      needs: 'token',
      run: async (suite) => {
        const reply = await exchange(suite.server, 'GET', path, { headers: signed(suite) });
        const schema = schemaOf(operationAt(suite.contract, 'GET', path), 200);
        const problems = reply.status === 200 && schema ? problemsOf(suite.contract, schema, reply.json) : [];
        return [...statusProblems(reply), ...problems];
      },
    }),
  ),
  {
    id: 'write subscriptions',
    says: 'Subscribing twice is 200 or 15004, unsubscribing twice 15005, and both accept what shipped clients send.',
    needs: 'writes',
    run: async (suite, subject) => {
      const path = `${ofMod(subject)}/subscribe`;
      const send = (method: string, query: Record<string, string> = {}, body?: string) =>
        exchange(suite.server, method, path, {
          query,
          headers: { ...signed(suite), ...FORM },
          ...(body !== undefined && { body }),
        });
      await send('DELETE');
      const first = await send('POST', { include_dependencies: 'False' });
      const second = await send('POST');
      const gone = await send('DELETE', {}, 'unused=1');
      const again = await send('DELETE');
      return [
        ...(first.status === 201 && (first.json as Json)['id'] === subject.mod['id']
          ? []
          : [`subscribing is ${first.status}`]),
        // Clients take either for success.
        ...(second.status === 200 ? [] : refusal(second, 400, [15_004])),
        ...(gone.status === 204 ? [] : [`unsubscribing is ${gone.status}`]),
        ...refusal(again, 400, [15_005]),
      ];
    },
  },
  {
    id: 'write ratings',
    says: 'Ratings are accepted in the query with an empty body; the same rating twice is 15028.',
    needs: 'writes',
    run: async (suite, subject) => {
      const rate = (rating: string) =>
        exchange(suite.server, 'POST', `${ofMod(subject)}/ratings`, {
          query: { rating },
          headers: { ...signed(suite), ...FORM },
        });
      await rate('0');
      const first = await rate('1');
      const second = await rate('1');
      await rate('0');
      return [...(first.status === 201 ? [] : [`rating is ${first.status}`]), ...refusal(second, 400, [15_028])];
    },
  },
];

export const CHECKS: readonly Check[] = [...READS, ...ERRORS, ...LISTS, ...QUIRKS, ...SIGNED_IN];

/** A game with mods, and of its mods one with a file if there is one. */
export async function findSubject(suite: Suite): Promise<Subject> {
  const games = suite.gameId === undefined ? pageOf(await read(suite, '/games')).data : [{ id: suite.gameId }];
  for (const { id } of games) {
    const { data = [] } = pageOf(await read(suite, `/games/${id}/mods`, { query: { _limit: '100' } })) ?? {};
    const withFile = data.find(({ modfile }) => 'id' in ((modfile ?? {}) as Json));
    const mod = withFile ?? data[0];
    if (mod) return { gameId: Number(id), mod, file: withFile?.['modfile'] as Json | undefined };
  }
  throw new Error('The key sees no game with a mod, so there is nothing to check. Name a game with --game.');
}
