// Runs on one database: the document is made from the declarations.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { operations } from '../src/composition/resources.ts';
import type { OpenApiDocument, OperationObject, Parameter } from '../src/platform/http/openapi/types.ts';
import { contractProblem } from '../tools/contract.ts';
import { docsProblem } from '../tools/docs.ts';
import { startApi } from './api.ts';

const api = await startApi();
const text = readFileSync('contract/openapi.json', 'utf8');
const document: OpenApiDocument = JSON.parse(text);
const described = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

function found<T>(value: T | { $ref: string }): T {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value as T;
  const steps = (value.$ref as string).replace(/^#\//, '').split('/');
  const target = steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], document);
  assert.ok(target, `${value.$ref} leads nowhere`);
  return target as T;
}

function referencesIn(value: unknown): { $ref: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = typeof (value as { $ref?: unknown }).$ref === 'string' ? [value as { $ref: string }] : [];
  return [...own, ...Object.values(value).flatMap(referencesIn)];
}

const parametersOf = ({ parameters }: OperationObject): Parameter[] => parameters.map((each) => found(each));

test('the document is OpenAPI 3.1, and each of its references has a target', () => {
  assert.match(document.openapi, /^3\.1\.\d+$/);
  assert.ok(document.info.title && document.info.version && document.servers.length > 0);
  const references = referencesIn(document);
  assert.ok(references.length > 0);
  for (const reference of references) found(reference);
});

test('every component has a valid name and is used', () => {
  const used = new Set(referencesIn(document).map(({ $ref }) => $ref));
  const { securitySchemes: _used, ...kinds } = document.components;
  for (const [kind, components] of Object.entries(kinds))
    for (const name of Object.keys(components)) {
      assert.match(name, /^[\w.-]+$/);
      assert.ok(used.has(`#/components/${kind}/${name}`), `${kind}/${name} is not used`);
    }
});

test('every error response is a component, and components are sorted by name', () => {
  for (const { operation } of described)
    for (const [status, response] of Object.entries(operation.responses))
      assert.equal(
        '$ref' in response,
        found(response)['x-error-refs'] !== undefined,
        `${operation.operationId} ${status}`,
      );
  const { parameters, responses, schemas } = document.components;
  const { Error: _first, ...objects } = schemas;
  for (const names of [parameters, responses, objects].map(Object.keys)) assert.deepEqual(names, names.toSorted());
});

test('the document is short enough for review, with a line per field and its references side by side', () => {
  const lines = text.split('\n');
  assert.ok(lines.length < 15_000, `${lines.length} lines`);
  assert.ok(lines.includes('          "username": { "type": "string" },'));
  const busy = '"500": { "$ref": "#/components/responses/InternalServerError" }, "503": { "$ref": ';
  assert.ok(lines.filter((line) => line.includes(busy)).length > 100);
});

test('each operation is described once, under its id, with a known tag and security scheme', () => {
  assert.deepEqual(
    described.map(({ operation }) => operation.operationId).sort(),
    operations.map(({ declaration }) => declaration.id).sort(),
  );
  const tags = document.tags.map(({ name }) => name);
  const schemes = Object.keys(document.components.securitySchemes);
  for (const { operation } of described) {
    assert.ok(operation.tags.every((tag) => tags.includes(tag)));
    for (const scheme of operation.security.flatMap(Object.keys)) assert.ok(schemes.includes(scheme), scheme);
  }
});

test('parameters are unique, and the path parameters are exactly those in braces', () => {
  for (const { path, operation } of described) {
    const parameters = parametersOf(operation);
    const keys = parameters.map((each) => `${each.in} ${each.name}`);
    assert.deepEqual(keys, [...new Set(keys)], operation.operationId);
    for (const { name, schema } of parameters) assert.ok(name && schema, operation.operationId);
    const inPath = parameters.filter((each) => each.in === 'path');
    assert.ok(inPath.every(({ required }) => required === true));
    assert.deepEqual(
      inPath.map(({ name }) => name),
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
    );
  }
});

test('required fields of a body exist, and a body has one media type', () => {
  for (const { operation } of described) {
    const contents = Object.entries(operation.requestBody?.content ?? {});
    assert.equal(contents.length, operation.requestBody ? 1 : 0);
    for (const [type, { schema }] of contents) {
      assert.match(
        type,
        /^(?:application\/x-www-form-urlencoded|multipart\/form-data|application\/octet-stream|application\/json)$/,
      );
      const { properties = {}, required = [] } = schema;
      assert.ok(required.every((name) => Object.hasOwn(properties, name)));
      const hasFile = Object.values(properties).some(({ format }) => format === 'binary');
      assert.equal(type === 'multipart/form-data', hasFile, operation.operationId);
    }
  }
});

/** Statuses of file downloads besides 200; they have no error body. */
const OF_FILES = new Set(['206', '302', '304', '412', '416']);

/** 200 besides 201: the resource may already exist. */
const isOneSuccess = (statuses: readonly string[]) => statuses.length === 1 || statuses.join() === '200,201';

test('each operation has one success status, and each error status lists its references', () => {
  for (const { operation } of described) {
    const isFile = '206' in operation.responses;
    const statuses = Object.keys(operation.responses).filter((status) => !(isFile && OF_FILES.has(status)));
    const successes = statuses.filter((status) => status.startsWith('2'));
    assert.ok(isOneSuccess(successes), `${operation.operationId} ${successes}`);
    for (const status of statuses) {
      const response = found(operation.responses[status]!);
      assert.ok(response.description);
      const refs = response['x-error-refs'];
      assert.equal(refs === undefined, status.startsWith('2'), `${operation.operationId} ${status}`);
      assert.deepEqual(refs, refs && [...new Set(refs)].sort((one, other) => one - other));
    }
  }
});

test('the service serves the document in contract/', async () => {
  const answer = await api.request('GET', '/v1/openapi.json');
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.body, document);
});

test('contract/openapi.json is up to date', () => assert.equal(contractProblem(), undefined));

test('the generated documents are up to date', async () => assert.equal(await docsProblem(), undefined));
