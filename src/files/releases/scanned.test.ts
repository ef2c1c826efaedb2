import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { type Mod, startApi, type User } from '../../../test/api.ts';
import { Browser } from '../../../test/browser.ts';
import { type ClamdBehaviour, startClamdStub } from '../../../test/clamd.ts';
import { aCookingGame, aRunner, aSource, finish, modPath, mustClaim } from '../../../test/cooking.ts';
import { mailsTo } from '../../../test/mails.ts';
import { EICAR, zipOf } from '../../../test/zips.ts';
import { getMod } from '../../catalogue/mods/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { addModfileOperation } from '../modfiles/operations.ts';
import { addReleaseConfirmation } from './operations.ts';

const manner: ClamdBehaviour = {};
const clamd = await startClamdStub({ after }, manner);
afterEach(() => {
  delete manner.hangsUp;
});
const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_CLAMD: clamd.address } });
const worker = composeWorker(api.app());
const HOUR = 3_600;

async function guarded(name: string): Promise<User & { email: string }> {
  const email = `${name}@example.org`;
  const user = { ...(await api.aUser({ email })), email };
  assert.equal((await (await api.as(user)).call(addReleaseConfirmation)).status, 204);
  return user;
}

const shown = async (mod: Mod) => (await (await api.as(mod.owner)).call(getMod, { params: modPath(mod) })).body;

async function upload(mod: Mod, content: Record<string, string | Buffer>) {
  const files = { filedata: { filename: 'mod.zip', bytes: zipOf(content) } };
  const added = await (await api.as(mod.owner)).call(addModfileOperation, { params: modPath(mod), files });
  assert.equal(added.status, 201, added.text);
  return added.body;
}

const linkTo = (email: string): string | undefined =>
  mailsTo(api, email).flatMap(({ text }) => /\/release\?token=[\w-]{43}/.exec(text) ?? [])[0];

test('a file that is confirmed before its scan goes live when it has passed', async () => {
  const ada = await guarded('before');
  const mod = await api.aMod({ owner: ada });
  manner.hangsUp = true;
  const file = await upload(mod, { 'readme.txt': api.unique('Clean') });
  await worker.runDue();
  const browser = new Browser(api);
  assert.equal((await browser.submit(await browser.get(linkTo(ada.email)!), { decision: 'confirm' })).status, 200);
  assert.equal((await shown(mod)).modfile?.id, undefined);
  delete manner.hangsUp;
  api.clock.advance(HOUR);
  await worker.runDue();
  assert.equal((await shown(mod)).modfile?.id, file.id);
});

test('a file with a threat no longer waits', async () => {
  const ada = await guarded('threat');
  const mod = await api.aMod({ owner: ada });
  manner.hangsUp = true;
  await upload(mod, { 'readme.txt': api.unique('Not clean'), 'evil.bin': EICAR });
  await worker.runDue();
  const link = linkTo(ada.email)!;
  const browser = new Browser(api);
  const page = await browser.get(link);
  assert.equal(page.status, 200);
  delete manner.hangsUp;
  api.clock.advance(HOUR);
  await worker.runDue();
  assert.equal((await browser.get(link)).status, 404);
  assert.equal((await browser.submit(page, { decision: 'confirm' })).status, 404);
  assert.equal((await shown(mod)).modfile?.id, undefined);
});

test('a cooked file waits for the uploader of its source', async () => {
  const ada = await guarded('source');
  const game = await aCookingGame(api);
  const mod = await api.aMod({ owner: ada, game });
  const runner = await aRunner(api, game);
  await aSource(api, mod, { platforms: ['ps5'] });
  await worker.runDue();
  assert.equal((await finish(api, runner.client, (await mustClaim(runner.client)).claim_id)).status, 200);
  await worker.runDue();
  assert.deepEqual((await shown(mod)).platforms, []);
  const browser = new Browser(api);
  assert.equal((await browser.submit(await browser.get(linkTo(ada.email)!), { decision: 'confirm' })).status, 200);
  assert.deepEqual(
    (await shown(mod)).platforms.map(({ platform }) => platform),
    ['ps5'],
  );
});
