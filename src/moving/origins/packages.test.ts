// Runs alone: it starts programs, which end with its process.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { type Api, startApi } from '../../../test/api.ts';
import { runHere, settingsOf } from '../../../test/commands.ts';
import { readerOf } from '../../../test/crawler.ts';
import { zipOf } from '../../../test/zips.ts';
import { issueKey } from '../../platform/access/credentials.ts';

const folder = mkdtempSync(join(tmpdir(), 'modstead-packages-'));
after(() => rmSync(folder, { recursive: true, force: true }));

type Answers = (url: URL, request: IncomingMessage) => unknown;

/** A site over a real socket. Objects are answered as JSON, buffers as files, strings as redirects. */
async function startSite(t: TestContext, answers: Answers): Promise<string> {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const answer = answers(new URL(request.url!, 'http://site'), request);
    if (answer === undefined)
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"Not found."}');
    else if (typeof answer === 'string') response.writeHead(302, { location: answer }).end();
    else if (Buffer.isBuffer(answer)) response.writeHead(200, { 'content-type': 'application/zip' }).end(answer);
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const run = (api: Api, ...args: string[]) =>
  runHere([...args, '--json'], { ...settingsOf(api), MODSTEAD_EGRESS_ALLOW: '127.0.0.0/8' });

interface Shown {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly submitted_by: { readonly username: string };
  readonly tags: readonly { readonly name: string }[];
  readonly dependencies: boolean;
  readonly date_added: number;
  readonly stats: { readonly downloads_total: number };
  readonly modfile: { readonly version: string; readonly filehash: { readonly md5: string } };
}

/** The mods of the only game, by name. */
async function modsOf(api: Api) {
  const app = api.app();
  app.db.changes.everythingChanged();
  const user = await app.db.query.selectFrom('users').select('id').limit(1).executeTakeFirstOrThrow();
  const api_key = await app.db.write((transaction) => issueKey(app, transaction, { userId: user.id }));
  const { text } = await readerOf(api.withKey({ api_key }))('/games/1/mods?_sort=name');
  return (JSON.parse(text).data as Shown[]).map((mod) => ({
    name: mod.name,
    author: mod.submitted_by.username,
    summary: mod.summary,
    tags: mod.tags.map(({ name }) => name),
    needs: mod.dependencies,
    added: mod.date_added,
    downloads: mod.stats.downloads_total,
    version: mod.modfile?.version,
    md5: mod.modfile?.filehash.md5,
  }));
}

const archive = (name: string) => zipOf({ [`${name}.txt`]: name });
const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');
const DATE = '2024-01-02T03:04:05.000Z';
const ADDED = Date.parse(DATE) / 1_000;

test('the packages of a Thunderstore community become mods with versions and dependencies', async (t) => {
  const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
  let isRenewed = false;
  const version = (full_name: string, version_number: string, dependencies: string[]) => ({
    name: full_name.split('-')[1],
    full_name: `${full_name}-${version_number}`,
    description: `About ${full_name}`,
    icon: `${site}/icons/${full_name}.png`,
    version_number,
    dependencies,
    download_url: `${site}/package/download/${full_name}-${version_number}`,
    downloads: 5,
    date_created: version_number === '2.0.0' ? '2024-05-01T00:00:00Z' : DATE,
    website_url: 'javascript:alert(1)',
    is_active: true,
    uuid4: full_name,
    file_size: 100,
  });
  const listed = (full_name: string, versions: object[], categories: string[]) => ({
    name: full_name.split('-')[1],
    full_name,
    owner: full_name.split('-')[0],
    package_url: `${site}/c/game/p/${full_name}`,
    date_created: DATE,
    date_updated: isRenewed ? '2024-06-01T00:00:00Z' : DATE,
    uuid4: full_name,
    rating_score: 3,
    is_pinned: false,
    is_deprecated: false,
    has_nsfw_content: false,
    categories,
    versions,
  });
  const site: string = await startSite(t, (url) => {
    if (url.pathname === '/c/game/api/v1/package/')
      return [
        listed(
          'Ada-Sharp_Sword',
          [version('Ada-Sharp_Sword', '2.0.0', ['Bob-Core-1.0.0']), version('Ada-Sharp_Sword', '1.0.0', [])],
          ['Weapons'],
        ),
        listed(
          'Bob-Core',
          [version('Bob-Core', '1.0.0', ['Gone-Library-1.0.0'])],
          isRenewed ? ['Libraries', 'Tools'] : ['Libraries'],
        ),
      ];
    const [, name] = /^\/package\/download\/(.+)$/.exec(url.pathname) ?? [];
    if (name) return `/cdn/${name}`;
    return url.pathname.startsWith('/cdn/') ? archive(url.pathname.slice(5)) : undefined;
  });
  const args = [
    'import',
    'thunderstore',
    join(folder, 'thunderstore'),
    '--url',
    site,
    '--of',
    'game',
    '--name',
    'Game',
  ];
  const { code, err, out } = await run(api, ...args);
  assert.equal(code, 0, err);
  const { refusals, problems } = JSON.parse(out);
  assert.deepEqual(
    problems.map((text: string) => /^picture/.test(text)),
    [true, true],
  );
  assert.equal(refusals.length, 1, 'the dependency on a package that is not listed');
  assert.deepEqual(await modsOf(api), [
    {
      name: 'Core',
      author: 'Bob',
      summary: 'About Bob-Core',
      tags: ['Libraries'],
      needs: false,
      added: ADDED,
      downloads: 5,
      version: '1.0.0',
      md5: md5(archive('Bob-Core-1.0.0')),
    },
    {
      name: 'Sharp Sword',
      author: 'Ada',
      summary: 'About Ada-Sharp_Sword',
      tags: ['Weapons'],
      needs: true,
      added: ADDED,
      downloads: 10,
      version: '2.0.0',
      md5: md5(archive('Ada-Sharp_Sword-2.0.0')),
    },
  ]);
  const files = await api.app().db.query.selectFrom('modfiles').select('version').execute();
  assert.equal(files.length, 3);
  isRenewed = true;
  const again = await run(api, ...args);
  assert.equal(again.code, 0, again.err);
  const after = await modsOf(api);
  assert.deepEqual([after.length, after[0]!.tags.sort()], [2, ['Libraries', 'Tools']]);
});

test('the projects that Modrinth finds become mods; a file without its digest is reported', async (t) => {
  const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
  const good = archive('good');
  const hashes = { sha1: 'unused', sha512: createHash('sha512').update(good).digest('hex') };
  const version = (id: string, number: string, path: string, dependencies: object[]) => ({
    id,
    project_id: 'AANobbMI',
    author_id: 'x',
    name: number,
    version_number: number,
    changelog: 'Better',
    date_published: number === '2.0' ? '2024-05-01T00:00:00Z' : DATE,
    downloads: 1,
    version_type: 'release',
    files: [{ hashes, url: `${site}${path}`, filename: 'mod.jar', primary: true, size: good.length, file_type: null }],
    dependencies,
    game_versions: ['1.20'],
    loaders: ['fabric'],
  });
  const site: string = await startSite(t, (url) => {
    if (url.pathname === '/v2/search') {
      assert.equal(url.searchParams.get('facets'), '[["project_type:mod"]]');
      return {
        hits: [{ project_id: 'AANobbMI', slug: 'sodium', author: 'jelly', title: 'Sodium' }],
        offset: 0,
        limit: 100,
        total_hits: 1,
      };
    }
    if (url.pathname === '/v2/projects')
      return [
        {
          id: 'AANobbMI',
          slug: 'sodium',
          title: 'Sodium',
          description: 'Fast',
          body: '# Fast\n\n<script>alert(1)</script>',
          published: DATE,
          updated: DATE,
          downloads: 7,
          followers: 2,
          icon_url: null,
          categories: ['optimization'],
          additional_categories: [],
          gallery: [],
          source_url: 'https://example.com/sodium',
        },
      ];
    if (url.pathname === '/v2/project/AANobbMI/version')
      return [
        version('v1', '1.0', '/data/bad', []),
        version('v2', '2.0', '/data/good', [
          { version_id: null, project_id: null, file_name: 'x', dependency_type: 'required' },
        ]),
      ];
    if (url.pathname === '/data/good') return good;
    return url.pathname === '/data/bad' ? archive('bad') : undefined;
  });
  const { code, err, out } = await run(
    api,
    'import',
    'modrinth',
    join(folder, 'modrinth'),
    '--url',
    `${site}/v2`,
    '--of',
    '[["project_type:mod"]]',
    '--name',
    'Game',
  );
  assert.equal(code, 0, err);
  const { problems, refusals } = JSON.parse(out);
  assert.deepEqual(refusals, []);
  assert.match(problems.join(), /version v1: .* does not have the sha512/);
  assert.deepEqual(await modsOf(api), [
    {
      name: 'Sodium',
      author: 'jelly',
      summary: 'Fast',
      tags: ['optimization'],
      needs: false,
      added: ADDED,
      downloads: 7,
      version: '2.0',
      md5: md5(good),
    },
  ]);
  const { description } = await api.app().db.query.selectFrom('mods').select('description').executeTakeFirstOrThrow();
  assert.ok(description.includes('&lt;script&gt;') && !description.includes('<script>'));
});

test('the packages of a ContentDB become mods, and hosts that nobody allowed are not asked', async (t) => {
  const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
  const detail = (author: string, name: string) => ({
    author,
    name,
    title: `${name} title`,
    short_description: `Short ${name}`,
    long_description: 'Long',
    created_at: DATE,
    type: 'mod',
    website: null,
    repo: null,
    tags: ['building'],
    downloads: 3,
    content_warnings: [],
    screenshots: ['http://127.0.0.2:9/secret.png'],
    state: 'APPROVED',
    release: 1,
    url: `${site}/packages/${author}/${name}/download/`,
  });
  const site: string = await startSite(t, (url) => {
    if (url.pathname === '/api/packages/')
      return [
        { author: 'ann', name: 'doors', release: 2, title: 'x', type: 'mod', short_description: 's' },
        { author: 'ann', name: 'base', release: 1, title: 'y', type: 'mod', short_description: 's' },
      ];
    const [, author, name, more] = /^\/api\/packages\/(\w+)\/(\w+)\/(\w*)/.exec(url.pathname) ?? [];
    if (author && name && more === '') return detail(author, name);
    if (more === 'releases')
      return [
        {
          id: name === 'doors' ? 2 : 1,
          name: '1.1',
          title: 'One',
          release_date: DATE,
          release_notes: null,
          url: `/uploads/${name}.zip`,
          commit: null,
          downloads: 0,
        },
      ];
    if (more === 'dependencies')
      return name === 'doors'
        ? {
            'ann/doors': [
              { is_optional: false, name: 'base', packages: ['ann/base'] },
              { is_optional: true, name: 'x', packages: ['z/x'] },
            ],
          }
        : { 'ann/base': [] };
    const [, file] = /^\/uploads\/(\w+)\.zip$/.exec(url.pathname) ?? [];
    return file ? archive(file) : undefined;
  });
  const { code, err, out } = await run(
    api,
    'import',
    'contentdb',
    join(folder, 'contentdb'),
    '--url',
    site,
    '--name',
    'Game',
  );
  assert.equal(code, 0, err);
  const { problems, refusals } = JSON.parse(out);
  assert.deepEqual(refusals, []);
  assert.deepEqual(
    problems.map((text: string) => /127\.0\.0\.2:9 is not allowed/.test(text)),
    [true, true],
  );
  const mods = await modsOf(api);
  assert.deepEqual(
    mods.map(({ name, needs, version, downloads }) => [name, needs, version, downloads]),
    [
      ['base title', false, '1.1', 3],
      ['doors title', true, '1.1', 3],
    ],
  );
});
