import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, assertRefused, type Game, type Mod, startApi } from '../../../test/api.ts';
import { zipOf } from '../../../test/zips.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { editModByPut, getMod, getMods } from '../../catalogue/mods/operations.ts';
import { subscribeToMod } from '../../community/subscriptions/operations.ts';
import { logout } from '../../signin/accounts/operations.ts';
import {
  addModfileOperation,
  deleteModfileOperation,
  editModfileOperation,
  getModfile,
  getModfiles,
  managePlatformStatus,
} from '../modfiles/operations.ts';
import { editModVault } from '../vaults/operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });

const at = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });
const fileOf = (mod: Mod, id: number) => ({ ...at(mod), file_id: id });

async function upload(mod: Mod, body = {}) {
  const bytes = zipOf({ 'a.txt': api.unique('content') });
  const files = { filedata: { filename: 'a.zip', bytes } };
  const answer = await (await api.as(mod.owner)).call(addModfileOperation, { params: at(mod), body, files });
  assert.equal(answer.status, 201, answer.text);
  return { ...answer.body, bytes };
}

async function aLink(api_access_options = 1 | 2) {
  const game = await api.aGame({ settings: { api_access_options } });
  const mod = await api.aMod({ game });
  const file = await upload(mod);
  const { download } = (await api.withKey(game).call(getModfile, { params: fileOf(mod, file.id) })).body;
  return { game, mod, file, link: download.binary_url, expires: download.date_expires };
}

/** Fetches a URL unchanged, like a client without credentials. */
function fetchAt(address: string, headers: Record<string, string> = {}): Promise<Answer> {
  const url = new URL(address);
  return api.request('GET', address.slice(url.origin.length), { host: url.hostname, headers });
}

const isSent = ({ status, bytes }: Answer, file: { bytes: Buffer }) => status === 200 && bytes.equals(file.bytes);

test('the link of every item works without credentials, at the path of the specification', async () => {
  const { game, mod, file, link } = await aLink();
  const player = await api.as(await api.aUser());
  const owner = await api.as(mod.owner);
  const params = at(mod);
  const inMod = ({ body }: Answer) => (body as { modfile: typeof file }).modfile.download;
  const links = {
    file: { binary_url: link },
    upload: file.download,
    edit: (await owner.call(editModfileOperation, { params: fileOf(mod, file.id), body: { version: '2' } })).body
      .download,
    mod: inMod(await api.withKey(game).call(getMod, { params })),
    'mod on a portal': inMod(await player.call(getMod, { params, headers: { 'x-modio-portal': 'steam' } })),
    'mod in another language': inMod(await player.call(getMod, { params, headers: { 'accept-language': 'de' } })),
    subscription: inMod(await player.call(subscribeToMod, { params })),
    'edited mod': inMod(await owner.call(editModByPut, { params, body: { summary: 'Another summary' } })),
  };
  for (const [name, { binary_url }] of Object.entries(links)) {
    assert.match(binary_url, /\/v1\/games\/\d+\/mods\/\d+\/files\/\d+\/download\?verification_hash=[\w-]+$/, name);
    assert.ok(isSent(await fetchAt(binary_url), file), name);
  }
  for (const { data } of [
    (await player.call(getModfiles, { params })).body,
    { data: (await player.call(getMods, { params })).body.data.map(({ modfile }) => modfile as typeof file) },
  ]) {
    assert.match(data[0]!.download.binary_url, /\/download\/[\w-]+$/);
    assert.ok(isSent(await fetchAt(data[0]!.download.binary_url), file));
  }
});

test('a client resumes a download by a link with a range', async () => {
  const { file, link } = await aLink();
  const { status, bytes } = await fetchAt(link, { range: 'bytes=5-' });
  assert.deepEqual([status, bytes.equals(file.bytes.subarray(5))], [206, true]);
});

test('a valid signature is enough, whatever credentials are sent and however they are appended', async () => {
  const { game, mod, file, link } = await aLink();
  const inList = (await api.withKey(game).call(getModfiles, { params: at(mod) })).body.data[0]!.download.binary_url;
  const gone = await api.as(await api.aUser());
  await gone.call(logout);
  const sandboxKey = (await api.aGame({}, 'sandbox')).api_key;
  for (const address of [link, inList])
    for (const key of [game.api_key, 'short', '0'.repeat(32), sandboxKey, '']) {
      for (const sign of address.includes('?') ? ['&', '?'] : ['?'])
        assert.ok(isSent(await fetchAt(`${address}${sign}api_key=${key}`), file), sign + key);
      for (const token of ['', 'garbage', gone.token!]) {
        const headers = { authorization: `Bearer ${token}` };
        assert.ok(isSent(await fetchAt(address, headers), file), token);
        assert.ok(isSent(await fetchAt(`${address}?api_key=${key}`, headers), file), token);
      }
    }
});

test('a valid credential is enough, whatever the signature is', async () => {
  const { game, file, link } = await aLink();
  const token = (await api.as(await api.aUser())).token!;
  const bare = link.slice(0, link.indexOf('?'));
  for (const stale of [
    `${link}x`,
    `${bare}?verification_hash=1-x`,
    `${bare}?verification_hash=`,
    bare,
    `${bare}/1-x`,
  ]) {
    const sign = stale.includes('?') ? '&' : '?';
    assert.ok(isSent(await fetchAt(`${stale}${sign}api_key=${game.api_key}`), file), stale);
    assert.ok(isSent(await fetchAt(`${stale}?api_key=${game.api_key}`), file), stale);
    assert.ok(isSent(await fetchAt(stale, { authorization: `Bearer ${token}` }), file), stale);
    assertRefused(await fetchAt(stale, { authorization: 'Bearer garbage' }), 401, 11005);
    assertRefused(await fetchAt(`${stale}${sign}api_key=${'0'.repeat(32)}`), 401, 11002);
  }
  assertRefused(await fetchAt(`${link}x`), 403, 15024);
  assertRefused(await fetchAt(bare), 401, 11000);
});

test('a link is valid until its date, and cached responses never contain an expired one', async () => {
  const { game, mod, file, link, expires } = await aLink();
  const client = api.withKey(game);
  const current = async () => (await client.call(getMod, { params: at(mod) })).body.modfile as typeof file;
  for (let hour = 0; hour < 30; hour += 1) {
    const { download } = await current();
    assert.ok(download.date_expires > api.clock.now() + 23 * 3_600);
    assert.equal((await fetchAt(download.binary_url)).status, 200);
    assert.equal((await fetchAt(link)).status, api.clock.now() < expires ? 200 : 403);
    api.clock.advance(3_599);
  }
});

test('a link is for one file in one environment', async () => {
  const { mod, link } = await aLink();
  const other = await upload(mod);
  const signature = link.slice(link.indexOf('?'));
  const { pathname, origin } = new URL(other.download.binary_url);
  assertRefused(await fetchAt(`${origin}${pathname}${signature}`), 403, 15024);
  const sandbox = await api.request('GET', link.slice(new URL(link).origin.length), { host: api.host('sandbox') });
  assert.equal(sandbox.status, 404);
});

async function inSandbox() {
  const game = await api.aGame({}, 'sandbox');
  const mod = await api.aMod({ game }, 'sandbox');
  const owner = await api.as(mod.owner, {}, 'sandbox');
  const bytes = zipOf({ a: 'sandbox' });
  const added = await owner.call(addModfileOperation, {
    params: at(mod),
    files: { filedata: { filename: 'a.zip', bytes } },
  });
  return { link: added.body.download.binary_url, bytes };
}

test('the sandbox has its own links', async () => {
  const { link, bytes } = await inSandbox();
  assert.ok(isSent(await fetchAt(link), { bytes }));
  const production = await api.request('GET', link.slice(new URL(link).origin.length), { host: api.host() });
  assert.equal(production.status, 403);
});

test('without direct downloads a credential does not replace the signature', async () => {
  const { game, file, link } = await aLink(1);
  assert.ok(isSent(await fetchAt(link), file));
  assert.ok(isSent(await fetchAt(`${link}&api_key=${game.api_key}`), file));
  const token = (await api.as(await api.aUser())).token!;
  for (const stale of [`${link}x`, link.slice(0, link.indexOf('?'))])
    assertRefused(await fetchAt(stale, { authorization: `Bearer ${token}` }), 403, 15024);
});

test('where downloads need a signed-in user, a signature does not replace the token', async () => {
  const { game, file, link } = await aLink(1 | 2 | 4);
  assertRefused(await fetchAt(link), 401, 11059);
  assertRefused(await fetchAt(`${link}&api_key=${game.api_key}`), 401, 11059);
  assertRefused(await fetchAt(link, { authorization: 'Bearer garbage' }), 401, 11005);
  const token = (await api.as(await api.aUser())).token!;
  assert.ok(isSent(await fetchAt(link, { authorization: `Bearer ${token}` }), file));
});

test('a link is invalid as soon as the file is deleted, recalled or denied, or the mod is hidden or vaulted', async () => {
  const ends: Record<string, (game: Game, mod: Mod, id: number) => Promise<{ status: number }>> = {
    deleted: async (_, mod, id) => {
      await upload(mod);
      return (await api.as(mod.owner)).call(deleteModfileOperation, { params: fileOf(mod, id) });
    },
    'taken back': async (_, mod, id) =>
      (await api.as(mod.owner)).call(editModfileOperation, { params: fileOf(mod, id), body: { active: false } }),
    denied: async (game, mod, id) => {
      const body = { 'platforms[0][platform]': 'windows' };
      await (await api.as(game.owner)).call(editGameOperation, { params: { game_id: game.id }, body });
      const denied = { params: fileOf(mod, id), body: { denied: ['windows'] } };
      return (await api.as(game.owner)).call(managePlatformStatus, denied);
    },
    hidden: async (_, mod) => (await api.as(mod.owner)).call(editModByPut, { params: at(mod), body: { visible: 0 } }),
    vaulted: async (_, mod) =>
      (await api.as(mod.owner)).call(editModVault, {
        params: at(mod),
        body: { date_opens: api.clock.now() + 60 },
      }),
  };
  for (const [name, end] of Object.entries(ends)) {
    const { game, mod, file, link } = await aLink();
    assert.ok(isSent(await fetchAt(link), file), name);
    const ended = await end(game, mod, file.id);
    assert.ok(ended.status === 200 || ended.status === 204, `${name}: ${ended.status}`);
    const { status } = await fetchAt(link);
    assert.ok(status === 404 || status === 403 || status === 422, `${name}: ${status}`);
    const byKey = await fetchAt(`${link}&api_key=${game.api_key}`);
    assert.equal(byKey.status, status, name);
  }
});

test('a client that follows a link while the file is recalled gets the whole file or nothing', async () => {
  const { mod, file, link } = await aLink();
  const owner = await api.as(mod.owner);
  const fetches = Array.from({ length: 8 }, () => fetchAt(link));
  const takeBack = owner.call(editModfileOperation, { params: fileOf(mod, file.id), body: { active: false } });
  for (const answer of await Promise.all(fetches)) assert.ok(isSent(answer, file) || answer.status === 404);
  assert.equal((await takeBack).status, 200);
  assertRefused(await fetchAt(link), 404, 15010);
});

test('neither a signature nor a key behind a second question mark is logged', async () => {
  const { game, link } = await aLink();
  await fetchAt(`${link}x?api_key=${game.api_key}`);
  await fetchAt(`${link.slice(0, link.indexOf('?'))}?_limit=5?api_key=${game.api_key}x`);
  const log = api.logLines.join('\n');
  assert.ok(!log.includes(game.api_key));
  assert.ok(!log.includes(link.slice(link.indexOf('=') + 1)));
});
