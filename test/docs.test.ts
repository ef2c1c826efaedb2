// Runs on one database: the documentation is made from the declarations.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { z } from 'zod';
import { operations } from '../src/composition/resources.ts';
import { errors } from '../src/platform/errors/catalogue.ts';
import { tagPage } from '../src/platform/http/docs/guide-pages.ts';
import { docsModel } from '../src/platform/http/docs/model.ts';
import type { SearchIndex } from '../src/platform/http/docs/search-index.ts';
import { openApiDocument } from '../src/platform/http/openapi/document.ts';
import { ok, operation } from '../src/platform/http/operation.ts';
import { startApi } from './api.ts';

const api = await startApi();
const { groups } = docsModel(operations, openApiDocument(operations));
const refs = [...new Set(Object.values(errors).map(({ ref }) => ref))];
const FIRST_VIEW_BYTES_MAX = 300_000;

const loaded = new Map<string, string>();

async function page(path: string): Promise<string> {
  const known = loaded.get(path);
  if (known) return known;
  const { status, text } = await api.request('GET', path);
  assert.equal(status, 200, path);
  loaded.set(path, text);
  return text;
}

const paths = [
  '/v1/docs',
  '/v1/docs/objects',
  '/v1/docs/errors',
  ...groups.map(({ slug }) => `/v1/docs/${slug}`),
  ...refs.map((ref) => `/v1/docs/errors/${ref}`),
];

test('every page, with its style and scripts, is smaller than 300 kB', async () => {
  for (const path of paths) {
    const text = await page(path);
    assert.ok(Buffer.byteLength(text) < FIRST_VIEW_BYTES_MAX, `${path}: ${Buffer.byteLength(text)}`);
    assert.doesNotMatch(text, /\b(?:src|action)=|style="|\bon\w+="|@import|url\(|<link\b/, path);
  }
});

test('every operation is on the page of its tag, and the first page links to it', async () => {
  const first = await page('/v1/docs');
  for (const { slug, entries } of groups) {
    const text = await page(`/v1/docs/${slug}`);
    for (const { described } of entries) {
      assert.ok(text.includes(`<div class="body" id="${described.operationId}"`), described.operationId);
      assert.ok(
        first.includes(`<li id="${described.operationId}"><a href="/v1/docs/${slug}#${described.operationId}">`),
      );
    }
  }
  assert.equal(groups.flatMap(({ entries }) => entries).length, operations.length);
});

test('every error reference has a page with its message, condition, remedy and operations', async () => {
  for (const [name, { ref, status }] of Object.entries(errors)) {
    const text = await page(`/v1/docs/errors/${ref}`);
    const [, section = ''] = text.split(`<section class="error" id="${name}"`);
    assert.ok(section.includes(`<dd>${status} `), name);
    for (const part of ['Message', 'When it happens', 'What to do'])
      assert.match(section, new RegExp(`<dt>${part}</dt><dd>[^\\s][^]*?[.!?]</dd>`), `${name}: ${part}`);
    assert.ok(section.includes('Operations that answer it'), name);
  }
  const list = await page('/v1/docs/errors');
  for (const name of Object.keys(errors)) assert.ok(list.includes(`<tr id="${name}">`), name);
});

test('the page of an error links to the operations that declare it', async () => {
  const text = await page('/v1/docs/errors/15022');
  assert.ok(text.includes('<a href="/v1/docs/mods#get-mod">get-mod</a>'));
  assert.ok(!text.includes('<a href="/v1/docs/games#get-games">'));
  assert.match(await page('/v1/docs/errors/10002'), /<p>Every operation\.<\/p>/);
});

test('every link within the documentation leads to an existing page and anchor', async () => {
  const anchors = new Map<string, Set<string>>();
  const links: [from: string, to: string][] = [];
  for (const path of paths) {
    const text = await page(path);
    anchors.set(path, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)));
    for (const [, to] of text.matchAll(/ href="([^"]+)"/g)) links.push([path, to!.startsWith('#') ? path + to : to!]);
  }
  for (const [from, to] of links) {
    if (to === '/v1/openapi.json') continue;
    const [path, anchor] = to.split('#') as [string, string | undefined];
    const known = anchors.get(path);
    assert.ok(known && (anchor === undefined || known.has(anchor)), `${from} links to ${to}`);
  }
  assert.ok(links.length > 10_000);
});

test('anchors on one page are unique', async () => {
  for (const path of paths) {
    const ids = [...(await page(path)).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!);
    assert.deepEqual(ids, [...new Set(ids)], path);
  }
});

test('the search index contains every operation, error and field, with the location of each field', async () => {
  const { body } = await api.request('GET', '/v1/docs/search.json');
  const index = body as SearchIndex;
  assert.deepEqual(
    index.operations.map(([id]) => id).sort(),
    operations.map(({ declaration }) => declaration.id).sort(),
  );
  assert.deepEqual(index.errors.map(([, name]) => name).sort(), Object.keys(errors).sort());
  const placesOf = (field: string) =>
    index.fields[field]?.map((place) => index.operations[place]?.[0] ?? index.objects[place - index.operations.length]);
  assert.ok(placesOf('maturity_option')?.includes('Mod'));
  assert.ok(placesOf('maturity_option')?.includes('get-mods'));
  assert.deepEqual(placesOf('security_code'), ['exchange-email-security-code', 'me-authenticate']);
  assert.ok(placesOf('error_ref')?.includes('Error'));
});

test('the content security policy allows only the page’s scripts and style, and requests to the service', async () => {
  const { text, headers } = await api.request('GET', '/v1/docs/mods');
  const policy = String(headers['content-security-policy']);
  for (const rule of ["default-src 'none';", "connect-src 'self';", "form-action 'none';", "frame-ancestors 'none'"])
    assert.ok(policy.includes(rule), rule);
  assert.doesNotMatch(policy, /unsafe/);
  const inline = [...text.matchAll(/<(script|style)>(.*?)<\/\1>/gs)];
  assert.equal(inline.length, 3);
  assert.equal(text.match(/<(?:script|style)\b/g)!.length, 3);
  for (const [, kind, source] of inline) {
    const hash = createHash('sha256').update(source!).digest('base64');
    assert.match(policy, new RegExp(`${kind}-src [^;]*'sha256-${RegExp.escape(hash)}'`));
  }
});

test('an unchanged page is answered with 304', async () => {
  const first = await api.request('GET', '/v1/docs/games');
  const again = await api.request('GET', '/v1/docs/games', {
    headers: { 'if-none-match': String(first.headers['etag']) },
  });
  assert.deepEqual([again.status, again.text], [304, '']);
  assert.equal(again.headers['content-security-policy'], first.headers['content-security-policy']);
});

test('there is no page for an unknown tag or error', async () => {
  for (const path of ['/v1/docs/errors/1', '/v1/docs/errors/015022', '/v1/docs/nothing', '/v1/docs/games/1'])
    assert.equal((await api.request('GET', path)).status, 404, path);
});

test('texts of declarations are escaped', () => {
  const hostile = '<script>alert(1)</script>"&\'';
  const declared = operation({
    id: 'get-hostile',
    tag: hostile,
    method: 'GET',
    path: '/hostile',
    says: hostile,
    access: { kind: 'anyone' },
    query: z.object({ field: z.enum([hostile]).meta({ description: hostile }) }),
    returns: ok(z.object({ answer: z.string().meta({ description: hostile }) })),
    errors: [],
    handle: () => ({ answer: '' }),
  });
  const model = docsModel([declared], openApiDocument([declared]));
  const { text } = tagPage(model, model.groups[0]!);
  assert.doesNotMatch(text, /<script|"&'/);
  assert.equal(text.split('&lt;script&gt;alert(1)&lt;/script&gt;').length - 1 >= 5, true);
});
