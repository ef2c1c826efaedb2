import { errorMessage } from '../../errors/messages.ts';
import type { JsonSchema } from '../openapi/schemas.ts';
import { type Parameter, resolve } from '../openapi/types.ts';
import type { DocsModel, Entry } from './model.ts';
import { itemOfPage } from './schema-table.ts';

/** The data of the search box, loaded on its first use. Places of fields are indexes into `operations`, then into `objects`. */
export interface SearchIndex {
  readonly operations: readonly (readonly [id: string, method: string, path: string, says: string, slug: string])[];
  readonly objects: readonly string[];
  readonly fields: Readonly<Record<string, readonly number[]>>;
  readonly errors: readonly (readonly [ref: number, name: string, message: string])[];
}

export function searchIndex(model: DocsModel): SearchIndex {
  const entries = model.groups.flatMap((group) => group.entries);
  const objects = Object.entries(model.document.components.schemas).filter(([, schema]) => !itemOfPage(schema));
  const fields: Record<string, number[]> = {};
  const add = (names: Iterable<string>, place: number) => {
    for (const name of new Set(names)) fields[name] = [...(fields[name] ?? []), place];
  };
  for (const [index, entry] of entries.entries()) add(fieldsSent(model, entry), index);
  for (const [index, [, schema]] of objects.entries()) add(fieldsIn(schema), entries.length + index);
  return {
    operations: entries.map(({ operation: { declaration }, slug }) => {
      const { id, method, path, says } = declaration;
      return [id, method, path, says, slug];
    }),
    objects: objects.map(([name]) => name),
    fields,
    errors: [...model.refs].flatMap(([ref, names]) =>
      names.map((name): SearchIndex['errors'][number] => [
        ref,
        name,
        name === 'NO_REF' ? '' : errorMessage(name, 'en'),
      ]),
    ),
  };
}

/** Parameters and fields of the body. Common headers are omitted, because they would match every operation. */
function* fieldsSent({ document }: DocsModel, { described }: Entry): Generator<string> {
  for (const declared of described.parameters) {
    const { name, in: place } = resolve<Parameter>(document, declared);
    if (place !== 'header' || !('$ref' in declared)) yield name.replace('[]', '');
  }
  for (const { schema } of Object.values(described.requestBody?.content ?? {}))
    for (const name of fieldsIn(schema)) yield name.replace('[]', '');
}

function* fieldsIn(schema: JsonSchema): Generator<string> {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    yield name;
    yield* fieldsIn(field);
  }
  if (schema.items) yield* fieldsIn(schema.items);
}
