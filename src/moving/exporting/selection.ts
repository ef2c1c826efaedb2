import { isMoved } from '../../platform/manifest/treatment.ts';
import { NAMED_RESOURCES, type References } from '../tables/references.ts';
import type { Schema, Table } from '../tables/schema.ts';
import { treatmentOf } from '../tables/treatments.ts';

export interface Wanted {
  /** The only game, if not the whole service. */
  readonly game: number | undefined;
  /** Addresses, subscriptions, ratings and the like. */
  readonly people: boolean;
}

export interface Selected {
  readonly table: Table;
  readonly select: string;
  /** Values that replace columns. */
  readonly replaced: Readonly<Record<string, string | number | null>>;
}

/** The tables of an archive with the statement that reads each, in a stable order of rows. */
export function selectionOf(schema: Schema, references: References, wanted: Wanted): Selected[] {
  const scopes = new Scopes(schema, references, wanted);
  return [...schema.values()].flatMap((table) => {
    const treatment = treatmentOf(table.name);
    const where = scopes.of(table.name);
    if (!treatment || !isMoved(treatment) || where === undefined) return [];
    const names = table.columns.map(({ name }) => `"${name}"`).join(', ');
    const order =
      ORDERS[table.name] ?? (table.primaryKey.length > 0 ? table.primaryKey : table.columns.map(({ name }) => name));
    const select = `select ${names} from ${table.name} where ${where} order by ${order.join(', ')}`;
    const replaced = { ...treatment.secret, ...(wanted.people ? {} : treatment.private) };
    return [{ table, select, replaced }];
  });
}

/** A merged account names another one, which an import must have taken before. */
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  users: ['case when date_merged is null then 0 else 1 end', 'date_merged desc', 'id'],
};

/** Finds the rows that belong to a game. */
class Scopes {
  readonly #schema: Schema;
  readonly #references: References;
  readonly #wanted: Wanted;

  constructor(schema: Schema, references: References, wanted: Wanted) {
    this.#schema = schema;
    this.#references = references;
    this.#wanted = wanted;
  }

  /** The condition on a table, or undefined if the archive has nothing of it. */
  of(name: string): string | undefined {
    const treatment = treatmentOf(name);
    if (!treatment || !isMoved(treatment)) return undefined;
    const { game, people } = this.#wanted;
    if (game === undefined) return '1 = 1';
    if (treatment.notOfGames || (treatment.moved === 'people' && !people)) return undefined;
    if (name === 'users') return `id in (${this.#peopleOf()})`;
    if (name === 'portal_accounts') return `game_id in (0, ${game}) and user_id in (${this.#peopleOf()})`;
    return this.#ofGame(name, []);
  }

  #ofGame(name: string, above: readonly string[]): string | undefined {
    const { game } = this.#wanted;
    if (name === 'games') return `id = ${game}`;
    const references = this.#references.get(name)!;
    if (references.has('game_id')) return `game_id = ${game}`;
    if (references.get('resource_id') === 'resource') return this.#ofResources(name, above);
    for (const [column, parent] of references) {
      if (parent === 'users' || parent === name || above.includes(parent)) continue;
      const where = this.#ofGame(parent, [...above, name]);
      if (where !== undefined) return `${column} in (select id from ${parent} where ${where})`;
    }
    return undefined;
  }

  #ofResources(name: string, above: readonly string[]): string {
    const parts = NAMED_RESOURCES.filter((parent) => parent !== 'users' && parent !== name).flatMap((parent) => {
      const where = this.#ofGame(parent, [...above, name]);
      return where === undefined
        ? []
        : [`(resource = '${parent}' and resource_id in (select id from ${parent} where ${where}))`];
    });
    return `(${parts.join(' or ')})`;
  }

  /** Everyone whom a row of the archive names. */
  #peopleOf(): string {
    const parts = [...this.#schema.keys()].flatMap((name) => {
      if (name === 'users' || name === 'portal_accounts') return [];
      const where = this.of(name);
      if (where === undefined) return [];
      return [...this.#references.get(name)!]
        .filter(([, parent]) => parent === 'users')
        .map(([column]) => `select ${column} from ${name} where ${where}`);
    });
    return parts.join(' union ');
  }
}
