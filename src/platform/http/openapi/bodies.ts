import type { AnyOperation } from '../operation.ts';
import { bytesText } from '../request/body.ts';
import { type Field, fieldsOf, formName, isNested } from './fields.ts';
import type { JsonSchema, Schemas } from './schemas.ts';
import type { RequestBody } from './types.ts';

type RawRule = NonNullable<AnyOperation['declaration']['raw']>;

export function requestBodyOf(operation: AnyOperation, schemas: Schemas): RequestBody {
  const { body, json, files = {} } = operation.declaration;
  if (json) return jsonBodyOf([...fieldsOf(body, 'input', schemas)]);
  const type = operation.declaration.files ? 'multipart/form-data' : 'application/x-www-form-urlencoded';
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, field] of fieldsOf(body, 'input', schemas)) {
    properties[formName(name, field)] = sendable(name, field.schema);
    if (field.required) required.push(formName(name, field));
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

/** Fields as shipped clients send them, with their plain names. */
function jsonBodyOf(fields: readonly [string, Field][]): RequestBody {
  const properties = Object.fromEntries(fields.map(([name, { schema }]) => [name, schema]));
  const required = fields.filter(([, field]) => field.required).map(([name]) => name);
  const schema: JsonSchema = { type: 'object', properties, ...(required.length > 0 && { required }) };
  return { required: required.length > 0, content: { 'application/json': { schema } } };
}

export function rawBodyOf({ bytesMax, says }: RawRule): RequestBody {
  const schema = { type: 'string', format: 'binary', description: `${says} At most ${bytesText(bytesMax)}.` };
  return { required: true, content: { 'application/octet-stream': { schema } } };
}

/** A form has no nesting, so the description of a nested field names its parts. */
function sendable(name: string, schema: JsonSchema): JsonSchema {
  const inner = schema.type === 'array' ? schema.items : schema;
  if (!inner || !isNested(inner)) return schema;
  const part = Object.keys(inner.properties ?? {})[0] ?? 'key';
  const example = `Sent as \`${schema.type === 'array' ? `${name}[0][${part}]` : `${name}[${part}]`}\`.`;
  return { ...schema, description: schema.description ? `${schema.description} ${example}` : example };
}
