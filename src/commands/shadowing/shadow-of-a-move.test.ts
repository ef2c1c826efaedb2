// Runs alone: it starts programs, which end with its process.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Api, startApi } from '../../../test/api.ts';
import { endOf, runHere, settingsOf, startProgram } from '../../../test/commands.ts';
import { crawl, PUBLIC_READS } from '../../../test/crawler.ts';
import { modComments } from '../../community/comments/operations.ts';
import { addDemo } from '../../demo/demo.ts';
import { issueKey } from '../../platform/access/credentials.ts';
import type { ShadowReport } from './run.ts';

const folder = mkdtempSync(join(tmpdir(), 'modstead-shadow-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const JOBS_OFF = { settings: { MODSTEAD_JOBS: 'off' } };
const [old, fresh] = [await startApi(JOBS_OFF), await startApi(JOBS_OFF)];
const demo = (await addDemo(old.app(), { mods: 12, pictured: 2 }))!;

/** The new service has everything of the old one. */
async function move(): Promise<void> {
  const run = async (api: Api, ...args: string[]) => {
    const { code, err } = await runHere(args, settingsOf(api));
    assert.equal(code, 0, err);
  };
  await run(old, 'export', join(folder, 'archive'));
  await run(fresh, 'import', join(folder, 'archive'), '--with-powers', '--trust');
  fresh.app().db.changes.everythingChanged();
}
await move();

const keyOf = (api: Api) => {
  const app = api.app();
  return app.db.write((transaction) => issueKey(app, transaction, { userId: demo.user.id }));
};
const [oldKey, newKey] = [await keyOf(old), await keyOf(fresh)];
const authorities = join(folder, 'authorities.pem');
writeFileSync(
  authorities,
  [old, fresh].map(({ service }) => readFileSync(service.certificateFile!, 'utf8')).join('\n'),
);

/** Runs the proxy as a studio does, drives every public read through it, and interrupts it. */
async function rehearse(
  ...more: string[]
): Promise<{ code: number | null; report: ShadowReport; visited: number; text: string }> {
  const file = join(folder, 'shadow.json');
  const addresses = [old, fresh].map(({ port }) => `https://localhost:${port}`);
  const child = startProgram(
    [
      'shadow',
      '--old',
      addresses[0]!,
      '--new',
      addresses[1]!,
      '--listen',
      '0',
      '--parallel',
      '16',
      '--report',
      file,
      ...more,
    ],
    { NODE_EXTRA_CA_CERTS: authorities, MODSTEAD_API_KEY: newKey },
  );
  const ended = endOf(child);
  const [said] = (await once(child.stderr!, 'data')) as [string];
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(said)?.[1]);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const visited = await crawl(old.app().db.query, (target) => read(agent, port, target));
  agent.destroy();
  child.kill('SIGINT');
  const { code, out, err } = await ended;
  assert.ok(!`${out}${err}`.includes(newKey) && !`${out}${err}`.includes(oldKey), 'no key is printed');
  return { code, report: JSON.parse(readFileSync(file, 'utf8')), visited, text: out };
}

function read(agent: Agent, port: number, target: string): Promise<{ status: number; text: string }> {
  const path = `/v1${target}${target.includes('?') ? '&' : '?'}api_key=${oldKey}`;
  return new Promise((resolve, reject) => {
    const outgoing = request({ agent, host: '127.0.0.1', port, path });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      incoming.on('end', () => resolve({ status: incoming.statusCode!, text }));
    });
    outgoing.end();
  });
}

test('a service that was moved gives an empty report over every public read, and a planted difference is named', async () => {
  const same = await rehearse();
  assert.deepEqual(same.report.differences, [], same.text);
  const { reads, equal, different, dropped, unreachable, ofUsers } = same.report;
  assert.deepEqual([different, dropped, unreachable, ofUsers, same.code], [0, 0, 0, 0, 0]);
  // Answers that are not JSON pass the proxy and are not compared.
  assert.ok(PUBLIC_READS.length > 40 && equal === reads && reads > same.visited * 0.9, `${reads} of ${same.visited}`);

  const comment = await fresh
    .app()
    .db.query.selectFrom('comments')
    .select(['id', 'game_id', 'resource_id', 'submitted_by'])
    .where('resource', '=', 'mods')
    .where('date_deleted', '=', 0)
    .orderBy('id')
    .executeTakeFirstOrThrow();
  const params = { game_id: comment.game_id, mod_id: comment.resource_id, comment_id: comment.id };
  const author = await fresh.as({ id: comment.submitted_by });
  const edited = await author.call(modComments.update, { params, body: { content: 'Planted' } });
  assert.equal(edited.status, 200, edited.text);

  // The first rehearsal has downloaded the files of the old service, which counts that.
  const counted = ['downloads_today', 'downloads_total'].flatMap((name) =>
    ['', 'stats.', 'data[].', 'data[].stats.'].map((within) => `--ignore=${within}${name}`),
  );
  const other = await rehearse(...counted);
  const found = other.report.differences.map(
    ({ operation, field, problem, count }) => `${count} ${operation} ${field} ${problem}`,
  );
  assert.deepEqual(found.sort(), [
    '1 GET /v1/games/{id}/mods/{id}/comments data[].content differs',
    '1 GET /v1/games/{id}/mods/{id}/comments/{id} content differs',
  ]);
  assert.match(other.text, /comments: data\[\]\.content differs, such as ".*" and "Planted" at \/v1\/games/);
  assert.deepEqual([other.code, other.report.different, other.report.equal], [1, 2, other.report.reads - 2]);
});
