// Runs alone: Vite sets NODE_ENV.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BROWSE_BYTES_MAX, bundleOf, PAGES } from '../../tools/client-size.ts';

test('a browse page loads less than 12,000 bytes of the client, and nothing that it does not use', async () => {
  const { code, gzipBytes } = await bundleOf(PAGES.browse);
  assert.ok(gzipBytes < BROWSE_BYTES_MAX, `${gzipBytes} bytes`);
  assert.ok(code.includes('api_key'));
  assert.deepEqual(code.match(/modstead-upload|appleauth|device_login|event-stream|If-Range/), null);
});
