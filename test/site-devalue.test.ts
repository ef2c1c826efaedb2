// Runs on one database: it needs none.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse, stringify, unflatten } from '../site/src/devalue.ts';

const { resolve } = createRequire(new URL('../site/package.json', import.meta.url));
const kit = createRequire(resolve('@sveltejs/kit/package.json'));
const service = (await import(kit.resolve('devalue'))) as typeof import('../site/src/devalue.ts');

// The service refuses to write the key `__proto__`. The filter is on the parts, because JSON shows no entry of a Map.
const json = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('__proto__'));
const keyed = fc.dictionary(
  fc.string().filter((key) => key !== '__proto__'),
  fc.oneof(json, fc.constant(undefined)),
);
const sent = fc.oneof(
  keyed,
  json,
  fc.array(fc.oneof(json, fc.constantFrom(undefined, Number.NaN, -0, Number.POSITIVE_INFINITY))),
  fc.date({ noInvalidDate: true }),
  fc.array(fc.tuple(fc.string(), json)).map((entries) => new Map(entries)),
  fc.array(json).map((items) => new Set(items)),
);

test('a browser reads the data of pages as the service has written it', () => {
  fc.assert(
    fc.property(sent, (value) => {
      assert.deepEqual(parse(service.stringify(value)), value);
    }),
  );
  const shared = { name: 'once' };
  const [one, other] = parse(service.stringify([shared, shared])) as object[];
  assert.equal(one, other);
  const own: Record<string, unknown> = {};
  own['self'] = own;
  const read = parse(service.stringify(own)) as typeof own;
  assert.equal(read['self'], read);
  assert.deepEqual(unflatten([{ late: 1 }, ['Promise', 2], 7], { Promise: (id: number) => `of ${id}` }), {
    late: 'of 7',
  });
  assert.throws(() => parse('[{"__proto__":1},{}]'));
  assert.throws(() => parse('[["BigInt","1"]]'), /BigInt/);
});

test('a browser reads the state of its history again', () => {
  fc.assert(
    fc.property(fc.oneof(keyed, json).map(structuredClone), (value) => {
      assert.deepEqual(parse(stringify(value)), value);
    }),
  );
  const special = { zero: -0, none: undefined, not: [Number.NaN, Number.NEGATIVE_INFINITY] };
  assert.deepEqual(parse(stringify(special)), special);
});
