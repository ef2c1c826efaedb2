import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressesOf } from '../../platform/config/addresses.ts';
import { secretsOf } from '../../platform/config/secrets.ts';
import { manualClock } from '../../platform/runtime/clock.ts';
import { downloadLink, isValidLink, linksChangeAt } from './links.ts';

const START = 1_800_000_123;
const HOUR = 3_600;

function anApp() {
  const addresses = addressesOf({ domain: 'mods.example', port: 443, publicPort: 443 }, 'production');
  return { addresses, secrets: secretsOf('a secret of enough characters for a test', 'production') };
}

const file = { id: 7, mod_id: 3, game_id: 2, sha256: 'ab'.repeat(32) };
const segmentOf = (address: string) => address.split('/').at(-1)!;

test('a signed link is valid for its file until it expires', () => {
  const app = { ...anApp(), clock: manualClock(START) };
  const { binary_url, date_expires } = downloadLink(app, file, { alone: false });
  assert.match(binary_url, /^https:\/\/g-2\.mods\.example\/v1\/games\/2\/mods\/3\/files\/7\/download\/[\w-]+$/);
  const segment = segmentOf(binary_url);
  assert.ok(isValidLink(app, file, segment, START));
  assert.ok(isValidLink(app, file, segment, date_expires - 1));
  assert.ok(!isValidLink(app, file, segment, date_expires));
});

test('a link that is altered, prolonged or used for other bytes is invalid', () => {
  const app = { ...anApp(), clock: manualClock(START) };
  const segment = segmentOf(downloadLink(app, file, { alone: false }).binary_url);
  const [expires = '', signature = ''] = segment.split(/-(.*)/s);
  const other = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`;
  for (const wrong of [`${Number(expires) + HOUR}-${signature}`, `${expires}-${other}`, '', signature])
    assert.ok(!isValidLink(app, file, wrong, START), wrong);
  assert.ok(!isValidLink(app, { ...file, id: 8 }, segment, START));
  assert.ok(!isValidLink(app, { ...file, sha256: 'cd'.repeat(32) }, segment, START));
  const elsewhere = { secrets: secretsOf('a secret of enough characters for a test', 'sandbox') };
  assert.ok(!isValidLink(elsewhere, file, segment, START));
});

test('all requests within an hour get the same link, and it is valid for at least a day', () => {
  const app = { ...anApp(), clock: manualClock(START) };
  const first = downloadLink(app, file, { alone: false });
  assert.ok(first.date_expires >= START + 24 * HOUR);
  app.clock.advance(linksChangeAt(START) - START - 1);
  assert.deepEqual(downloadLink(app, file, { alone: false }), first);
  app.clock.advance(1);
  assert.notDeepEqual(downloadLink(app, file, { alone: false }), first);
});
