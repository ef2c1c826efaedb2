// Runs alone: it changes a declaration while it runs.
// Runs on one database: no query decides it.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { getGame } from '../src/catalogue/games/operations.ts';
import { resources } from '../src/composition/resources.ts';
import { operationEntry } from '../src/platform/http/docs/operation-entry.ts';
import { openApiDocument } from '../src/platform/http/openapi/document.ts';
import { startApi } from './api.ts';

const operations = resources.flatMap((each) => each.operations ?? []);

test('no operation ends within a year of its deprecation, and each names what replaces it', () => {
  for (const { declaration } of operations) {
    if (!declaration.deprecated) continue;
    const { since, sunset, instead } = declaration.deprecated;
    const [from, to] = [Date.parse(since), Date.parse(sunset)];
    assert.ok(to - from >= 365 * 86_400_000, declaration.id);
    assert.match(instead, /\S/, declaration.id);
  }
});

test('every response of a deprecated operation says so, cached, uncached and refused, and so do contract and docs', async () => {
  const api = await startApi();
  const deprecated = { since: '2026-01-01', sunset: '2027-01-01', instead: 'get-games' };
  Object.assign(getGame.declaration, { deprecated });
  after(() => Reflect.deleteProperty(getGame.declaration, 'deprecated'));
  const game = await api.aGame();
  const client = api.withKey(game);
  for (const id of [game.id, game.id, game.id, 999_999]) {
    const { headers } = await client.send('GET', `/games/${id}`);
    assert.equal(headers['deprecation'], '@1767225600');
    assert.equal(headers['sunset'], 'Fri, 01 Jan 2027 00:00:00 GMT');
    assert.match(String(headers['link']), /^<https:\/\/[^>]+\/docs#get-game>; rel="deprecation"$/);
  }
  assert.equal((await client.send('GET', '/games')).headers['deprecation'], undefined);
  const document = openApiDocument(operations);
  const described = document.paths['/games/{game_id}']!['get']!;
  assert.deepEqual(
    [described.deprecated, described['x-deprecated-since'], described['x-sunset'], described['x-instead']],
    [true, '2026-01-01', '2027-01-01', 'get-games'],
  );
  const entry = operationEntry(document, { operation: getGame, described } as never);
  assert.match(entry.text, /Deprecated since 2026-01-01; ends on 2027-01-01\. Use get-games instead\./);
});
