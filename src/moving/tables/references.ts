import { isMoved } from '../../platform/manifest/treatment.ts';
import type { PersonalData } from '../../platform/personal-data.ts';
import type { Schema } from './schema.ts';
import { treatmentOf } from './treatments.ts';

/** Resources that rows name with the columns `resource` and `resource_id`; each has a table of the same name. */
export const NAMED_RESOURCES = ['games', 'mods', 'guides', 'collections', 'comments', 'users', 'modfiles'] as const;

/** The table that a column refers to; `resource` if another column of the row names it. */
export type References = ReadonlyMap<string, ReadonlyMap<string, string>>;

const BY_NAME: Readonly<Record<string, string>> = { game_id: 'games', mod_id: 'mods', resource_id: 'resource' };

/** Foreign keys, declared columns of people, and what the treatments add. */
export function referencesOf(schema: Schema, personalData: readonly PersonalData[]): References {
  const personal = new Set(
    personalData.flatMap(({ columns }) => columns).map(({ table, column }) => `${table}.${column}`),
  );
  return new Map(
    [...schema.values()].map(({ name, columns, keys }) => {
      const treatment = treatmentOf(name);
      const declared = treatment && isMoved(treatment) ? (treatment.refers ?? {}) : {};
      const targets = columns.flatMap(({ name: column, type }): [string, string][] => {
        if (type !== 'integer' || column === 'id') return [];
        const byPerson = column !== 'resource_id' && personal.has(`${name}.${column}`) ? 'users' : undefined;
        const target = keys.get(column) ?? declared[column] ?? byPerson ?? BY_NAME[column];
        return target ? [[column, target]] : [];
      });
      return [name, new Map(targets)];
    }),
  );
}

/** Parents before children, otherwise by name. */
export function importOrder(schema: Schema, references: References): string[] {
  const order: string[] = [];
  const visit = (name: string, above: readonly string[]) => {
    if (order.includes(name) || above.includes(name)) return;
    const table = schema.get(name);
    if (!table) return;
    const parents = [...(references.get(name)?.values() ?? [])].filter((parent) => parent !== name);
    for (const parent of parents.includes('resource') ? [...parents, ...NAMED_RESOURCES] : parents)
      if (parent !== name) visit(parent, [...above, name]);
    order.push(name);
  };
  for (const name of [...schema.keys()].sort()) visit(name, []);
  return order;
}
