import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { ApiError } from '../../errors/catalogue.ts';
import { coercer, problems, validate } from './coerce.ts';
import { type Fields, parseForm } from './forms.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const coerced = (shape: z.ZodRawShape, fields: Fields): unknown => plain(coercer(z.object(shape))(fields));
const read = (shape: z.ZodRawShape, form: string): unknown => coerced(shape, parseForm(form));

function problemsIn(shape: z.ZodRawShape, fields: Fields) {
  const schema = z.object(shape);
  const result = schema.safeParse(fields);
  return result.success ? [] : problems(result.error, schema, fields);
}

test('text that is a whole number becomes one, other text stays for the schema to refuse', () => {
  const shape = { a: z.int(), b: z.number().int().min(1).optional(), c: z.int(), d: z.int(), e: z.int(), f: z.int() };
  assert.deepEqual(read(shape, 'a=-12&b=007&c=1.0&d=9007199254740993&e=0x10&f=+1'), {
    a: -12,
    b: 7,
    c: '1.0',
    d: '9007199254740993',
    e: '0x10',
    f: ' 1',
  });
});

test('text that is a number becomes one', () => {
  const shape = { a: z.number(), b: z.number(), c: z.number(), d: z.number(), e: z.number() };
  assert.deepEqual(read(shape, 'a=1.50&b=-3&c=1e400&d=Infinity&e=1e3'), {
    a: 1.5,
    b: -3,
    c: '1e400',
    d: 'Infinity',
    e: 1000,
  });
  assert.ok(Object.is((coercer(z.object({ a: z.int() }))({ a: '-0' }) as { a: number }).a, 0));
});

test('booleans are accepted as words of any case, as 1 and 0, and as numbers', () => {
  const shape = { a: z.boolean(), b: z.boolean(), c: z.boolean(), d: z.boolean(), e: z.boolean(), f: z.boolean() };
  const sent: Fields = { a: 'True', b: 'FALSE', c: '1', d: 0, e: 'yes', f: 2 };
  assert.deepEqual(coerced(shape, sent), { a: true, b: false, c: true, d: false, e: 'yes', f: 2 });
});

test('numbers and booleans of input_json become text if the field is text', () => {
  const shape = { a: z.string(), b: z.string().min(1).nullable(), c: z.email(), d: z.string() };
  assert.deepEqual(coerced(shape, { a: 1.5, b: true, c: 0, d: ['x'] }), { a: '1.5', b: 'true', c: '0', d: ['x'] });
});

test('a list is accepted as a list, as one value, or as a record of indexes', () => {
  const shape = { ids: z.array(z.int()) };
  assert.deepEqual(read(shape, 'ids[1]=2&ids[0]=1'), { ids: [1, 2] });
  assert.deepEqual(read(shape, 'ids=3'), { ids: [3] });
  assert.deepEqual(read(shape, 'ids[]='), { ids: [] });
  assert.deepEqual(read(shape, 'ids='), { ids: [] });
  assert.deepEqual(coerced(shape, { ids: { 10: '3', 2: '2', 0: '1' } }), { ids: [1, 2, 3] });
  assert.deepEqual(coerced(shape, { ids: { a: '1' } }), { ids: { a: '1' } });
});

test('the coercer follows wrappers, pipes, nested objects, tuples, records and recursive schemas', () => {
  const node = z.object({
    n: z.int(),
    get next() {
      return node.optional();
    },
  });
  const shape = {
    a: z.int().nullable().optional().readonly(),
    b: z.int().default(1),
    c: z.int().transform((value) => value * 2),
    d: z.object({ e: z.array(z.object({ f: z.boolean() })) }),
    g: z.tuple([z.int(), z.string()]),
    h: z.record(z.string(), z.int()),
    i: node,
    j: z.lazy(() => z.int()),
    k: z.intersection(z.object({ l: z.int() }), z.object({ m: z.boolean() })),
  };
  const form = 'a=1&b=2&c=3&d[e][0][f]=0&g[]=1&g[]=2&h[x]=1&i[n]=1&i[next][n]=2&j=1&k[l]=1&k[m]=1&k[x]=1';
  assert.deepEqual(read(shape, form), {
    a: 1,
    b: 2,
    c: 3,
    d: { e: [{ f: false }] },
    g: [1, '2'],
    h: { x: 1 },
    i: { n: 1, next: { n: 2 } },
    j: 1,
    k: { l: 1, m: true },
  });
  assert.deepEqual(read({ h: z.record(z.string(), z.int()) }, 'h[0]=5'), { h: { 0: 5 } });
});

test('literals and enums of numbers are recognised in their text form', () => {
  const shape = {
    a: z.literal([1, -1]),
    b: z.union([z.literal(0), z.literal(2)]),
    c: z.enum(['1', 'x']),
    d: z.literal(true),
    e: z.enum({ A: 3 }),
  };
  assert.deepEqual(coerced(shape, { a: '-1', b: '2', c: 1, d: 'true', e: '3' }), {
    a: -1,
    b: 2,
    c: '1',
    d: true,
    e: 3,
  });
  assert.deepEqual(coerced(shape, { a: '5', b: 'x', e: 'A' }), { a: '5', b: 'x', e: 'A' });
});

test('a union uses the first option that fits, and a discriminator selects its option even if the rest is wrong', () => {
  const shape = {
    id: z.union([z.int(), z.string()]),
    what: z.discriminatedUnion('type', [
      z.object({ type: z.literal(1), size: z.int(), name: z.string() }),
      z.object({ type: z.literal(2), on: z.boolean() }),
    ]),
  };
  assert.deepEqual(read(shape, 'id=5&what[type]=2&what[on]=1&what[x]=1'), { id: 5, what: { type: 2, on: true } });
  assert.deepEqual(read(shape, 'id=five&what[type]=1&what[size]=3'), { id: 'five', what: { type: 1, size: 3 } });
});

test('an empty text counts as missing for an optional field that is not text', () => {
  const shape = {
    a: z.int().optional(),
    b: z.boolean().default(true),
    c: z.enum(['x']).optional(),
    d: z.string().optional(),
    e: z.int(),
    f: z.array(z.string()).optional(),
    g: z.enum(['', 'x']).optional(),
  };
  assert.deepEqual(read(shape, 'a=&b=&c=&d=&e=&f=&g='), { d: '', e: '', g: '' });
});

test('null counts as missing for an optional field, unless the field may be null', () => {
  const shape = { a: z.int().optional(), b: z.int().nullish(), c: z.string(), d: z.string().default('x') };
  assert.deepEqual(coerced(shape, { a: null, b: null, c: null, d: null }), { b: null, c: null });
});

test('keys that the schema does not name are dropped, at any depth', () => {
  const shape = { name: z.string(), in: z.strictObject({ a: z.int() }), any: z.looseObject({ a: z.int() }) };
  const sent = parseForm('name=x&status=1&in[a]=1&in[id]=2&any[a]=1&any[b]=2');
  assert.deepEqual(coerced(shape, sent), { name: 'x', in: { a: 1 }, any: { a: 1, b: '2' } });
  assert.deepEqual(coerced({ toString: z.string().optional() }, {}), {});
});

test('the input is not changed', () => {
  const shape = { a: z.int(), list: z.array(z.object({ b: z.int() })) };
  fc.assert(
    fc.property(fc.record({ a: fc.string(), list: fc.array(fc.record({ b: fc.string() })) }), (fields) => {
      const before = plain(fields);
      coercer(z.object(shape))(fields);
      assert.deepEqual(plain(fields), before);
    }),
  );
});

test('no JSON makes the coercer throw', () => {
  const schema = z.object({
    a: z.array(z.int()),
    b: z.object({ c: z.boolean() }).optional(),
    d: z.union([z.int(), z.array(z.string())]),
    e: z.record(z.string(), z.enum(['x'])),
    f: z.tuple([z.int()]),
  });
  const value = fc.jsonValue() as fc.Arbitrary<Fields>;
  fc.assert(
    fc.property(
      fc.record({ a: value, b: value, d: value, e: value, f: value }),
      (fields) => void coercer(schema)(fields),
    ),
  );
});

test('every missing field is required, whatever its type', () => {
  const shape = {
    a: z.string(),
    b: z.int(),
    c: z.enum(['x']),
    d: z.union([z.literal(1), z.literal(2)]),
    e: z.object({}),
    f: z.array(z.int()),
    g: z.discriminatedUnion('t', [z.object({ t: z.literal(1) })]),
  };
  assert.deepEqual(
    problemsIn(shape, {}),
    ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((field) => ({ field, rule: 'required' })),
  );
});

test('a wrong type has the rule of the expected type', () => {
  const shape = {
    a: z.string(),
    b: z.int(),
    c: z.number().int().optional(),
    d: z.number(),
    e: z.boolean(),
    f: z.array(z.int()),
    g: z.object({ h: z.int() }),
    i: z.record(z.string(), z.string()),
    j: z.int(),
  };
  const sent: Fields = { a: [], b: 'x', c: 'x', d: 'x', e: 'x', f: ['x'], g: { h: 'x' }, i: 'x', j: 1.5 };
  assert.deepEqual(
    problemsIn(shape, sent).map(({ field, rule }) => `${field} ${rule}`),
    [
      'a string',
      'b integer',
      'c integer',
      'd number',
      'e boolean',
      'f.0 integer',
      'g.h integer',
      'i object',
      'j integer',
    ],
  );
});

test('problems of formats, choices and limits contain their values', () => {
  const shape = {
    a: z.email(),
    b: z.url(),
    c: z.string().regex(/^a$/),
    d: z.enum(['x', 'y']),
    e: z.union([z.literal(1), z.literal(2)]),
    f: z.string().min(2).max(3),
    g: z.string().max(3),
    h: z.number().min(2),
    i: z.int().max(3),
    j: z.array(z.int()).min(1),
    k: z.array(z.int()).max(1),
    l: z.number().multipleOf(5),
    m: z.discriminatedUnion('t', [z.object({ t: z.literal('p') }), z.object({ t: z.literal('q') })]),
  };
  const sent: Fields = {
    a: 'x',
    b: 'x',
    c: 'x',
    d: 'z',
    e: 3,
    f: 'x',
    g: 'long',
    h: 1,
    i: 4,
    j: [],
    k: [1, 2],
    l: 3,
    m: { t: 'z' },
  };
  assert.deepEqual(problemsIn(shape, sent), [
    { field: 'a', rule: 'email' },
    { field: 'b', rule: 'url' },
    { field: 'c', rule: 'pattern' },
    { field: 'd', rule: 'enum', values: { values: 'x, y' } },
    { field: 'e', rule: 'enum', values: { values: '1, 2' } },
    { field: 'f', rule: 'string_min', values: { min: 2 } },
    { field: 'g', rule: 'string_max', values: { max: 3 } },
    { field: 'h', rule: 'number_min', values: { min: 2 } },
    { field: 'i', rule: 'number_max', values: { max: 3 } },
    { field: 'j', rule: 'array_min', values: { min: 1 } },
    { field: 'k', rule: 'array_max', values: { max: 1 } },
    { field: 'l', rule: 'invalid' },
    { field: 'm.t', rule: 'enum', values: { values: 'p, q' } },
  ]);
});

test('a refinement may name its own rule, and one field has one problem', () => {
  const rule = (name: string) => ({ params: { rule: name, values: { max: 3 } } });
  const shape = {
    a: z
      .string()
      .refine(() => false, rule('color'))
      .refine(() => false, rule('pattern')),
    b: z.string().refine(() => false),
  };
  assert.deepEqual(problemsIn(shape, { a: 'x', b: 'x' }), [
    { field: 'a', rule: 'color', values: { max: 3 } },
    { field: 'b', rule: 'invalid' },
  ]);
});

test('validate gives typed values or one error with every field', () => {
  const schema = z.object({ id: z.int(), tags: z.array(z.string()).default([]), visible: z.boolean().optional() });
  const given: { id: number; tags: string[]; visible?: boolean | undefined } = validate(
    schema,
    parseForm('id=1&visible=True&x=1'),
  );
  assert.deepEqual(given, { id: 1, tags: [], visible: true });
  assert.throws(
    () => validate(schema, parseForm('visible=maybe&id=1e3')),
    (error) => {
      assert.ok(error instanceof ApiError && error.error === 'VALIDATION_GENERIC');
      assert.deepEqual(error.fields, [
        { field: 'id', rule: 'integer' },
        { field: 'visible', rule: 'boolean' },
      ]);
      return true;
    },
  );
});
