// Runs alone: it starts a child process.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startApi } from '../api.ts';
import { aClient, Browser, decideOnDevice, REDIRECT } from '../browser.ts';
import { codesSentTo } from '../mails.ts';
import { steamTicket } from '../platforms.ts';
import { temporaryFolder } from '../temporary.ts';
import { zipOf } from '../zips.ts';
import { clientOf } from './fetching.ts';
import { examples } from './readme.ts';

const api = await startApi();
const game = await api.aGame();
const mod = await api.aMod({ game, owner: game.owner });
const owner = clientOf(api, { token: (await api.as(game.owner)).token });
const folder = temporaryFolder('client-readme');

/** Runs in the child before the examples; `ask` and the output go to the test. */
const PRELUDE = `
import dns from 'node:dns';
const { lookup } = dns;
dns.lookup = (host, ...rest) => lookup(host.endsWith('.localhost') ? 'localhost' : host, ...rest);
const stored = new Map();
let answer;
process.on('message', (message) => message.given ? Object.assign(globalThis, message.given) : answer(message.answer));
globalThis.storage = { getItem: (key) => stored.get(key) ?? null, setItem: (key, value) => stored.set(key, value), removeItem: (key) => stored.delete(key) };
globalThis.ask = (question) => new Promise((resolve) => { answer = resolve; process.send({ question }); });
console.log = (...words) => process.send({ said: words.join(' ') });
await new Promise((resolve) => process.once('message', resolve));
const send = fetch;
globalThis.fetch = (input, init) => send(Object.assign(new URL(input), { port: new URL(url).port }), init);
for (const file of process.argv.slice(2)) {
  await import(file);
  process.send({ ran: file });
}
process.disconnect();
`;

async function answerTo(question: string): Promise<string> {
  if (question.startsWith('The code')) return codesSentTo(api, 'ada@example.com').at(-1)!;
  const authorize = /Go to (\S+)\. /.exec(question)?.[1];
  if (!authorize) return 'yes';
  const { pathname, search } = new URL(authorize);
  const browser = new Browser(api);
  const consent = await browser.signIn(pathname + search, 'oauth@example.org');
  const returned = new URL((await browser.submit(consent, { decision: 'allow' })).headers.location!);
  // The service of the tests announces addresses without its port.
  returned.searchParams.set('iss', `https://localhost:${api.port}`);
  return returned.href;
}

async function given(): Promise<Record<string, unknown>> {
  const key = randomBytes(32);
  const portal = { portal: 'steam', app_id: '480', ticket_key: key.toString('hex') } as const;
  await owner.call('PUT /games/{game_id}/portals/{portal}', { game_id: game.id, ...portal });
  const registered = await aClient(api, { gameId: game.id, requiresPkce: true });
  const fan = clientOf(api, { token: (await api.as(await api.aUser())).token });
  const target = { game_id: game.id, mod_id: mod.id };
  await fan.call('POST /games/{game_id}/mods/{mod_id}/comments', { ...target, content: 'Fine' });
  return {
    url: `https://localhost:${api.port}`,
    key: game.api_key,
    token: (await api.as(game.owner)).token,
    gameId: game.id,
    modId: mod.id,
    clientId: registered.client_id,
    clientSecret: registered.client_secret,
    redirectUri: REDIRECT,
    steamTicket: steamTicket({ key, appId: 480, issued: api.clock.now(), steamId: 76_561_197_960_287_998n }),
  };
}

test('every example of the README runs against a service', async () => {
  const source = (name: string) => pathToFileURL(path.resolve('client/src', name)).href;
  const replaced: Record<string, string> = {
    "'@modstead/client'": source('index.ts'),
    "'@modstead/client/node'": source('node/files.ts'),
    "'@modstead/client/error-refs'": source('contract/error-refs.ts'),
    "'@modstead/client/md5-worker'": source('downloads/md5-worker.ts'),
  };
  const files = examples().map((code, index) => {
    const file = path.join(folder, `example-${index}.ts`);
    writeFileSync(
      file,
      code.replaceAll(/'@modstead\/client[^']*'/g, (name) => `'${replaced[name]}'`),
    );
    return file;
  });
  writeFileSync(path.join(folder, 'prelude.mjs'), PRELUDE);
  writeFileSync(path.join(folder, 'mod.zip'), zipOf({ 'readme.txt': 'Read me' }));
  const child = fork(path.join(folder, 'prelude.mjs'), files, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...process.env, NODE_EXTRA_CA_CERTS: api.service.certificateFile! },
  });
  const ran: string[] = [];
  const said: string[] = [];
  let err = '';
  child.stderr!.setEncoding('utf8').on('data', (text) => (err += text));
  child.on('message', async (message: { question?: string; said?: string; ran?: string }) => {
    if (message.question !== undefined) child.send({ answer: await answerTo(message.question) });
    if (message.ran !== undefined) ran.push(message.ran);
    if (message.said === undefined) return;
    said.push(message.said);
    const [, code] = /^Open .*code=(\S+)/.exec(message.said) ?? [];
    if (code) await decideOnDevice(api, code, 'allow', 'device@example.org');
  });
  child.send({ given: await given() });
  const exitCode = await new Promise((resolve) => child.on('close', resolve));
  assert.deepEqual([exitCode, ran], [0, files], err);
  assert.ok(said.includes('There is no such mod.'), said.join('\n'));
});
