import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { Script } from 'node:vm';
import { builtSite } from '../src/commands/site-build.ts';
import { type Answer, startApi } from './api.ts';
import { Browser } from './browser.ts';
import { hostileContent } from './hostile-content.ts';
import { dangersOf, decoded, type Element, elementsOf } from './markup-scan.ts';

const api = await startApi({ site: builtSite() });
const hostile = await hostileContent(api);
const author = new Browser(api);
await author.signIn('/account', hostile.email);

/** Whatever the texts on a page say, only scripts whose digest the page’s policy names can run. */
function problemsOf({ headers, text }: Answer): string[] {
  const policy = String(headers['content-security-policy']);
  const elements = elementsOf(text);
  const problems = elements.flatMap(dangersOf);
  if (!policy.includes("default-src 'none'")) problems.push(`the policy is ${policy}`);
  if (/unsafe-inline|unsafe-eval|script-src[^;]*(?:data:|https?:|\*)/.test(policy))
    problems.push(`lax policy ${policy}`);
  if (headers['x-content-type-options'] !== 'nosniff') problems.push('its type may be guessed');
  const scripts = elements.filter(({ name }) => name === 'script');
  return [
    ...problems,
    ...scripts.filter((script) => !isOwnScript(script, policy)).map((script) => `foreign: ${script.text}`),
  ];
}

function isOwnScript({ attributes, text }: Element, policy: string): boolean {
  if (attributes.has('src')) return /^\/_app\//.test(attributes.get('src')!);
  if (attributes.get('type') === 'application/ld+json') return typeof JSON.parse(text) === 'object';
  // A text that ended its string would leave no whole script.
  new Script(text);
  return policy.includes(`'sha256-${createHash('sha256').update(text).digest('base64')}'`);
}

/** They have nothing to show once the site has an owner, and the visitor has agreed to the terms. */
const MAY_LEAD_ELSEWHERE = new Set(['setup', '(me)/agree']);

test('nothing that users write can run on any page of the site', async () => {
  const visitors = { author, nobody: new Browser(api) };
  const shown: string[] = [];
  const problems: string[] = [];
  for (const [route, addresses] of hostile.pages)
    for (const address of addresses)
      for (const [who, visitor] of Object.entries(visitors)) {
        const answer = await visitor.get(address);
        const mustShow = who === 'author' && !MAY_LEAD_ELSEWHERE.has(route);
        if (answer.status >= 500 || (mustShow && answer.status !== 200)) problems.push(`${address}: ${answer.status}`);
        if (answer.status === 303) continue;
        problems.push(...problemsOf(answer).map((problem) => `${address}: ${problem}`));
        shown.push(decoded(answer.text));
      }
  assert.deepEqual(problems, []);
  const all = shown.join('\n');
  assert.deepEqual(
    [...hostile.fields].filter((field) => !all.includes(field)),
    [],
    'no page shows these fields',
  );
});

test('nothing that users upload is a page', async () => {
  for (const path of hostile.uploads) {
    const { status, headers, text } = await api.request('GET', path);
    assert.equal(status, 200, text);
    assert.match(headers['content-type']!, /^image\/(?:png|jpeg|webp|avif)$/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.match(String(headers['content-security-policy']), /default-src 'none'/);
    assert.ok(!text.includes('taken()'));
  }
});
