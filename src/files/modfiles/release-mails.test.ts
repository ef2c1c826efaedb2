import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { mailsTo } from '../../../test/mails.ts';
import { composeWorker } from '../../composition/compose.ts';
import { editModfileOperation } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const worker = composeWorker(api.app());

test('T23: the whole team gets a mail when a file goes live, including the user that released it', async () => {
  const ada = await api.aUser({ email: 'ada@example.org', username: 'Ada L' });
  const bob = await api.aUser({ email: 'bob@example.org', language: 'de' });
  await api.aUser({ email: 'cleo@example.org' });
  const mod = await api.aMod({ owner: ada, name: 'Airship' });
  await api.joinsMod(bob, mod, 4);
  const first = await api.aFile(mod, { filename: 'first.zip' });
  await api.aFile(mod, { filename: 'draft.zip', active: false });
  await worker.runDue();
  const [own, ...more] = mailsTo(api, 'ada@example.org');
  assert.deepEqual([own?.subject, more.length], ['A file of “Airship” went live', 0]);
  assert.match(own!.text, /^Ada L made the file “first\.zip” of the mod “Airship”/);
  assert.match(mailsTo(api, 'bob@example.org')[0]!.text, /Datei „first\.zip“/);
  assert.deepEqual(mailsTo(api, 'cleo@example.org'), []);

  const second = await api.aFile(mod, { filename: 'second.zip' });
  await worker.runDue();
  assert.equal(mailsTo(api, 'bob@example.org').length, 2);
  const params = { game_id: mod.game_id, mod_id: mod.id };
  const client = await api.as(bob);
  await client.call(editModfileOperation, { params: { ...params, file_id: first.id }, body: { active: true } });
  await client.call(editModfileOperation, { params: { ...params, file_id: second.id }, body: { version: '2' } });
  await worker.runDue();
  assert.match(
    mailsTo(api, 'ada@example.org').at(-1)!.text,
    new RegExp(`^${bob.username} made the file “first\\.zip”`),
  );
  assert.equal(mailsTo(api, 'ada@example.org').length, 3);
});
