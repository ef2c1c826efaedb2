import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

/** The published type of a field: a JSON type, the name of an object, or a list of one of these. */
type Published = string | readonly [Published] | { readonly [field: string]: Published };

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

interface Response {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

const read = (name: string) => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));
const published: { objects: Record<string, Published>; answers: Record<string, Published> } =
  read('published-types.json');
const described = read('../contract/openapi.json');

const JSON_TYPES = new Set(['integer', 'number', 'string', 'boolean', 'object', 'array']);

function resolved<T extends { readonly $ref?: string }>(value: T): T {
  if (!value.$ref) return value;
  const path = value.$ref.slice(2).split('/');
  return resolved(path.reduce((at, key) => at[key], described));
}

const alternatives = ({ anyOf = [], oneOf = [], allOf = [] }: Schema) => [...anyOf, ...oneOf, ...allOf];

function typesOf(schema: Schema): Set<string> {
  const { type, enum: values = [], ...rest } = resolved(schema);
  if (type !== undefined) return new Set([type].flat());
  const literal = 'const' in rest ? [...values, rest.const] : values;
  const own = literal.map((value) => (Number.isInteger(value) ? 'integer' : typeof value));
  return new Set([...own, ...alternatives(rest).flatMap((each) => [...typesOf(each)])]);
}

function propertiesOf(schema: Schema): Readonly<Record<string, Schema>> {
  const found = resolved(schema);
  return Object.assign({}, ...alternatives(found).map(propertiesOf), found.properties);
}

function itemsOf(schema: Schema): Schema | undefined {
  const found = resolved(schema);
  return found.items ?? alternatives(found).map(itemsOf).find(Boolean);
}

/** The places where a schema allows a JSON type that clients cannot parse. */
function misfits(where: string, wanted: Published, schema: Schema): string[] {
  const types = typesOf(schema);
  types.delete('null');
  if (Array.isArray(wanted)) {
    const items = itemsOf(schema);
    if (!items) return types.has('array') ? [] : [`${where} is no list`];
    return misfits(`${where}[]`, wanted[0], items);
  }
  const fields = typeof wanted === 'string' ? published.objects[wanted] : wanted;
  const name = typeof wanted === 'string' && JSON_TYPES.has(wanted) ? wanted : fields && 'object';
  // Some responses are published only as text.
  if (!name) return [];
  const fits = [...types].every((type) => type === name || (name === 'number' && type === 'integer'));
  if (!fits || types.size === 0) return [`${where} is ${[...types].join(' or ')}, and published as ${name}`];
  if (!fields) return [];
  const properties = propertiesOf(schema);
  return Object.entries(fields).flatMap(([field, type]) =>
    properties[field] ? misfits(`${where}.${field}`, type, properties[field]) : [],
  );
}

const shapeOf = (path: string) => path.replace(/^\/v\d+/, '').replaceAll(/\{[^}]*\}/g, '{}');

function answerOf(line: string): Schema | undefined {
  const [method, path, status] = line.split(' ') as [string, string, string];
  const [, item] = Object.entries<Record<string, { responses: Record<string, Response> }>>(described.paths).find(
    ([each]) => shapeOf(each) === shapeOf(path),
  ) ?? [undefined, undefined];
  const response = item?.[method.toLowerCase()]?.responses[status];
  return response && Object.values(resolved(response).content ?? {})[0]?.schema;
}

test('every field has its published JSON type, because a wrong one crashes a game (5, 33)', () => {
  const components: Record<string, Schema> = described.components.schemas;
  const problems = Object.keys(published.objects)
    .filter((name) => components[name])
    .flatMap((name) => misfits(name, name, components[name]!));
  let compared = 0;
  for (const [line, wanted] of Object.entries(published.answers)) {
    const answer = answerOf(line);
    if (!answer) continue;
    compared += 1;
    const list = typeof wanted === 'object' && 'list_of' in wanted ? (wanted['list_of'] as Published) : undefined;
    const data = list === undefined ? answer : propertiesOf(answer)['data'];
    problems.push(...misfits(line, list === undefined ? wanted : [list], data ?? {}));
  }
  assert.deepEqual(problems, []);
  assert.ok(compared > 100, String(compared));
});
