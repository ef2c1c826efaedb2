import type { Listing } from '../../database/listing.ts';
import { PLATFORMS, PORTALS } from '../../vocabulary/game-platforms.ts';
import { type AnyOperation, type HeaderField, takesBody } from '../operation.ts';
import { PAGE_MAX } from '../request/list.ts';
import { type Field, fieldsOf, formName } from './fields.ts';
import { type Schemas, sortedByKey } from './schemas.ts';
import type { OpenApiDocument, Parameter, Reference } from './types.ts';

export const SHARED_PARAMETERS: Record<string, Parameter> = {
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
  IdempotentKey: {
    name: 'X-Service-Idempotent-Key',
    in: 'header',
    description: 'Another place for `idempotent_key`; the field wins. Also read as `X-Modio-Idempotent-Key`.',
    schema: { type: 'string' },
  },
  Search: {
    name: '_q',
    in: 'query',
    description: 'Words, of which at least one occurs, whole or as a beginning.',
    schema: { type: 'string' },
  },
};

const shared = (name: string): Reference => ({ $ref: `#/components/parameters/${name}` });

export function parametersOf(operation: AnyOperation, schemas: Schemas): (Parameter | Reference)[] {
  const { path, params, query, body, list, access } = operation.declaration;
  const named = new Map([...fieldsOf(query, 'input', schemas)].map(([name, field]) => [formName(name, field), field]));
  const columns = list ? columnsOf(list).filter(({ name }) => !named.has(name)) : [];
  return [
    ...pathParameters(path, fieldsOf(params, 'output', schemas)),
    ...columns,
    ...[...named].map(([name, field]) => parameter(name, 'query', field)),
    ...(list ? pagingOf(list) : []),
    ...headersOf(operation),
    ...(body?.shape['idempotent_key'] ? [shared('IdempotentKey')] : []),
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

/** In the order of the path, including parameters without a schema in the declaration. */
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

/**
 * Moves parameters that several operations share into components, named `query.date_added` or `path.game_id`. If
 * parameters of one name differ, the variant of more than half of the operations is shared.
 */
export function shareParameters({ paths, components }: OpenApiDocument): void {
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  const inline = operations.flatMap(({ parameters }) => parameters.filter((each) => 'in' in each));
  const usual = new Map<string, string>();
  for (const [name, uses] of Object.entries(Object.groupBy(inline, componentName))) {
    const [most = []] = Object.values(Object.groupBy(uses!, (each) => JSON.stringify(each))).sort(byLength);
    if (most.length < 2 || most.length * 2 <= uses!.length) continue;
    usual.set(name, JSON.stringify(most[0]));
    components.parameters[name] = most[0]!;
  }
  for (const operation of operations)
    operation.parameters = operation.parameters.map((each) => {
      if ('$ref' in each) return each;
      return usual.get(componentName(each)) === JSON.stringify(each) ? shared(componentName(each)) : each;
    });
  components.parameters = sortedByKey(components.parameters);
}

/** Component names may contain only letters, digits, dots, dashes and underscores. */
const componentName = (parameter: Parameter) => `${parameter.in}.${parameter.name.replace(/[^\w.-]/g, '')}`;

const byLength = (one: readonly unknown[] = [], other: readonly unknown[] = []) => other.length - one.length;
