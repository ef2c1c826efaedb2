import { isForKeys } from '../../access/caller.ts';
import type { JsonSchema } from '../openapi/schemas.ts';
import type { OperationObject } from '../openapi/types.ts';
import type { AnyOperation } from '../operation.ts';

/** A curl command with the required fields of the operation. */
export function exampleOf({ declaration }: AnyOperation, described: OperationObject): string {
  const { method, access } = declaration;
  const byKey = access.kind === 'authentication' || (access.kind === 'reader' && isForKeys(access, method));
  const path = declaration.path.replace(/\{\w+\}/g, '1');
  const address = `"$API${path}${byKey ? '?api_key=$KEY' : ''}"`;
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${address}`,
    ...(byKey || access.kind === 'anyone' ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...fieldsOf(described),
  ];
  return lines.join(' \\\n  ');
}

/** The required fields, or else the first plain field. */
function fieldsOf({ requestBody }: OperationObject): string[] {
  const [content] = Object.entries(requestBody?.content ?? {});
  if (!content) return [];
  const [type, { schema }] = content;
  const { properties = {}, required = [] } = schema;
  const plain = Object.keys(properties).find((name) => properties[name]!.type !== 'object');
  const names = required.length > 0 ? required : [plain ?? ''].filter(Boolean);
  const option = type === 'multipart/form-data' ? '-F' : '--data-urlencode';
  return names.map((name) => `${option} '${name}=${exampleValue(properties[name]!)}'`);
}

function exampleValue(schema: JsonSchema): string {
  if (schema.format === 'binary') return '@file.zip';
  if (schema.enum) return String(schema.enum.at(-1));
  if (schema.type === 'array') return exampleValue(schema.items ?? {});
  if (schema.type === 'integer' || schema.type === 'number') return String(schema.minimum ?? 1);
  if (schema.type === 'boolean') return 'true';
  return schema.format === 'email' ? 'ada@example.com' : '…';
}
