// Runs alone: it starts a program, and its checks hold many connections.
// Runs on one database: it tests a client of the API.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { editGameOperation } from '../src/catalogue/games/operations.ts';
import { CHECKS, type Suite } from '../tools/conformance/checks.ts';
import { isGenuine, type Report, runChecks, signReport, textOf } from '../tools/conformance/report.ts';
import { startApi } from './api.ts';
import { endOf } from './commands.ts';

const api = await startApi({ settings: { MODSTEAD_TRUST_PROXY: '127.0.0.1' } });
const game = await api.aGame();
const team = await api.as(game.owner);
const settings = { 'platforms[0][platform]': 'windows' } as never;
await team.call(editGameOperation, { params: { game_id: game.id }, body: settings });
for (const _ of [1, 2, 3]) await api.aFile(await api.aMod({ game, owner: game.owner }));
const contract = JSON.parse(readFileSync(join(import.meta.dirname, '../contract/openapi.json'), 'utf8'));
const player = await api.as(await api.aUser());

interface Passing {
  /** Of the request; changed before it is forwarded. */
  url: string;
  readonly method: string;
  readonly headers: Record<string, string | string[] | undefined>;
}
interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  readonly url: string;
}
/** A way in which a server of this dialect can be wrong, and the check that has to find it. */
interface Fault {
  readonly found: string;
  before?(passing: Passing): Partial<Answer> | undefined;
  behind?(answer: Answer): void;
  readonly chunked?: true;
}

/** The JSON of any answer. */
// biome-ignore lint/suspicious/noExplicitAny: the faults reach into whatever the service answers
type AnyJson = any;

const inJson = (change: (json: AnyJson, answer: Answer) => void) => (answer: Answer) => {
  if (!String(answer.headers['content-type']).includes('json') || answer.text === '') return;
  const json = JSON.parse(answer.text);
  change(json, answer);
  answer.text = JSON.stringify(json);
};
const inMods = (change: (mod: AnyJson) => void) =>
  inJson((json) => {
    for (const mod of [json, ...(json.data ?? [])]) if (mod.metadata_kvp) change(mod);
  });
const refusing = (status: number, error_ref: number): Partial<Answer> => ({
  status,
  headers: { 'content-type': 'application/json' },
  text: JSON.stringify({ error: { code: status, error_ref, message: 'No.' } }),
});
const isDownload = ({ url }: { url: string }) => url.includes('/download');
const without = (passing: Passing, name: string) => {
  const url = new URL(passing.url, 'https://x');
  url.searchParams.delete(name);
  passing.url = url.pathname + url.search;
  return undefined;
};
const MOD = 'read /games/{game_id}/mods/{mod_id}';
const LIST = 'read /games/{game_id}/mods';

const FAULTS: Record<string, Fault> = {
  'a boolean as a number': { found: MOD, behind: inMods((mod) => Object.assign(mod, { dependencies: 0 })) },
  'a number as a text': { found: MOD, behind: inMods((mod) => Object.assign(mod, { price: '0' })) },
  'a list as an object': { found: MOD, behind: inMods((mod) => Object.assign(mod, { metadata_kvp: {} })) },
  'a missing field': { found: LIST, behind: inMods((mod) => Reflect.deleteProperty(mod, 'name_id')) },
  'an empty address': { found: MOD, behind: inMods((mod) => Object.assign(mod, { profile_url: '' })) },
  'an id of 0 in platforms': {
    found: 'quirk live file ids',
    behind: inMods((mod) => mod.platforms.push({ platform: 'ps5', modfile_live: 0 })),
  },
  'an error_ref of 0': {
    found: 'error of an unknown mod',
    behind: inJson((json) => json.error && Object.assign(json.error, { error_ref: 0 })),
  },
  'an error without a code': {
    found: 'error of an unknown game',
    behind: inJson((json) => json.error && Reflect.deleteProperty(json.error, 'code')),
  },
  'an error page in HTML': {
    found: 'error of an unknown route',
    before: ({ url }) =>
      url.includes('/no/such') ? { status: 404, headers: { 'content-type': 'text/html' }, text: '<p>No' } : undefined,
  },
  'another error for a bad token': {
    found: 'error of a bad token',
    behind: (answer) =>
      void (answer.status === 401 && answer.text.includes('11005') && Object.assign(answer, refusing(403, 11_004))),
  },
  'no field names in a validation error': {
    found: 'error of an invalid filter',
    behind: inJson((json) => json.error && Reflect.deleteProperty(json.error, 'errors')),
  },
  'Retry-After on an error': {
    found: 'error of an unknown mod',
    behind: (answer) => void (answer.status === 404 && Object.assign(answer.headers, { 'retry-after': '5' })),
  },
  'chunked responses': { found: MOD, chunked: true },
  'a wrong total': {
    found: 'list total',
    behind: inJson((json) => json.data && Object.assign(json, { result_total: json.result_total + 1 })),
  },
  'a wrong count': {
    found: LIST,
    behind: inJson((json) => json.data && Object.assign(json, { result_count: json.result_count + 1 })),
  },
  'pages of any length': { found: 'list limit', before: (passing) => without(passing, '_limit') },
  'an ignored sort': { found: 'list sort', before: (passing) => without(passing, '_sort') },
  'an ignored filter': { found: 'list filters', before: (passing) => without(passing, 'id-in') },
  'refused unknown filters': {
    found: 'list unknown columns',
    before: ({ url }) => (url.includes('tico') ? refusing(422, 13_009) : undefined),
  },
  'refused slashes': {
    found: 'quirk trailing slash',
    before: ({ url }) => (/\/(\?|$)/.test(url) ? refusing(404, 14_000) : undefined),
  },
  'a refused empty token': {
    found: 'quirk empty bearer',
    before: ({ headers }) => (/^Bearer\s*$/.test(String(headers['authorization'])) ? refusing(401, 11_005) : undefined),
  },
  'platforms by their case': {
    found: 'quirk platform header',
    before: ({ headers }) => (headers['x-modio-platform'] === 'WINDOWS' ? refusing(422, 13_009) : undefined),
  },
  'downloads with credentials alone': {
    found: 'download without credentials',
    before: (passing) => (isDownload(passing) && !passing.url.includes('api_key') ? refusing(401, 11_000) : undefined),
  },
  'expired links': {
    found: 'download without credentials',
    behind: inMods((mod) => mod.modfile.download && Object.assign(mod.modfile.download, { date_expires: 1 })),
  },
  'ignored ranges': { found: 'download range', before: ({ headers }) => void delete headers['range'] },
  'a wrong digest': {
    found: 'download digest',
    behind: inMods((mod) => mod.modfile.filehash && Object.assign(mod.modfile.filehash, { md5: '0'.repeat(32) })),
  },
  'unsubscribing twice': {
    found: 'write subscriptions',
    behind: (answer) => void (answer.text.includes('15005') && Object.assign(answer, { status: 204, text: '' })),
  },
};

let fault: Fault = { found: '' };

/** A deliberately broken copy of the service: every answer passes the current fault. */
const proxy = createServer((incoming, outgoing) => {
  const passing: Passing = { url: incoming.url!, method: incoming.method!, headers: { ...incoming.headers } };
  const instead = fault.before?.(passing);
  const reply = (answer: Answer, bytes: Buffer | undefined) => {
    fault.behind?.(answer);
    const sent = bytes ?? Buffer.from(answer.text);
    const { 'transfer-encoding': _, 'content-length': length, connection: __, ...headers } = answer.headers;
    outgoing.writeHead(answer.status, fault.chunked ? headers : { ...headers, 'content-length': String(sent.length) });
    if (fault.chunked) outgoing.write(sent);
    outgoing.end(fault.chunked ? undefined : sent);
    void length;
  };
  if (instead) {
    incoming.resume();
    return reply({ status: 500, headers: {}, text: '', url: passing.url, ...instead }, undefined);
  }
  const onwards = request({
    host: '127.0.0.1',
    port: api.port,
    method: passing.method,
    path: passing.url,
    headers: { ...passing.headers, 'x-forwarded-proto': 'https' },
  });
  onwards.on('error', () => outgoing.destroy());
  onwards.on('response', (response: IncomingMessage) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk) => chunks.push(chunk));
    response.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const isText = String(response.headers['content-type']).includes('json');
      const answer = {
        status: response.statusCode!,
        headers: { ...response.headers },
        text: isText ? String(bytes) : '',
        url: passing.url,
      };
      reply(answer, isText ? undefined : bytes);
    });
  });
  incoming.pipe(onwards);
});
await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
after(() => proxy.close());

const suiteAt = (connect: URL | undefined): Suite => ({
  server: { base: new URL(`https://localhost:${api.port}/v1`), connect, timeoutMs: 60_000 },
  contract,
  apiKey: game.api_key,
  token: player.token,
  writes: true,
  gameId: game.id,
  now: () => api.clock.now(),
});
const throughProxy = () => suiteAt(new URL(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`));
const failedIn = (report: Report) => report.checks.filter(({ result }) => result === 'failed').map(({ id }) => id);
/** Node.js refuses such a request line, so the copy cannot answer it; the service itself does. */
const BEYOND_PROXY = 'quirk raw space';

test('the suite passes on this service, and signs its report', async () => {
  fault = { found: '' };
  const report = await runChecks(throughProxy());
  assert.deepEqual(failedIn(report), [BEYOND_PROXY], textOf(report));
  assert.equal(report.skipped, 0);
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  for (const signed of [signReport(report, pem), signReport(report)]) {
    assert.ok(isGenuine(signed));
    assert.ok(isGenuine(JSON.parse(JSON.stringify(signed))));
    assert.ok(!isGenuine({ ...signed, report: { ...report, failed: 0, passed: 99 } }));
  }
});

test('the suite finds every planted fault', async () => {
  assert.ok(Object.keys(FAULTS).length >= 20);
  const missed: string[] = [];
  for (const [name, planted] of Object.entries(FAULTS)) {
    fault = planted;
    const report = await runChecks(
      throughProxy(),
      CHECKS.filter(({ id }) => id === planted.found),
    ).catch((error: Error) => error.message);
    const found = typeof report === 'string' ? [report] : failedIn(report);
    if (!found.includes(planted.found)) missed.push(`${name}: ${found.join(', ')}`);
  }
  fault = { found: '' };
  assert.deepEqual(missed, []);
});

/** Runs the program as `npm run conformance` does, straight to the service. */
async function runSuite(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const address = `https://localhost:${api.port}`;
  const given = ['--url', address, '--connect', address, '--api-key', game.api_key, '--game', String(game.id), ...args];
  const child = spawn(process.execPath, ['tools/conformance.ts', ...given], {
    cwd: join(import.meta.dirname, '..'),
    env: { PATH: process.env['PATH'], ...env },
  });
  return endOf(child);
}

test('over TLS the program trusts the authorities of --ca or of NODE_EXTRA_CA_CERTS, and nobody else', async () => {
  const ca = api.service.certificateFile!;
  for (const ended of [await runSuite(['--ca', ca]), await runSuite([], { NODE_EXTRA_CA_CERTS: ca })]) {
    assert.equal(ended.code, 0, ended.out + ended.err);
    assert.match(ended.out, /signed by /);
  }
  const stranger = await runSuite([]);
  assert.notEqual(stranger.code, 0);
  assert.match(stranger.out + stranger.err, /certificate/);
});
