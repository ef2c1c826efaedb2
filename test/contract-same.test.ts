import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { differences } from '../tools/contract-same.ts';
import { readableJson } from '../tools/json-layout.ts';

/** A document without components: everything is inline. */
const inline = () => ({
  openapi: '3.1.1',
  servers: [{ url: '/v1' }],
  paths: {
    '/mods/{id}': {
      get: {
        operationId: 'get-mod',
        security: [{ api_key: [] }, { oauth2: ['read'] }],
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
          { name: 'page', in: 'query', schema: { type: 'string', enum: ['first', 'last'] } },
        ],
        requestBody: {
          content: { 'application/json': { schema: { type: 'object', properties: { name: { type: 'string' } } } } },
        },
        responses: {
          200: { description: 'OK', content: { 'application/json': { schema: { $ref: '#/components/schemas/Mod' } } } },
          404: { description: 'Not Found', 'x-error-refs': [14000, 15022] },
        },
      },
    },
  },
  components: {
    securitySchemes: { api_key: { type: 'apiKey' }, oauth2: { type: 'http' } },
    parameters: {},
    responses: {},
    schemas: {
      Mod: {
        type: 'object',
        properties: { id: { type: 'integer' }, parent: { $ref: '#/components/schemas/Mod' } },
        required: ['id', 'parent'],
      },
    },
  },
});

type Document = ReturnType<typeof inline>;

function changed(change: (operation: Document['paths']['/mods/{id}']['get'], document: Document) => void): Document {
  const document = inline();
  change(document.paths['/mods/{id}'].get, document);
  return document;
}

test('a document with shared components means the same as one without', () => {
  const shared = changed((operation, document) => {
    const { parameters, responses, schemas } = document.components as unknown as Record<
      string,
      Record<string, unknown>
    >;
    parameters!['Page'] = operation.parameters[1];
    responses!['Missing'] = { $ref: '#/components/responses/NotFound' };
    responses!['NotFound'] = { ...operation.responses[404], 'x-error-refs': [15022, 14000] };
    schemas!['Body'] = operation.requestBody.content['application/json'].schema;
    Object.assign(operation.requestBody.content['application/json'], { schema: { $ref: '#/components/schemas/Body' } });
    Object.assign(operation.responses, { 404: { $ref: '#/components/responses/Missing' } });
    Object.assign(document.paths['/mods/{id}'], { parameters: [operation.parameters[0]] });
    Object.assign(operation, { parameters: [{ $ref: '#/components/parameters/Page' }] });
    operation.security.reverse();
  });
  assert.deepEqual(differences(inline(), shared), []);
});

test('the comparison prints each difference in meaning with its location', () => {
  const cases: [Parameters<typeof changed>[0], string][] = [
    [({ parameters }) => parameters.pop(), 'GET /mods/{id}: parameters: query page: lost '],
    [
      ({ parameters }) => Object.assign(parameters[1]!, { required: true }),
      'GET /mods/{id}: parameters: query page: required: new true',
    ],
    [
      ({ parameters }) => parameters[1]!.schema.enum!.push('next'),
      'GET /mods/{id}: parameters: query page: schema: enum: new "next"',
    ],
    [
      ({ responses }) => responses[404]['x-error-refs'].pop(),
      'GET /mods/{id}: responses: 404: x-error-refs: lost 15022',
    ],
    [
      ({ responses }) => Object.assign(responses, { 409: { description: 'Conflict' } }),
      'GET /mods/{id}: responses: 409: new ',
    ],
    [({ security }) => security.pop(), 'GET /mods/{id}: security: 2: lost '],
    [
      (operation) => Object.assign(operation, { operationId: 'mod' }),
      'GET /mods/{id}: operationId: was "get-mod", is "mod"',
    ],
    [
      ({ requestBody }) =>
        Object.assign(requestBody.content['application/json'].schema.properties, { name: { type: 'integer' } }),
      'GET /mods/{id}: requestBody: content: application/json: schema: properties: name: type: was "string", is "integer"',
    ],
    [(_, { components }) => components.schemas.Mod.required.pop(), 'schema Mod: required: lost "parent"'],
    [(_, { paths }) => Reflect.deleteProperty(paths, '/mods/{id}'), 'GET /mods/{id}: lost '],
    [(_, { components }) => Object.assign(components.schemas, { Unused: {} }), ''],
  ];
  for (const [change, expected] of cases) {
    const [found = '', ...others] = differences(inline(), changed(change));
    assert.ok(
      found.startsWith(expected) && (expected !== '' || found === ''),
      `expected "${expected}", got "${found}"`,
    );
    assert.deepEqual(others, []);
  }
});

test('a schema name may be added, but not removed', () => {
  const named = changed((_, { components }) => Object.assign(components.schemas, { Unused: { type: 'string' } }));
  assert.deepEqual(differences(named, inline()), ['schema Unused: lost {"type":"string"}']);
});

test('the readable layout parses to the same JSON', () => {
  const document = JSON.parse(readFileSync('contract/openapi.json', 'utf8'));
  assert.deepEqual(JSON.parse(readableJson(document)), document);
  assert.deepEqual(differences(document, document), []);
});
