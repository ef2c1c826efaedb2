// Runs alone: it measures the CPU time of its own thread.
// Runs on one database: requests are parsed and validated in the service.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { addGameRule } from '../src/catalogue/rules/operations.ts';
import { editGameWordlists } from '../src/catalogue/wordlists/operations.ts';
import { WORDS_MAX } from '../src/catalogue/wordlists/wordlists.ts';
import { operations } from '../src/composition/resources.ts';
import { FORM_BYTES_MAX } from '../src/platform/http/payload.ts';
import type { ErrorAnswer } from './api.ts';
import { filled, startBounded } from './bounds.ts';

const { api, scene, bounded, boundedPerIteration, targetOf, reportSlowest } = await startBounded();
const { game, mod, owner: client } = scene;
const BODY_LENGTH = FORM_BYTES_MAX - 100;
const modTarget = `/games/${game.id}/mods/${mod.id}`;
/** Fragments of forms that are expensive to parse. */
const FORMS = [
  '%41x',
  'a&',
  'a=b&',
  'a[]=1&',
  'a[b][c]=1&',
  '%',
  '+',
  ' & x',
  '&',
  '=',
  '%zz',
  'é%C3%A9',
  'x]',
  'a[1]=',
];
for (const piece of FORMS)
  test(`a form of many ${piece} is bounded`, async () => {
    await boundedPerIteration(piece, () => client.send('PUT', modTarget, { body: filled(piece, BODY_LENGTH) }));
    await boundedPerIteration(piece, () =>
      client.send('PUT', modTarget, { body: `description=${filled(piece, BODY_LENGTH)}` }),
    );
  });

const VALUES = ['[1],', '1,', '"a",', '{"a":1},', '"\\\\u0041",', '[', ' ', '[],', '"a":', '{},', '1e999,', '"'];
for (const piece of VALUES)
  test(`JSON of many ${piece} is bounded`, async () => {
    const list = `input_json={"tags":[${filled(piece, BODY_LENGTH)}1]}`;
    await boundedPerIteration(piece, () => client.send('PUT', modTarget, { body: list }));
    const bodied = `{"ids":[${filled(piece, BODY_LENGTH)}1]}`;
    const headers = { 'content-type': 'application/json' };
    await boundedPerIteration(piece, () => client.send('POST', '/metrics/sessions/start', { body: bodied, headers }));
  });

test('a multipart form is bounded in its number of parts and total text length', async () => {
  const part = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const send = (body: string) =>
    boundedPerIteration(body.slice(0, 80), () => client.send('PUT', modTarget, { body: `${body}--b--\r\n`, headers }));
  const many = Array.from({ length: 20_000 }, (_, n) => part(`f${n}`, '')).join('');
  assert.deepEqual(Object.keys(((await send(many)).body as ErrorAnswer).error.errors!), ['body']);
  const long = Array.from({ length: 3 }, (_, n) => part(`long${n}`, 'a'.repeat(1_200_000))).join('');
  assert.deepEqual(Object.keys(((await send(long)).body as ErrorAnswer).error.errors!), ['long2']);
  await send(part('['.repeat(70_000), 'a'));
  await send(part('name', filled('\r\n--', 1_000_000)));
});

test('a form with too many fields is refused, and no field is dropped silently', async () => {
  const form = Array.from({ length: 1_001 }, (_, n) => `f${n}=1`).join('&');
  const answer = await client.send('PUT', modTarget, { body: form });
  assert.equal(answer.status, 422);
  assert.deepEqual(Object.keys((answer.body as ErrorAnswer).error.errors!), ['body']);
});

const HEADERS = ['accept', 'accept-language', 'accept-encoding', 'cookie', 'range', 'if-none-match', 'origin'].concat([
  ...['content-language', 'x-forwarded-for', 'x-modio-platform', 'x-modio-portal', 'if-range', 'if-modified-since'],
  ...['authorization', 'referer', 'user-agent'],
]);
const HEADER_PIECES = [
  ',',
  'a,',
  'a;q=0.',
  'gzip ',
  ' ',
  'bytes=0-1,',
  '0-,',
  'de-',
  'application/a',
  '"',
  'a=b;',
  '\t',
];

for (const name of HEADERS)
  test(`the header ${name} is bounded`, async () => {
    for (const piece of HEADER_PIECES) {
      const headers = { [name]: `${name === 'authorization' ? 'Bearer ' : ''}x${filled(piece, 12_000)}x` };
      const target = `/v1/games/${game.id}?api_key=${game.api_key}`;
      await bounded(`${name}: ${piece}`, () => api.request('GET', target, { headers }));
      await bounded(`${name}: ${piece} on a page`, () => api.request('GET', '/login', { headers }));
    }
  });

/** Texts that are expensive to process: markup, words, URLs, names. */
const TEXTS = ['a', 'ﷺ', '<b>', '<a href="', '&#x', '[a](', 'http://a.', 'f.u.c.k ', '🄰', '((a+)+', 'a.zip/', '::'];

interface Property {
  readonly type?: string;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly enum?: readonly (string | number)[];
  readonly const?: string | number;
  readonly items?: Property;
  readonly anyOf?: readonly Property[];
}

const TEXT_LENGTH_MAX = 250_000;

/** A value that its schema accepts, with as much of the text as it allows. */
function fittingValue(property: Property, text: string): string {
  const { type, minimum, maxLength } = property;
  if (property.const !== undefined) return String(property.const);
  if (property.enum) return String(property.enum[0]);
  if (property.anyOf) return fittingValue(property.anyOf[0]!, text);
  if (type === 'integer' || type === 'number') return String(Math.max(1, minimum ?? 1));
  if (type === 'boolean') return 'true';
  if (type === 'array') return fittingValue(property.items ?? {}, text);
  return filled(text, Math.min(maxLength ?? 1_000, TEXT_LENGTH_MAX));
}

function bodyWith(properties: Record<string, Property>, text: string): string {
  const pairs = Object.entries(properties).map(([name, property]) => [
    property.type === 'array' ? `${name}[]` : name,
    fittingValue(property, text),
  ]);
  return pairs.map((pair) => pair.map((each) => encodeURIComponent(each!)).join('=')).join('&');
}

const writes = operations.filter(({ declaration: { body, method, files, raw } }) => {
  return Object.keys(body?.shape ?? {}).length > 0 && method !== 'GET' && !raw && !files;
});

for (const operation of writes) {
  const { id, method, body } = operation.declaration;
  const schema = z.toJSONSchema(body, { unrepresentable: 'any', io: 'input' });
  const properties = schema.properties as Record<string, Property>;
  if (!JSON.stringify(properties).includes('"string"')) continue;
  test(`${id} is bounded with every hostile body`, async () => {
    for (const text of TEXTS)
      await boundedPerIteration(`${id} ${text}`, () =>
        client.send(method, targetOf(operation), { body: bodyWith(properties, text) }),
      );
  });
}

test('texts of a mod at their maximum length are bounded and accepted', async () => {
  for (const text of TEXTS) {
    const body = { description: filled(text, 50_000), metadata_blob: filled(text, 50_000), summary: filled(text, 250) };
    for (const [name, value] of Object.entries(body))
      await boundedPerIteration(`${name} ${text}`, () =>
        client.send('PUT', modTarget, { body: `${name}=${encodeURIComponent(value)}` }),
      );
  }
});

/** Expressions that are accepted and keep many states of an automaton alive. */
const EXPRESSIONS = ['(a|aa|aaa)*b', '(a?){10}a{10}b', '(.*a.*){5}b', '[a-y]*[b-z]*[a-c]*x', '(?:a.{0,20}){2}b'];

test('a mod with its longest texts is bounded under as many expensive rules and words as a game can have', async () => {
  const params = { game_id: game.id };
  const comparison = (n: number) => ({
    field: 'payload.description',
    is: 'matches',
    value: `${EXPRESSIONS[n % EXPRESSIONS.length]}${n}`,
  });
  for (let rule = 0; rule < 19; rule += 1) {
    const when = { any: Array.from({ length: 50 }, (_, n) => comparison(rule * 50 + n)) };
    const body = { name: `Expensive ${rule}`, when: JSON.stringify(when), verdict: 'report' };
    const added = await boundedPerIteration(`rule ${rule}`, () => client.call(addGameRule, { params, body }));
    assert.equal(added.status, 201, added.text);
  }
  const denied = Array.from({ length: WORDS_MAX }, (_, n) => `${'a'.repeat(40)}${n}`);
  const listed = await boundedPerIteration('words', () => client.call(editGameWordlists, { params, body: { denied } }));
  assert.equal(listed.status, 200, listed.text);
  for (const text of [...TEXTS, 'aab ', 'ab ﷺ'])
    await boundedPerIteration(`description of ${text}`, () =>
      client.send('PUT', modTarget, { body: `description=${encodeURIComponent(filled(text, 50_000))}` }),
    );
});

reportSlowest();
