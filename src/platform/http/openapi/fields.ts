import type { AnyOperation } from '../operation.ts';
import type { JsonSchema, Schemas } from './schemas.ts';

export interface Field {
  readonly schema: JsonSchema;
  readonly required: boolean;
}

export function fieldsOf(
  object: AnyOperation['declaration']['query'],
  io: 'input' | 'output',
  schemas: Schemas,
): Map<string, Field> {
  const { properties = {}, required = [] }: JsonSchema = object ? schemas.of(object, io) : {};
  return new Map(
    Object.entries(properties).map(([name, schema]) => [name, { schema, required: required.includes(name) }]),
  );
}

/** In queries and forms, a list of plain values is sent as `name[]`, repeatedly. */
export function formName(name: string, { schema }: Field): string {
  return schema.type === 'array' && !isNested(schema.items ?? {}) ? `${name}[]` : name;
}

export const isNested = ({ type, $ref, anyOf, oneOf }: JsonSchema): boolean =>
  type === 'object' || type === 'array' || Boolean($ref ?? anyOf ?? oneOf);
