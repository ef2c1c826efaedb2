import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../../errors/catalogue.ts';
import { parseForm } from './forms.ts';
import { mergeInputJson, parseInputJson } from './json.ts';

const malformed = (run: () => unknown) =>
  assert.throws(run, (error) => error instanceof ApiError && error.error === 'JSON_MALFORMED');
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('input_json is one object, with or without a byte order mark', () => {
  assert.deepEqual(plain(parseInputJson('\uFEFF {"a":[1,"x",null,true,{"b":-1.5}]}')), {
    a: [1, 'x', null, true, { b: -1.5 }],
  });
});

test('anything but one object is malformed', () => {
  for (const text of [
    '',
    ' ',
    '[]',
    '1',
    'null',
    '"a"',
    '{',
    '{"a":1}{',
    '{"a":}',
    "{'a':1}",
    '{"a":"\n"}',
    '{"a":1,}',
  ]) {
    malformed(() => parseInputJson(text));
  }
});

test('32 levels are read, 33 and a million are malformed', () => {
  const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
  assert.ok(parseInputJson(nested(32)));
  malformed(() => parseInputJson(nested(33)));
  malformed(() => parseInputJson(nested(1_000_000)));
  malformed(() => parseInputJson('['.repeat(1_000_000)));
});

test('brackets inside texts do not count as levels', () => {
  const text = '[{'.repeat(100);
  assert.deepEqual(plain(parseInputJson(JSON.stringify({ a: text, b: `\\"${text}` }))), { a: text, b: `\\"${text}` });
});

test('an unfinished text of many quotes is refused in linear time', () => {
  malformed(() => parseInputJson(`{"${'\\"'.repeat(2_000_000)}`));
});

test('prototypes are unreachable, and lone surrogates stay for a later check', () => {
  const fields = parseInputJson('{"__proto__":{"x":1},"a":{"__proto__":1,"constructor":2,"b":"\\ud800"},"k\\udc00":1}');
  assert.deepEqual(plain(fields), { a: { b: '\ud800' }, 'k\udc00': 1 });
  assert.equal(Object.getPrototypeOf(fields), null);
});

test('numbers that are too large stay as JSON parses them', () => {
  const { big, huge, zero } = parseInputJson('{"big":9007199254740993,"huge":1e400,"zero":-0}');
  assert.deepEqual([big, huge, zero], [9007199254740992, Infinity, -0]);
});

test('the parser reads whatever JSON.stringify writes', () => {
  const clean = (value: unknown) => !/"(__proto__|constructor|prototype)":/.test(JSON.stringify(value));
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 6 })).filter(clean), (value) => {
      assert.deepEqual(plain(parseInputJson(JSON.stringify(value))), plain(value));
    }),
  );
});

test('a key of input_json overrides the plain one, and input_json itself is removed', () => {
  const sent = parseForm('name=plain&summary=kept&input_json={"name":"json","input_json":"again","tags":["a"]}');
  const merged = mergeInputJson(sent);
  assert.deepEqual(plain(merged), { name: 'json', summary: 'kept', tags: ['a'] });
  assert.equal(Object.getPrototypeOf(merged), null);
  assert.equal(sent['name'], 'plain');
});

test('input_json that is a list, a record or empty is malformed', () => {
  for (const text of ['input_json[]=1', 'input_json[a]=1', 'input_json='])
    malformed(() => mergeInputJson(parseForm(text)));
});

test('fields without input_json stay as they are', () => {
  assert.deepEqual(plain(mergeInputJson(parseForm('a=1'))), { a: '1' });
});

test('text that PostgreSQL cannot store does not reach it', () => {
  assert.equal(parseInputJson('{"name":"a\\u0000b"}').name, 'ab');
});
