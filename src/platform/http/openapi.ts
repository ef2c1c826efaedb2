import { STATUS_CODES } from 'node:http';
import { HOLDERS, type Power } from '../access/powers.ts';
import type { Listing } from '../database/listing.ts';
import { ApiError, type ErrorName, errors } from '../errors/catalogue.ts';
import { PLATFORMS, PORTALS } from '../game-platforms.ts';
import { ABOUT } from './about.ts';
import { gatherSchemas, type JsonSchema, type Schemas } from './json-schemas.ts';
import { type AnyOperation, type HeaderField, isCsv, isEventStream, isStoredFile, takesBody } from './operation.ts';
import { protocolErrorsOf, UNIVERSAL_ERRORS } from './protocol-errors.ts';
import { bytesText } from './request/body.ts';
import { PAGE_MAX } from './request/list.ts';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: JsonSchema;
}

type Reference = { $ref: string };

export interface Response {
  description: string;
  headers?: Record<string, Reference>;
  content?: Record<string, { schema: JsonSchema }>;
  'x-error-refs'?: number[];
}

export interface OperationObject {
  operationId: string;
  tags: string[];
  description: string;
  security: Record<string, string[]>[];
  'x-requests-per-minute'?: number;
  'x-allowsRules'?: true;
  /** What it decides over, and which of a person's tokens may. */
  'x-power'?: Power;
  'x-credentials'?: Record<string, string>;
  parameters: (Parameter | Reference)[];
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, Response | Reference>;
}

export interface OpenApiDocument {
  openapi: '3.1.1';
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, OperationObject>>;
  components: {
    securitySchemes: Record<string, unknown>;
    parameters: Record<string, Parameter>;
    headers: Record<string, unknown>;
    responses: Record<string, Response>;
    schemas: Record<string, JsonSchema>;
  };
}

type RawRule = NonNullable<AnyOperation['declaration']['raw']>;

const JSON_TYPE = 'application/json';
const METHODS = ['GET', 'POST', 'PUT', 'DELETE'];

/** The description of the API, read off the declarations: the same declarations give the same text. */
export function openApiDocument(operations: readonly AnyOperation[]): OpenApiDocument {
  const schemas = gatherSchemas();
  const paths: OpenApiDocument['paths'] = {};
  for (const operation of operations.toSorted(byPathAndMethod)) {
    const { path, method } = operation.declaration;
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = operationObject(operation, schemas);
  }
  const tags = new Set(operations.map(({ declaration }) => declaration.tag));
  return {
    openapi: '3.1.1',
    info: {
      title: 'Modstead',
      version: '1',
      description: ABOUT.map(({ title, text }) => `## ${title}\n\n${text}`).join('\n\n'),
    },
    servers: [{ url: '/v1' }],
    tags: [...tags].sort().map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: SHARED_PARAMETERS,
      headers: HEADERS,
      responses: Object.fromEntries(sharedResponses.map(({ name, response }) => [name, response])),
      schemas: { Error: ERROR_SCHEMA, ...schemas.components() },
    },
  };
}

function byPathAndMethod({ declaration: one }: AnyOperation, { declaration: other }: AnyOperation): number {
  if (one.path !== other.path) return one.path < other.path ? -1 : 1;
  return METHODS.indexOf(one.method) - METHODS.indexOf(other.method);
}

function operationObject(operation: AnyOperation, schemas: Schemas): OperationObject {
  const { id, tag, says, limit, raw, rules } = operation.declaration;
  return {
    operationId: id,
    tags: [tag],
    description: says,
    security: securityOf(operation),
    ...powerOfOperation(operation),
    ...(limit !== undefined && { 'x-requests-per-minute': limit }),
    ...(rules && { 'x-allowsRules': rules }),
    parameters: parametersOf(operation, schemas),
    ...(takesBody(operation) && { requestBody: requestBodyOf(operation, schemas) }),
    ...(raw && { requestBody: rawBodyOf(raw) }),
    responses: { ...successOf(operation, schemas), ...errorsOf(operation, schemas) },
  };
}

const SECURITY_SCHEMES = {
  api_key: {
    type: 'apiKey',
    in: 'query',
    name: 'api_key',
    description: 'The key of a game or of a person: 32 letters and digits. It reads, and signs people in.',
  },
  oauth2: {
    type: 'http',
    scheme: 'bearer',
    description: 'A person’s access token. Its scopes are `read` and `write`.',
  },
  service: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The token of a game’s backend, from the grant `client_credentials`. Its scopes are `read`, `write`, `update` and `monetization`.',
  },
};

function securityOf({ declaration: { access, method } }: AnyOperation): OperationObject['security'] {
  switch (access.kind) {
    case 'anyone':
      return [];
    case 'authentication':
      return [{ api_key: [] }];
    case 'reader':
      return [
        ...(method === 'GET' || access.keyWrites ? [{ api_key: [] }] : []),
        { oauth2: ['read'] },
        ...(method === 'GET' || access.keyWrites ? [{ service: [access.keyWrites ? 'write' : 'read'] }] : []),
        ...(access.link ? [{}] : []),
      ];
    case 'user':
      return [{ oauth2: [access.scope] }, ...(access.service ? [{ service: [access.service] }] : [])];
    case 'service':
      return [{ service: [access.scope, ...access.besides] }];
  }
}

/** A service token is told of where it is enough: it holds no power of a person. */
function powerOfOperation({ declaration: { access } }: AnyOperation) {
  if (access.kind !== 'user') return {};
  const holders = Object.entries(HOLDERS[access.power]).filter(([, says]) => says !== undefined);
  return { 'x-power': access.power, 'x-credentials': Object.fromEntries(holders) as Record<string, string> };
}

const SHARED_PARAMETERS: Record<string, Parameter> = {
  AcceptLanguage: {
    name: 'Accept-Language',
    in: 'header',
    description: 'The language of messages and of localised fields. Without it the person’s own, or English.',
    schema: { type: 'string' },
  },
  ContentLanguage: {
    name: 'Content-Language',
    in: 'header',
    description:
      'The language in which localisable fields are sent; other than English, they are kept as translations.',
    schema: { type: 'string' },
  },
  Limit: {
    name: '_limit',
    in: 'query',
    description: 'How many results a page has; more than the maximum counts as the maximum.',
    schema: { type: 'integer', minimum: 1, maximum: PAGE_MAX, default: PAGE_MAX },
  },
  Offset: {
    name: '_offset',
    in: 'query',
    description: 'How many results are skipped.',
    schema: { type: 'integer', minimum: 0, default: 0 },
  },
  OrFields: {
    name: 'or_fields[]',
    in: 'query',
    description: 'Up to three filters, separated by commas, of which one is enough; up to two such groups.',
    schema: { type: 'array', items: { type: 'string' }, maxItems: 2 },
  },
  Platform: {
    name: 'X-Service-Platform',
    in: 'header',
    description: 'The platform that is targeted. Also read as `X-Modio-Platform`.',
    schema: { type: 'string', enum: [...PLATFORMS] },
  },
  Portal: {
    name: 'X-Service-Portal',
    in: 'header',
    description: 'The store or portal that the caller comes from. Also read as `X-Modio-Portal`.',
    schema: { type: 'string', enum: [...PORTALS] },
  },
  Search: {
    name: '_q',
    in: 'query',
    description: 'Words, of which at least one occurs, whole or as a beginning.',
    schema: { type: 'string' },
  },
};

const shared = (name: string): Reference => ({ $ref: `#/components/parameters/${name}` });

function parametersOf(operation: AnyOperation, schemas: Schemas): (Parameter | Reference)[] {
  const { path, params, query, list, access } = operation.declaration;
  const named = new Map([...fieldsOf(query, 'input', schemas)].map(([name, field]) => [queryName(name, field), field]));
  const columns = list ? columnsOf(list).filter(({ name }) => !named.has(name)) : [];
  return [
    ...pathParameters(path, fieldsOf(params, 'output', schemas)),
    ...columns,
    ...[...named].map(([name, field]) => parameter(name, 'query', field)),
    ...(list ? pagingOf(list) : []),
    ...headersOf(operation),
    shared('AcceptLanguage'),
    ...(takesBody(operation) ? [shared('ContentLanguage')] : []),
    ...(access.kind === 'anyone' ? [] : [shared('Platform'), shared('Portal')]),
  ];
}

function headersOf({ declaration: { headers = {} } }: AnyOperation): Parameter[] {
  return Object.entries(headers as Record<string, HeaderField>).map(([name, { required = false, says }]) =>
    parameter(headerName(name), 'header', { schema: { type: 'string', description: says }, required }),
  );
}

const headerName = (name: string) => name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());

interface Field {
  readonly schema: JsonSchema;
  readonly required: boolean;
}

function fieldsOf(
  object: AnyOperation['declaration']['query'],
  io: 'input' | 'output',
  schemas: Schemas,
): Map<string, Field> {
  const { properties = {}, required = [] }: JsonSchema = object ? schemas.of(object, io) : {};
  return new Map(
    Object.entries(properties).map(([name, schema]) => [name, { schema, required: required.includes(name) }]),
  );
}

/** In the order of the path, and also where the declaration has no schema for them. */
function pathParameters(path: string, fields: ReadonlyMap<string, Field>): Parameter[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return names.map((name) =>
    parameter(name, 'path', { schema: fields.get(name)?.schema ?? { type: 'string' }, required: true }),
  );
}

function parameter(name: string, place: Parameter['in'], { schema, required }: Field): Parameter {
  const { description, ...rest } = schema;
  return {
    name,
    in: place,
    ...(required && { required }),
    ...(description && { description }),
    schema: rest,
  };
}

function columnsOf({ columns }: Listing): Parameter[] {
  return Object.entries(columns).map(([name, { kind }]) => ({
    name,
    in: 'query',
    description: `Filter, also with a suffix such as \`${name}-in\`; see Lists.`,
    schema: { type: kind === 'integer' ? 'integer' : 'string' },
  }));
}

function pagingOf({ sorts, words }: Listing): (Parameter | Reference)[] {
  const names = Object.keys(sorts).sort();
  const sort: Parameter = {
    name: '_sort',
    in: 'query',
    description: 'The order; descending with `-`. Equals, and lists without it, are in the order of `id`.',
    schema: { type: 'string', enum: names.flatMap((name) => [name, `-${name}`]) },
  };
  return [
    ...(words ? [shared('Search')] : []),
    ...(names.length > 0 ? [sort] : []),
    shared('Limit'),
    shared('Offset'),
    shared('OrFields'),
  ];
}

function requestBodyOf(operation: AnyOperation, schemas: Schemas): NonNullable<OperationObject['requestBody']> {
  const { body, json, files = {} } = operation.declaration;
  if (json) return jsonBodyOf([...fieldsOf(body, 'input', schemas)]);
  const type = operation.declaration.files ? 'multipart/form-data' : 'application/x-www-form-urlencoded';
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, field] of fieldsOf(body, 'input', schemas)) {
    properties[queryName(name, field)] = sendable(name, field.schema);
    if (field.required) required.push(queryName(name, field));
  }
  for (const [name, file] of Object.entries(files)) {
    const description = `${file.says} At most ${bytesText(file.bytesMax)}.`;
    const one: JsonSchema = { type: 'string', format: 'binary' };
    for (const sent of file.numbered ? [`${name}1`, `${name}2`] : [name])
      properties[sent] = file.many ? { type: 'array', items: one, description } : { ...one, description };
    if (file.required) required.push(name);
  }
  const schema: JsonSchema = { type: 'object', properties, ...(required.length > 0 && { required }) };
  return {
    required: required.length > 0,
    content: { [type]: { schema } },
  };
}

/** Fields as shipped clients send them, by their plain names. */
function jsonBodyOf(fields: readonly [string, Field][]): NonNullable<OperationObject['requestBody']> {
  const properties = Object.fromEntries(fields.map(([name, { schema }]) => [name, schema]));
  const required = fields.filter(([, field]) => field.required).map(([name]) => name);
  const schema: JsonSchema = { type: 'object', properties, ...(required.length > 0 && { required }) };
  return { required: required.length > 0, content: { [JSON_TYPE]: { schema } } };
}

function rawBodyOf({ bytesMax, says }: RawRule): NonNullable<OperationObject['requestBody']> {
  const schema = { type: 'string', format: 'binary', description: `${says} At most ${bytesText(bytesMax)}.` };
  return { required: true, content: { 'application/octet-stream': { schema } } };
}

/** Lists of plain values are sent as `name[]`, repeatedly. */
function queryName(name: string, { schema }: Field): string {
  return schema.type === 'array' && !isNested(schema.items ?? {}) ? `${name}[]` : name;
}

const isNested = ({ type, $ref, anyOf, oneOf }: JsonSchema) =>
  type === 'object' || type === 'array' || Boolean($ref ?? anyOf ?? oneOf);

/** A form has no nesting of its own, so a nested field tells how its parts are named. */
function sendable(name: string, schema: JsonSchema): JsonSchema {
  const inner = schema.type === 'array' ? schema.items : schema;
  if (!inner || !isNested(inner)) return schema;
  const part = Object.keys(inner.properties ?? {})[0] ?? 'key';
  const example = `Sent as \`${schema.type === 'array' ? `${name}[0][${part}]` : `${name}[${part}]`}\`.`;
  return { ...schema, description: schema.description ? `${schema.description} ${example}` : example };
}

const ERROR_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        code: { type: 'integer', description: 'The HTTP status.' },
        error_ref: { type: 'integer', description: 'Tells errors apart; unlike the message it never changes.' },
        message: { type: 'string', description: 'For people, in the language that was asked for.' },
        errors: {
          type: 'object',
          additionalProperties: { type: 'string' },
          description: 'Only with 422: a message for every field that does not fit.',
        },
      },
      required: ['code', 'error_ref', 'message'],
    },
  },
  required: ['error'],
};

const HEADERS = {
  Location: { description: 'The address of what was made.', schema: { type: 'string', format: 'uri-reference' } },
  RetryAfter: { description: 'Seconds until the next attempt.', schema: { type: 'integer' } },
};

const BINARY = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
const PARTS = { 'multipart/byteranges': { schema: { type: 'string', format: 'binary' } } };
const LOCATED = { Location: { $ref: '#/components/headers/Location' } };

/** What a stored file answers with, in the type that the file has. */
const FILE_RESPONSES: Record<string, Response> = {
  200: { description: 'The file. Its ETag is its SHA-256, in quotes.', content: BINARY },
  206: { description: 'The parts that Range asks for, if If-Range allows.', content: { ...BINARY, ...PARTS } },
  302: { description: 'The address from which the storage hands out the file.', headers: LOCATED },
  304: { description: 'Not modified, by If-None-Match or If-Modified-Since.' },
  412: { description: 'Another file than If-Match or If-Unmodified-Since ask for.' },
  416: { description: 'The file has none of these parts, or too many are asked for.' },
};

const STREAM_RESPONSES: Record<string, Response> = {
  200: {
    description: 'Server-Sent Events, without end. Every 15 seconds without news there is a comment.',
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  },
};

const CSV_RESPONSES: Record<string, Response> = {
  200: {
    description: 'The table, with names in its first line.',
    content: { 'text/csv': { schema: { type: 'string' } } },
  },
};

function successOf({ declaration }: AnyOperation, schemas: Schemas): Record<string, Response> {
  const { status, schema, orThere } = declaration.returns;
  if (isStoredFile(declaration.returns)) return FILE_RESPONSES;
  if (isEventStream(declaration.returns)) return STREAM_RESPONSES;
  if (isCsv(declaration.returns)) return CSV_RESPONSES;
  const response: Response = { description: STATUS_CODES[status]! };
  if (status === 201) response.headers = { Location: { $ref: '#/components/headers/Location' } };
  if (status !== 204) response.content = { [JSON_TYPE]: { schema: schemas.of(schema, 'output') } };
  const there: Response = { description: `${STATUS_CODES[200]}: it was there already`, ...contentOf(response) };
  return { ...(orThere && { 200: there }), [status]: response };
}

const contentOf = ({ content }: Response) => content && { content };

function errorsOf(operation: AnyOperation, schemas: Schemas): Record<string, Response | Reference> {
  const names = [...protocolErrorsOf(operation), ...operation.declaration.errors];
  const { refusal } = operation.declaration;
  if (refusal) {
    const responses = responsesOf(names, (name) => refusal.of(new ApiError(name), 'en').status);
    const content = { [JSON_TYPE]: { schema: schemas.of(refusal.schema, 'output') } };
    return Object.fromEntries(responses.map(([status, response]) => [status, { ...response, content }]));
  }
  return Object.fromEntries(responsesOf(names).map(([status, response]) => [status, sharedOrOwn(response)]));
}

/** One response for each status. Its description names the errors in the order of their references. */
function responsesOf(
  names: readonly ErrorName[],
  statusOf: (name: ErrorName) => number = (name) => errors[name].status,
): [string, Response][] {
  const unique = [...new Set(names)].sort(
    (one, other) => errors[one].ref - errors[other].ref || (one < other ? -1 : 1),
  );
  const byStatus = Object.entries(Object.groupBy(unique, statusOf));
  return byStatus.map(([status, held = []]) => [status, errorResponse(status, held)]);
}

function errorResponse(status: string, names: readonly ErrorName[]): Response {
  return {
    description: `${STATUS_CODES[status]}: ${names.join(', ')}`,
    ...(names.includes('REQUEST_REPEATED') && { headers: LOCATED }),
    ...(status === '429' && { headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } }),
    content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Error' } } },
    'x-error-refs': [...new Set(names.map((name) => errors[name].ref))],
  };
}

/** Responses that are the same wherever the operation adds nothing to them. */
const sharedResponses = responsesOf(UNIVERSAL_ERRORS).map(([status, response]) => ({
  name: STATUS_CODES[status]!.replace(/\W/g, ''),
  response,
}));

function sharedOrOwn(response: Response): Response | Reference {
  const known = sharedResponses.find((one) => one.response.description === response.description);
  return known ? { $ref: `#/components/responses/${known.name}` } : response;
}
