// Runs on one database: the operations of the guides have tests of their own on both.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { delegationToken } from '../src/signin/oauth/operations.ts';
import { startApi } from './api.ts';
import { aClient } from './browser.ts';
import { runHere, settingsOf } from './commands.ts';
import { aPack, aSellingGame, walletOf } from './money.ts';
import { temporaryFolder } from './temporary.ts';

const api = await startApi({
  settings: { MODSTEAD_JOBS: 'off', MODSTEAD_PAYMENTS: 'simulated', MODSTEAD_PUBLIC_PORT: '8443' },
});
const execute = promisify(execFile);

const isInstalled = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));

const without = (...programs: string[]): { skip: string | false } => {
  const missing = programs.filter((program) => !isInstalled(program));
  return { skip: missing.length > 0 && `${missing.join(', ')} not installed` };
};

/** The contents of the fenced blocks of a guide, in these languages. */
const blocksOf = (guide: string, languages: string): { language: string; text: string }[] =>
  [...readFileSync(guide, 'utf8').matchAll(new RegExp(`^\`\`\`(${languages})\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, language, text]) => ({ language: language!, text: text! }),
  );

async function listening(answer: RequestListener): Promise<{ port: number; [Symbol.asyncDispose](): Promise<void> }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function bodyOf(request: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** `npx modstead` in the test's process, because each start of the program takes a second. */
function commands(): RequestListener {
  const settings = settingsOf(api);
  return async (request, response) => {
    const [name, ...args] = (await bodyOf(request)).toString().trimEnd().split('\n');
    const { code, out, err } = await runHere(args, settings);
    response.end(name === 'modstead' ? `${code}\n${out}${err}` : '1\n');
  };
}

const NPX = (port: number) => `#!/bin/sh
answer=$(printf '%s\\n' "$@" | command curl -qsS --data-binary @- http://127.0.0.1:${port}/)
printf '%s\\n' "$answer" | tail -n +2
exit "$(printf '%s' "$answer" | head -n 1)"
`;

test(
  'the commands of the guide to a first sale print what it shows',
  without('bash', 'curl', 'jq', 'zip'),
  async () => {
    await using runner = await listening(commands());
    const folder = temporaryFolder('guide');
    writeFileSync(join(folder, 'npx'), NPX(runner.port));
    chmodSync(join(folder, 'npx'), 0o755);
    writeFileSync(join(folder, '.curlrc'), `connect-to = "::127.0.0.1:${api.port}"\n`);
    const [start, ...blocks] = blocksOf('docs/selling.md', 'sh|text');
    assert.match(start!.text, /^npx modstead serve/);
    const textsOf = (wanted: string) => blocks.filter(({ language }) => language === wanted).map(({ text }) => text);
    const env = { PATH: `${folder}${delimiter}${process.env['PATH']}`, CURL_HOME: folder, LANG: 'C.UTF-8' };
    const script = `set -euo pipefail\n${textsOf('sh').join('')}`;
    const { stdout } = await execute('bash', ['-c', script], { cwd: folder, env });
    assert.equal(stdout, textsOf('text').join(''));
  },
);

interface Sale {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  balance(): Promise<number>;
}

/** What the programs of the guide for backends need: a game with a pack, a client of it, and a player. */
async function aSale(port: number): Promise<Sale> {
  const game = await aSellingGame(api);
  await aPack(api, game, { tokens: 100, skus: ['steam=coins'] });
  const player = await api.as(await api.aUser(), { gameId: game.id });
  const client = await aClient(api, { gameId: game.id });
  const env = {
    PATH: process.env['PATH'],
    API: `http://127.0.0.1:${port}/v1`,
    CLIENT_ID: String(client.client_id),
    CLIENT_SECRET: client.client_secret,
    DELEGATION: (await player.call(delegationToken)).body.token,
    ORDER: api.unique('order'),
  };
  return { env, cwd: temporaryFolder('backend'), balance: async () => (await walletOf(player, game)).balance };
}

/** A proxy that terminates TLS, so that no program has to trust a certificate. */
const proxied: RequestListener = async (request, response) => {
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => !['host', 'connection', 'transfer-encoding'].includes(name)),
  ) as Record<string, string>;
  const body = await bodyOf(request);
  const answer = await api.request(request.method!, request.url!, { headers, body });
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text);
};

interface Program {
  readonly file: string;
  readonly needs: readonly string[];
  readonly run: (sale: Sale) => Promise<{ stdout: string }>;
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  ts: { file: 'sale.ts', needs: [], run: (sale) => execute(process.execPath, ['sale.ts'], sale) },
  python: { file: 'sale.py', needs: ['python3'], run: (sale) => execute('python3', ['sale.py'], sale) },
  csharp: {
    file: 'Program.cs',
    needs: ['mcs', 'mono'],
    run: async (sale) => {
      const [, options] = /`mcs (.+) Program\.cs`/.exec(readFileSync('docs/backend.md', 'utf8'))!;
      await execute('mcs', [...options!.split(' '), 'Program.cs'], sale);
      return execute('mono', ['Program.exe'], sale);
    },
  },
};

for (const [language, { file, needs, run }] of Object.entries(PROGRAMS))
  test(`the ${language} program of the guide for backends sells a pack, once`, without(...needs), async () => {
    await using proxy = await listening(proxied);
    const sale = await aSale(proxy.port);
    const [program] = blocksOf('docs/backend.md', language);
    writeFileSync(join(sale.cwd, file), program!.text);
    for (const _ of ['sold', 'repeated']) assert.equal((await run(sale)).stdout, 'PAID\n');
    assert.equal(await sale.balance(), 100);
  });
