import { STATUS_CODES } from 'node:http';
import { ApiError, type ErrorName, errors } from '../../errors/catalogue.ts';
import { type AnyOperation, isCsv, isEventStream } from '../operation.ts';
import { protocolErrorsOf, UNIVERSAL_ERRORS } from '../protocol-errors.ts';
import { componentOf, type JsonSchema, type Schemas, sortedByKey } from './schemas.ts';
import type { Reference, Response } from './types.ts';

const JSON_TYPE = 'application/json';

export const ERROR_SCHEMA: JsonSchema = {
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

export const HEADERS = {
  Location: { description: 'The address of what was made.', schema: { type: 'string', format: 'uri-reference' } },
  RetryAfter: { description: 'Seconds until the next attempt.', schema: { type: 'integer' } },
};

const BINARY = { schema: { type: 'string', format: 'binary' } };
const LOCATED = { Location: { $ref: '#/components/headers/Location' } };

/** The responses of a stored file of this media type. */
const fileResponses = (mediaType: string): Record<string, Response> => ({
  200: { description: 'The file. Its ETag is its SHA-256, in quotes.', content: { [mediaType]: BINARY } },
  206: {
    description: 'The parts that Range asks for, if If-Range allows.',
    content: { [mediaType]: BINARY, 'multipart/byteranges': BINARY },
  },
  302: { description: 'The address from which the storage hands out the file.', headers: LOCATED },
  304: { description: 'Not modified, by If-None-Match or If-Modified-Since.' },
  412: { description: 'Another file than If-Match or If-Unmodified-Since ask for.' },
  416: { description: 'The file has none of these parts, or too many are asked for.' },
});

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

export function successOf({ declaration }: AnyOperation, schemas: Schemas): Record<string, Response> {
  const { status, schema, orThere, mediaType } = declaration.returns;
  if (mediaType !== undefined) return fileResponses(mediaType);
  if (isEventStream(declaration.returns)) return STREAM_RESPONSES;
  if (isCsv(declaration.returns)) return CSV_RESPONSES;
  const response: Response = { description: STATUS_CODES[status]! };
  if (status === 201) response.headers = { Location: { $ref: '#/components/headers/Location' } };
  if (status !== 204) response.content = { [JSON_TYPE]: { schema: schemas.of(schema, 'output') } };
  const there: Response = { description: `${STATUS_CODES[200]}: it was there already`, ...contentOf(response) };
  return { ...(orThere && { 200: there }), [status]: response };
}

const contentOf = ({ content }: Response) => content && { content };

export interface Responses {
  /** The responses of an operation's errors, by their statuses; each is a component. */
  of(operation: AnyOperation): Record<string, Reference>;
  components(): Record<string, Response>;
}

/** Collects error responses. Their names depend on their errors alone, so a new one renames no other. */
export function gatherErrorResponses(schemas: Schemas): Responses {
  const found: Record<string, Response> = {};
  return {
    of(operation) {
      const schema = operation.declaration.refusal
        ? schemas.of(operation.declaration.refusal.schema, 'output')
        : ERROR_REFERENCE;
      const responses = errorsByStatus(operation).map(([status, names]): [string, Reference] => {
        const name = componentName(status, names, schema);
        const response = errorResponse(status, names, schema);
        found[name] ??= response;
        if (JSON.stringify(found[name]) !== JSON.stringify(response))
          throw new Error(`Two different responses have the name "${name}".`);
        return [status, { $ref: `#/components/responses/${name}` }];
      });
      return Object.fromEntries(responses);
    },
    components: () => sortedByKey(found),
  };
}

const ERROR_REFERENCE: JsonSchema = { $ref: '#/components/schemas/Error' };

/** The errors of each status, in the order of their references. */
function errorsByStatus(operation: AnyOperation): [status: string, names: readonly ErrorName[]][] {
  const { refusal } = operation.declaration;
  const statusOf = (name: ErrorName) => (refusal ? refusal.of(new ApiError(name), 'en').status : errors[name].status);
  const unique = [...new Set([...protocolErrorsOf(operation), ...operation.declaration.errors])].sort(
    (one, other) => errors[one].ref - errors[other].ref || (one < other ? -1 : 1),
  );
  return Object.entries(Object.groupBy(unique, statusOf)).map(([status, names = []]) => [status, names]);
}

function errorResponse(status: string, names: readonly ErrorName[], schema: JsonSchema): Response {
  return {
    description: `${STATUS_CODES[status]}: ${names.join(', ')}`,
    ...(names.includes('REQUEST_REPEATED') && { headers: LOCATED }),
    ...(status === '429' && { headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } }),
    content: { [JSON_TYPE]: { schema } },
    'x-error-refs': [...new Set(names.map((name) => errors[name].ref))],
  };
}

/** `Forbidden.11004.14007`: the status and the errors that not every operation has. */
function componentName(status: string, names: readonly ErrorName[], schema: JsonSchema): string {
  const own = names.filter((name) => !UNIVERSAL_ERRORS.includes(name)).map((name) => REF_NAMES.get(name)!);
  const form = schema === ERROR_REFERENCE ? [] : [componentOf(schema.$ref!)];
  return [...form, STATUS_CODES[status]!.replace(/\W/g, ''), ...own].join('.');
}

/** The reference of each error. Further errors of the catalogue with the same reference follow as `12004b`, `12004c`. */
const REF_NAMES: ReadonlyMap<string, string> = new Map(
  [...Map.groupBy(Object.entries(errors), ([, { ref }]) => ref)].flatMap(([ref, same]) =>
    same.map(([name], index): [string, string] => [name, index === 0 ? String(ref) : `${ref}${letterOf(index)}`]),
  ),
);

function letterOf(index: number): string {
  return String.fromCharCode('a'.charCodeAt(0) + index);
}
