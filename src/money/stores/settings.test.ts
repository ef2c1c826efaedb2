import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { STORE_PORTALS } from './adapter.ts';
import { gamesOfStoreApp, putStoreSettings, STORE_FIELDS, storeSettingsFor } from './settings.ts';

const api = await startApi();
const app = api.app();
const game = await api.aGame();
const KEY = '0123456789abcdef0123456789ABCDEF';

const put = (portal: (typeof STORE_PORTALS)[number], changes: Record<string, string>, gameId = game.id) =>
  app.db.write((transaction) => putStoreSettings(app, transaction, gameId, portal, changes));
const row = (portal: string) =>
  app.db.query
    .selectFrom('store_settings')
    .selectAll()
    .where('game_id', '=', game.id)
    .where('portal', '=', portal)
    .executeTakeFirstOrThrow();

const wrongFields = (work: Promise<unknown>, fields: readonly string[]) =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof ApiError, String(error));
    for (const field of fields) assert.match(JSON.stringify(error), new RegExp(field));
    return true;
  });

test('secrets of a store are encrypted, and shown by name only', async () => {
  const shown = await put('steam', { app_id: '480', web_api_key: KEY });
  assert.deepEqual([shown.fields, shown.secrets], [{ app_id: '480' }, ['web_api_key']]);
  const { fields, secrets } = await row('steam');
  assert.doesNotMatch(fields + secrets, new RegExp(KEY));
  assert.deepEqual(await storeSettingsFor(app, game.id, 'steam'), { app_id: '480', web_api_key: KEY });
});

test('a secret is of no use in the row of another game', async () => {
  await put('steam', { app_id: '480', web_api_key: KEY });
  const other = await api.aGame();
  const { secrets } = await row('steam');
  await put('steam', { app_id: '480', web_api_key: KEY }, other.id);
  await app.db.write(({ query }) =>
    query.updateTable('store_settings').set({ secrets }).where('game_id', '=', other.id).execute(),
  );
  await assert.rejects(storeSettingsFor(app, other.id, 'steam'));
});

test('fields that are not named stay, empty ones are removed', async () => {
  await put('xboxlive', { sandbox: 'RETAIL' });
  await put('xboxlive', {});
  assert.deepEqual(await storeSettingsFor(app, game.id, 'xboxlive'), { sandbox: 'RETAIL' });
  await put('xboxlive', { sandbox: '' });
  assert.deepEqual(await storeSettingsFor(app, game.id, 'xboxlive'), {});
});

test('each store names what it lacks and what it cannot use', async () => {
  const other = await api.aGame();
  await wrongFields(put('steam', { app_id: 'x' }, other.id), ['app_id', 'web_api_key']);
  await wrongFields(put('oculus', { app_id: '1', app_secret: 's', more: 'x' }), ['more']);
  await wrongFields(put('apple', { bundle_id: 'com.example.game', key_id: 'K' }), ['issuer_id', 'private_key']);
  await wrongFields(put('google', { package_name: 'com.example', private_key: 'no key' }), [
    'service_account_email',
    'private_key',
  ]);
  assert.deepEqual(Object.keys(STORE_FIELDS).toSorted(), [...STORE_PORTALS].toSorted());
});

test('notifications find a game by its name at the store', async () => {
  await put('apple', { bundle_id: 'com.example.named' });
  const found = await gamesOfStoreApp(app, 'apple', 'com.example.named');
  assert.deepEqual(found, [{ gameId: game.id, settings: { bundle_id: 'com.example.named' } }]);
  assert.deepEqual(await gamesOfStoreApp(app, 'apple', ''), []);
});
