import { z } from 'zod';

/** The subset of JSON Schema that zod generates for declarations. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

export interface Schemas {
  /** The schema of a request (`input`) or response (`output`); objects with an id become references. */
  of(schema: z.ZodType, io: 'input' | 'output'): JsonSchema;
  /** All objects with an id so far, by id. */
  components(): Record<string, JsonSchema>;
}

const PLACE = '#/components/schemas/';

export const componentOf = (reference: string): string => reference.replace(PLACE, '');

export function gatherSchemas(): Schemas {
  const found = new Map<string, string>();
  return {
    of(schema, io) {
      // Zod leaves the outermost schema in place even if it has an id, hence the wrapping.
      const { properties, $defs = {} } = z.toJSONSchema(z.object({ it: schema }), {
        io,
        unrepresentable: 'any',
        override: ({ jsonSchema }) => tidy(jsonSchema as JsonSchema),
      });
      for (const [name, { id: _id, ...definition }] of Object.entries($defs)) remember(found, name, definition);
      return placed(properties!['it']);
    },
    components: () => sortedByKey(Object.fromEntries([...found].map(([name, text]) => [name, JSON.parse(text)]))),
  };
}

/** Clients generate one class per name, so one name can have one shape only. */
function remember(found: Map<string, string>, name: string, definition: unknown): void {
  if (name.startsWith('__')) throw new Error('A schema that contains itself needs an id, by .meta({ id }).');
  const text = JSON.stringify(placed(definition));
  if ((found.get(name) ?? text) !== text) throw new Error(`Two different schemas have the id "${name}".`);
  found.set(name, text);
}

export function sortedByKey<T>(values: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function placed(schema: unknown): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', PLACE) : value,
  );
}

/**
 * Objects may gain fields without a new version, so they are never closed. The limits of JavaScript numbers are
 * removed, because they are not limits of the API.
 */
function tidy(schema: JsonSchema): void {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.type === 'number' && schema.enum?.every(Number.isInteger)) schema.type = 'integer';
}
