import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type FieldValue, parseForm } from './forms.ts';

/** Fields have no prototype, which deepEqual would report as a difference. */
const plain = (value: FieldValue): unknown => JSON.parse(JSON.stringify(value));
const read = (text: string): unknown => plain(parseForm(text));

test('a form is decoded, with plus as space and bytes as UTF-8', () => {
  assert.deepEqual(read('name=M%C3%BChle+am%20Bach&b=%F0%9F%8E%AE&raw=Grüße'), {
    name: 'Mühle am Bach',
    b: '🎮',
    raw: 'Grüße',
  });
});

test('the unencoded report of the C++ SDK keeps its text', () => {
  assert.deepEqual(read('id=2&resource=mods&summary=does not work & crashes 100%&type=2'), {
    id: '2',
    resource: 'mods',
    summary: 'does not work & crashes 100%',
    type: '2',
  });
});

test('a pair without a value is a field with an empty value', () => {
  assert.deepEqual(read('a=1&flag&b=2&&=x'), { a: '1', flag: '', b: '2' });
  assert.deepEqual(read('flag&a='), { flag: '', a: '' });
});

test('malformed escapes stay as text or become half a surrogate pair, which is refused', () => {
  assert.deepEqual(read('a=100%&b=%zz&c=%C3%28&d=%'), { a: '100%', b: '%zz', c: '\ud800(', d: '%' });
});

test('lists are accepted with [], with indexes in any order and with gaps, and with escaped brackets', () => {
  assert.deepEqual(read('tags[]=a&tags[]=b'), { tags: ['a', 'b'] });
  assert.deepEqual(read('tags[1]=b&tags[0]=a'), { tags: ['a', 'b'] });
  assert.deepEqual(read('tags%5B0%5D=a&tags%5B%5D=b'), { tags: ['a', 'b'] });
  assert.deepEqual(read('tags[999999999]=b&tags[7]=a'), { tags: ['a', 'b'] });
});

test('a list of one empty text is the empty list', () => {
  assert.deepEqual(read('tags[]=&keep[]=&keep[]=x&zero[0]='), { tags: [], keep: ['', 'x'], zero: [] });
});

test('brackets nest, and lists contain records', () => {
  assert.deepEqual(read('a[b]=1&a[c][d]=2&l[0][n]=x&l[1][n]=y'), {
    a: { b: '1', c: { d: '2' } },
    l: [{ n: 'x' }, { n: 'y' }],
  });
});

test('the last value of a repeated plain field counts', () => {
  assert.deepEqual(read('a=1&a=2&b[]=1&b=2&c=1&c[]=2'), { a: '2', b: '2', c: ['2'] });
});

test('names of prototype properties are dropped', () => {
  const fields = parseForm('__proto__[admin]=1&constructor=2&a[prototype][x]=3&a[__proto__]=4&b=5&%5F_proto__=6');
  assert.deepEqual(plain(fields), { b: '5' });
  assert.equal(Object.getPrototypeOf(fields), null);
  assert.equal(({} as Record<string, unknown>)['admin'], undefined);
});

test('names deeper than five levels and pairs after the thousandth are dropped', () => {
  assert.deepEqual(read('a[b][c][d][e]=1&a[b][c][d][e][f]=2'), { a: { b: { c: { d: { e: '1' } } } } });
  const many = Array.from({ length: 5_000 }, (_, index) => `f${index}=1`).join('&');
  assert.equal(Object.keys(parseForm(many)).length, 1_000);
});

test('broken brackets are part of the name', () => {
  assert.deepEqual(read('a[b=1&a]=2&[c]=3'), { 'a[b': '1', 'a]': '2', '[c]': '3' });
});

test('the parser reads whatever URLSearchParams writes', () => {
  const name = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((text) => !/[[\]]|^(constructor|prototype)$/.test(text));
  fc.assert(
    fc.property(fc.dictionary(name, fc.string({ unit: 'grapheme' })), (fields) => {
      const sent = Object.entries(fields).map(([key, value]) => [key.toWellFormed(), value.toWellFormed()]);
      const expected = Object.fromEntries(sent.filter(([key]) => key !== '__proto__'));
      assert.deepEqual({ ...parseForm(new URLSearchParams(sent).toString()) }, expected);
    }),
  );
});

function isUtf8(text: string): boolean {
  try {
    decodeURIComponent(text.replaceAll(/%(?![0-9a-f]{2})/gi, '%25').toWellFormed());
    return true;
  } catch {
    return false;
  }
}

test('no text makes the parser throw, and only malformed UTF-8 makes its result unfit for storage', () => {
  const piece = fc.oneof(
    fc.constantFrom('&', '=', '[', ']', '%', '+', ' ', 'a', '0', '[]', '__proto__'),
    fc.string({ unit: 'binary' }),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const sent = pieces.join('');
      const text = JSON.stringify(parseForm(sent));
      assert.ok(text.isWellFormed() && (!text.includes('\\ud') || !isUtf8(sent)));
    }),
  );
});

test('text that PostgreSQL cannot store does not reach it', () => {
  assert.equal(parseForm('name=a%00b').name, 'ab');
});

test('a form of plain names and values has the same result with its first letter escaped', () => {
  const text = (first: string) =>
    fc
      .tuple(fc.constantFrom(...first), fc.string({ unit: fc.constantFrom(...'aZ0_-'), maxLength: 3 }))
      .map((parts) => parts.join(''));
  const name = fc.oneof(text('abZ_'), fc.constantFrom('__proto__', 'constructor', 'api_key', 'id-in'));
  const value = fc.string({ unit: fc.constantFrom(...'az09_.,:*-'), maxLength: 5 });
  const form = fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(form, (pairs) => {
      const sent = pairs.map((pair) => pair.join('=')).join('&');
      const escaped = `%${sent.charCodeAt(0).toString(16)}${sent.slice(1)}`;
      assert.deepEqual(parseForm(sent), parseForm(escaped));
    }),
  );
});
