import { ABOUT } from '../about.ts';
import { type AnyOperation, takesBody } from '../operation.ts';
import { rawBodyOf, requestBodyOf } from './bodies.ts';
import { parametersOf, SHARED_PARAMETERS, shareParameters } from './parameters.ts';
import { ERROR_SCHEMA, gatherErrorResponses, HEADERS, type Responses, successOf } from './responses.ts';
import { gatherSchemas, type Schemas } from './schemas.ts';
import { powerOfOperation, SECURITY_SCHEMES, securityOf } from './security.ts';
import type { OpenApiDocument, OperationObject } from './types.ts';

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'];

/** Generates the OpenAPI document from the declarations; the output is deterministic. */
export function openApiDocument(operations: readonly AnyOperation[]): OpenApiDocument {
  const schemas = gatherSchemas();
  const responses = gatherErrorResponses(schemas);
  const paths: OpenApiDocument['paths'] = {};
  for (const operation of operations.toSorted(byPathAndMethod)) {
    const { path, method } = operation.declaration;
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = operationObject(operation, schemas, responses);
  }
  const tags = new Set(operations.map(({ declaration }) => declaration.tag));
  const document: OpenApiDocument = {
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
      parameters: { ...SHARED_PARAMETERS },
      headers: HEADERS,
      responses: responses.components(),
      schemas: { Error: ERROR_SCHEMA, ...schemas.components() },
    },
  };
  shareParameters(document);
  return document;
}

function byPathAndMethod({ declaration: one }: AnyOperation, { declaration: other }: AnyOperation): number {
  if (one.path !== other.path) return one.path < other.path ? -1 : 1;
  return METHODS.indexOf(one.method) - METHODS.indexOf(other.method);
}

function operationObject(operation: AnyOperation, schemas: Schemas, responses: Responses): OperationObject {
  const { id, tag, says, limit, raw, rules, deprecated } = operation.declaration;
  return {
    operationId: id,
    tags: [tag],
    description: says,
    ...(deprecated && {
      deprecated: true as const,
      'x-deprecated-since': deprecated.since,
      'x-sunset': deprecated.sunset,
      'x-instead': deprecated.instead,
    }),
    security: securityOf(operation),
    ...powerOfOperation(operation),
    ...(limit !== undefined && { 'x-requests-per-minute': limit }),
    ...(rules && { 'x-allowsRules': rules }),
    parameters: parametersOf(operation, schemas),
    ...(takesBody(operation) && { requestBody: requestBodyOf(operation, schemas) }),
    ...(raw && { requestBody: rawBodyOf(raw) }),
    responses: { ...successOf(operation, schemas), ...responses.of(operation) },
  };
}
