import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { operations } from '../src/composition/resources.ts';
import { type AnyOperation, isEventStream } from '../src/platform/http/operation.ts';
import { type Answer, type ErrorAnswer, startApi } from './api.ts';

// The requests are random in each run; a failure prints its seed.
const RUNS = Number(process.env['MODSTEAD_TEST_FUZZ_RUNS'] ?? 10);
const SEED = process.env['MODSTEAD_TEST_SEED'];

// Plain HTTP as behind a proxy: a refusal closes the connection, and TLS handshakes would take most of the time.
const api = await startApi({ settings: { MODSTEAD_TRUST_PROXY: '127.0.0.1' } });
const owner = await api.aUser();
const game = await api.aGame({ owner });
const client = await api.as(owner);

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e400',
    'NaN',
    '9007199254740993',
    'null',
    '[]',
    '{}',
    '%',
    '%zz',
    '\u0000',
    "' or 1=1 --",
    '../../etc',
    '𝕏'.repeat(300),
  ),
  fc.integer().map(String),
);
const nested = (name: string) =>
  fc.constantFrom(
    name,
    `${name}[]`,
    `${name}[0]`,
    `${name}[a]`,
    `${name}[a][b][c][d][e][f]`,
    `${name}[__proto__]`,
    `${name}-in`,
    `${name}-bitwise-and`,
    `${name}-lk`,
    `${name}-min`,
  );

/** Field names of the operation, and some unknown ones. */
function namesOf({ declaration }: AnyOperation): string[] {
  const own = [declaration.query, declaration.body].flatMap((schema) => Object.keys(schema?.shape ?? {}));
  const lists = declaration.list
    ? [...Object.keys(declaration.list.columns), '_limit', '_offset', '_sort', '_q', 'or_fields']
    : [];
  return [...own, ...lists, 'input_json', 'api_key', 'constructor', 'x'];
}

const pairs = (operation: AnyOperation) =>
  fc.array(fc.tuple(fc.constantFrom(...namesOf(operation)).chain(nested), text), { maxLength: 8 });

const encoded = (list: readonly [string, string][], wellFormed: boolean) =>
  list
    .map(([name, value]) =>
      wellFormed
        ? `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`
        : `${name}=${value.toWellFormed()}`,
    )
    .join('&');

const inputJson = fc.oneof(
  fc.json(),
  fc.constant('{"a":'.repeat(5000)),
  fc.constant('{"summary":1e999,"theme":[{}]}'),
  text,
);
const contentType = fc.constantFrom(
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=b',
  'application/json',
  'text/plain',
  ';;;',
  '',
);
const headerValue = fc.string({ unit: fc.constantFrom(...'abcdeDE-,;q=0.1*_ '), maxLength: 30 });

const attempt = (operation: AnyOperation) =>
  fc.record({
    params: fc.array(
      fc.oneof(
        fc.constant(String(game.id)),
        fc.constantFrom('0', '-1', '1.5', 'x', '99999999999999999999', '%00', '%2e%2e', '%F0'),
      ),
      { minLength: 3, maxLength: 3 },
    ),
    query: pairs(operation),
    body: fc.oneof(
      pairs(operation).map((list) => encoded(list, true)),
      pairs(operation).map((list) => encoded(list, false)),
      inputJson.map((json) => `input_json=${encodeURIComponent(json.toWellFormed())}`),
      text.map((noise) => `--b\r\nContent-Disposition: form-data; name="logo"; filename="x"\r\n\r\n${noise}\r\n--b`),
      fc.string({ unit: 'binary', maxLength: 200 }),
    ),
    contentType,
    language: headerValue,
    platform: headerValue,
    authorised: fc.boolean(),
  });

const assertHead = (status: number, about: string) => assert.ok(status >= 200 && status < 500, `${about} → ${status}`);

function assertAnswered({ declaration }: AnyOperation, answer: Answer, about: string): void {
  assert.ok(answer.status >= 200 && answer.status < 500, `${about} → ${answer.status} ${answer.text.slice(0, 300)}`);
  assert.ok(answer.status === 204 || answer.headers['content-length'] !== undefined, about);
  if (answer.status < 400) return;
  const { error } = answer.body as ErrorAnswer;
  if (declaration.refusal) return void assert.equal(typeof error, 'string', about);
  assert.equal(error.code, answer.status, about);
  assert.equal(typeof error.error_ref, 'number', about);
  assert.ok(error.errors === undefined || answer.status === 422, about);
}

for (const operation of operations) {
  const { id, method, path, returns } = operation.declaration;
  const isStream = isEventStream(returns);
  test(`${id} answers malformed requests with a 4xx`, async () => {
    await fc.assert(
      fc.asyncProperty(
        attempt(operation),
        async ({ params, query, body, contentType: type, language, platform, authorised }) => {
          let next = 0;
          const target = `/v1${path.replace(/\{\w+\}/g, () => params[next++]!)}?${encoded(query, true)}`;
          const headers: Record<string, string> = { 'accept-language': language, 'x-modio-platform': platform };
          if (type) headers['content-type'] = type;
          if (authorised && id !== 'logout') headers['authorization'] = `Bearer ${client.token}`;
          else headers['x-key'] = 'none';
          const about = `${method} ${target} ${JSON.stringify({ type, body: body.slice(0, 200) })}`;
          // An event stream does not end, so only its head is read.
          if (isStream) return assertHead((await api.proxied('HEAD', target, { headers })).status, about);
          const answer = await api.proxied(method, target, { headers, ...(method !== 'GET' && { body }) });
          assertAnswered(operation, answer, about);
        },
      ),
      { numRuns: RUNS, ...(SEED !== undefined && { seed: Number(SEED) }) },
    );
  });
}

for (const operation of operations.filter(({ declaration }) => declaration.list)) {
  const { id, method, path, list } = operation.declaration;
  test(`${id} answers filters without a value with a 4xx or a list`, async () => {
    const headers = { authorization: `Bearer ${client.token}` };
    for (const name of Object.keys(list!.columns)) {
      const target = `/v1${path.replace(/\{\w+\}/g, () => String(game.id))}?${name}[]=`;
      assertAnswered(operation, await api.proxied(method, target, { headers }), target);
    }
  });
}
