import assert from 'node:assert/strict';
import { generateKeyPairSync, verify } from 'node:crypto';
import { test } from 'node:test';
import { type CdnKey, cdnLink, toCdnKey } from './cdn.ts';

const NOW = 1_600_000_000;
const options = { seconds: 300, type: 'application/zip', disposition: `attachment; filename="it's (1)*.zip"` };

test('a CloudFront link is signed over its whole address, as a canned policy with SHA-256', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const key = toCdnKey('cloudfront:K2JCJMDEHXQW5F:/keys/cdn.pem', (path) => {
    assert.equal(path, '/keys/cdn.pem');
    return pem;
  })!;
  const link = cdnLink({ url: 'https://d1.cloudfront.net', key }, 'mods/production/files/ab', NOW, options);
  const [resource] = link.split('&Expires=');
  const query = new URL(link).searchParams;
  assert.equal(query.get('response-content-disposition'), options.disposition);
  assert.deepEqual(
    ['Expires', 'Key-Pair-Id', 'Hash-Algorithm'].map((name) => query.get(name)),
    [String(NOW + 300), 'K2JCJMDEHXQW5F', 'SHA256'],
  );
  const policy = `{"Statement":[{"Resource":"${resource}","Condition":{"DateLessThan":{"AWS:EpochTime":${NOW + 300}}}}]}`;
  const signature = query.get('Signature')!.replace(/[-_~]/g, (mark) => ({ '-': '+', _: '=', '~': '/' })[mark]!);
  assert.ok(verify('sha256', Buffer.from(policy), publicKey, Buffer.from(signature, 'base64')));
});

test('a Bunny link has the token that Bunny’s own signers compute', () => {
  const key: CdnKey = { kind: 'bunny', securityKey: 'SecurityKey' };
  const short = { seconds: 300, type: 'application/zip', disposition: 'attachment; filename="a b.zip"' };
  const link = cdnLink({ url: 'https://token-tester.b-cdn.net', key }, '300kb.jpg', 1_598_024_287, short);
  assert.equal(
    link,
    'https://token-tester.b-cdn.net/300kb.jpg?token=HS256-oQB31jas54W3IeZ51KKiCKKV9BL1vF8iPBNxImwYAwE' +
      '&response-content-disposition=attachment%3B%20filename%3D%22a%20b.zip%22' +
      '&response-content-type=application%2Fzip&expires=1598024587',
  );
});

test('other keys are refused', () => {
  for (const text of ['', 'bunny:', 'bunny:short', 'cloudfront:K2', 'fastly:0123456789'])
    assert.equal(
      toCdnKey(text, () => ''),
      undefined,
      text,
    );
});
