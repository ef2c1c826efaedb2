import type { Power } from '../../access/powers.ts';
import type { JsonSchema } from './schemas.ts';

export type Reference = { $ref: string };

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: JsonSchema;
}

export interface RequestBody {
  required: boolean;
  content: Record<string, { schema: JsonSchema }>;
}

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
  deprecated?: true;
  'x-deprecated-since'?: string;
  'x-sunset'?: string;
  'x-instead'?: string;
  'x-requests-per-minute'?: number;
  'x-allowsRules'?: true;
  /** The power that the operation needs, and the user's tokens that have it. */
  'x-power'?: Power;
  'x-credentials'?: Record<string, string>;
  parameters: (Parameter | Reference)[];
  requestBody?: RequestBody;
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

/** The value itself, or the component that it references. */
export function resolve<T extends object>(document: OpenApiDocument, value: T | Reference): T {
  if (!('$ref' in value) || typeof value.$ref !== 'string') return value as T;
  const keys = value.$ref.slice('#/'.length).split('/');
  const target = keys.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
  if (target === undefined) throw new Error(`${value.$ref} refers to nothing.`);
  return resolve(document, target as T | Reference);
}
