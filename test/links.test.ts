import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { getGame, getGames } from '../src/catalogue/games/operations.ts';
import { editModByPut, getMod, getMods } from '../src/catalogue/mods/operations.ts';
import { builtSite } from '../src/commands/site-build.ts';
import { addCollectionOperation, getModCollection } from '../src/community/collections/operations.ts';
import { addGuideOperation, getGuide } from '../src/community/guides/operations.ts';
import { getModfile, getModfiles } from '../src/files/modfiles/operations.ts';
import { submitReportOperation } from '../src/moderation/reports/operations.ts';
import { terms } from '../src/people/agreements/operations.ts';
import { getUser } from '../src/people/users/operations.ts';
import { type Answer, startApi } from './api.ts';
import { Browser } from './browser.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' }, site: builtSite() });
const ada = await api.aUser();
const game = await api.aGame();
const mod = await api.aMod({ game, owner: ada });
const { id: file_id } = await api.aFile(mod);
const author = await api.as(ada);
const params = { game_id: game.id, mod_id: mod.id, file_id, user_id: ada.id };
const bytes = await sharp({ create: { width: 512, height: 288, channels: 3, background: '#345' } })
  .png()
  .toBuffer();
const logo = { logo: { filename: 'logo.png', bytes } };
const texts = { summary: 'Everything about the harbour', description: '<p>Ships.</p>' };
const guide = await author.call(addGuideOperation, {
  params,
  body: { ...texts, name: 'Häfen 港', tags: ['Sea'] },
  files: logo,
});
const collection = await author.call(addCollectionOperation, {
  params,
  body: { name: 'Schöne Mods 美', summary: 'Some', mod_ids: [mod.id] },
});
for (const made of [guide, collection]) assert.equal(made.status, 201, made.text);

const HOST = /(?:^|\.)localhost$/;

function addressesIn(value: unknown): string[] {
  if (typeof value === 'string') return /^https:\/\/\S+$/.test(value) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(addressesIn);
}

/** Opens a URL like a browser, and follows redirects within this site. */
async function open(address: string): Promise<Answer> {
  const url = new URL(address);
  const path = address.slice(url.origin.length) || '/';
  const answer = await api.request('GET', path, { host: url.hostname, headers: { accept: 'text/html' } });
  const { location } = answer.headers;
  return answer.status === 302 && location && HOST.test(new URL(location, address).hostname)
    ? open(new URL(location, address).href)
    : answer;
}

test('every link in a response is a valid URI and can be opened', async () => {
  await author.call(editModByPut, { params, body: { name: 'Größe 漢字', name_id: 'größe-漢字' } });
  const key = api.withKey(game);
  const ids = { ...params, guide_id: guide.body.id, collection_id: collection.body.id };
  const answers = [
    await key.call(terms),
    await key.call(getGames),
    await key.call(getGame, { params }),
    await key.call(getMods, { params }),
    await key.call(getMod, { params }),
    await key.call(getModfiles, { params }),
    await key.call(getModfile, { params }),
    await key.call(getGuide, { params: ids }),
    await key.call(getModCollection, { params: ids }),
    await key.call(getUser, { params }),
  ];
  for (const answer of answers) assert.equal(answer.status, 200, answer.text);
  const own = new Set(
    answers.flatMap(({ body }) => addressesIn(body)).filter((each) => HOST.test(new URL(each).hostname)),
  );
  assert.ok(own.size > 20, `only ${own.size} addresses`);
  const broken: string[] = [];
  for (const address of own) {
    assert.match(address, /^[\x21-\x7e]+$/);
    const { status } = await open(address);
    if (status >= 400) broken.push(`${status} ${address}`);
  }
  assert.deepEqual(broken, []);
});

test('the URL in a report is the page of the reported resource', async () => {
  const reporter = await api.as(await api.aUser());
  for (const [resource, id, title] of [
    ['mods', mod.id, 'Größe'],
    ['games', game.id, game.name],
    ['users', ada.id, ada.username],
  ] as const) {
    const { status, headers } = await reporter.call(submitReportOperation, {
      body: { resource, id, type: 0, summary: 'Not what it says it is' },
    });
    assert.equal(status, 201);
    const page = await open(headers.location!);
    assert.equal(page.status, 200);
    assert.ok(page.text.includes(title));
  }
});

test('public pages show only public content', async () => {
  const browser = new Browser(api);
  const hidden = await api.aMod({ game, accepted: false });
  const closed = await api.aGame({ accepted: false });
  const shown = await browser.get('/');
  assert.ok(shown.text.includes(game.name));
  assert.ok(!shown.text.includes(closed.name));
  const list = await browser.get(`/g/${game.name_id}`);
  assert.ok(list.text.includes('Größe 漢字'));
  assert.ok(!list.text.includes(hidden.name));
  for (const path of [
    `/g/${closed.name_id}`,
    `/g/${game.name_id}/m/${hidden.name_id}`,
    '/g/nothing',
    '/u/nobody-here',
  ]) {
    const { status, headers } = await browser.get(path);
    assert.ok(status === 403 || status === 404, `${status} ${path}`);
    assert.match(headers['content-type'] ?? '', /^text\/html/);
  }
});
