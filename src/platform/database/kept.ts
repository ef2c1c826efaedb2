import { LRUCache } from 'lru-cache';
import type { Changes, Database, Scope, Statement, Value } from './database.ts';

/** A value that was made of rows just read, under the id by which it is asked for. */
export interface Made<V> {
  readonly id: number;
  /** The versions of its rows on PostgreSQL. */
  readonly versions: string;
  /** What makes it stale on SQLite. */
  readonly scopes: readonly Scope[];
  readonly value: V;
}

interface Kept<V> extends Omit<Made<V>, 'id'> {
  readonly surroundings: string;
  /** Its rows were read after this moment. */
  readonly asOf: number;
}

export interface KeptReading<V> {
  readonly ids: readonly number[];
  /** Tells apart values that are made of the same rows, such as their language. */
  readonly variant: string;
  /** What the values say of things that neither versions nor scopes cover. */
  readonly surroundings: string;
  /**
   * On PostgreSQL, reads `id versions` of every wanted row, separated by commas, as one text: rows would cost as much as
   * the values. Without it nothing is kept there. A caller that has read the text with the ids passes it on.
   */
  readonly versions: { readonly statement: Statement; readonly values: readonly Value[] } | string | undefined;
  readonly make: (ids: readonly number[]) => Promise<readonly Made<V>[]>;
}

const KEPT_BYTES_MAX = 16 * 1024 ** 2;
/** PostgreSQL reuses the numbers of versions after four billion transactions. */
const KEPT_MS = 3_600_000;
/** How often the cache asks for the time. */
const TTL_RESOLUTION_MS = 60_000;

/**
 * Values made of rows. PostgreSQL gives every new version of a row another `xmin`; the versions are read at every request,
 * which costs a third of reading the rows. SQLite has no versions, but all processes that write it announce what they
 * changed before they answer, so there the scopes decide, as for cached responses.
 */
export class KeptRows<V> {
  readonly #sizeOf: (value: V) => number;
  readonly #kept = new WeakMap<Changes, LRUCache<string, Kept<V>>>();

  constructor(sizeOf: (value: V) => number) {
    this.#sizeOf = sizeOf;
  }

  /** The values of all rows that exist, by id, in no order. */
  async valuesOf(db: Database, reading: KeptReading<V>): Promise<Map<number, V>> {
    const { variant, surroundings, versions, make } = reading;
    const kept = this.#keptOf(db.changes);
    const asOf = db.changes.now();
    const { found, stale } = await this.#current(db, kept, reading);
    const isComparable = db.dialect === 'sqlite' || versions !== undefined;
    for (const { id, ...made } of stale.length > 0 ? await make(stale) : []) {
      if (isComparable) kept.set(`${id}/${variant}`, { ...made, surroundings, asOf });
      found.set(id, made.value);
    }
    return found;
  }

  /** The value of one row on SQLite, which reads at once. */
  valueOf(db: Database, id: number, variant: string, make: () => Made<V> | undefined): V | undefined {
    const kept = this.#keptOf(db.changes);
    const known = kept.get(`${id}/${variant}`);
    if (known && isUnchanged(db.changes, known)) return known.value;
    const asOf = db.changes.now();
    const made = make();
    if (made) kept.set(`${id}/${variant}`, { ...made, surroundings: '', asOf });
    return made?.value;
  }

  async #current(db: Database, kept: LRUCache<string, Kept<V>>, reading: KeptReading<V>) {
    const { ids, variant, surroundings, versions } = reading;
    const found = new Map<number, V>();
    const stale: number[] = [];
    const sort = (id: number, isCurrent: (known: Kept<V>) => boolean) => {
      const known = kept.get(`${id}/${variant}`);
      if (known?.surroundings === surroundings && isCurrent(known)) found.set(id, known.value);
      else stale.push(id);
    };
    if (db.dialect === 'sqlite') for (const id of ids) sort(id, (known) => isUnchanged(db.changes, known));
    else if (versions !== undefined)
      for (const [id, now] of await versionsIn(db, versions)) sort(id, (known) => known.versions === now);
    else stale.push(...ids);
    return { found, stale };
  }

  #keptOf(changes: Changes): LRUCache<string, Kept<V>> {
    const known = this.#kept.get(changes);
    if (known) return known;
    const made = new LRUCache<string, Kept<V>>({
      maxSize: KEPT_BYTES_MAX,
      sizeCalculation: ({ value }) => this.#sizeOf(value),
      ttl: KEPT_MS,
      ttlResolution: TTL_RESOLUTION_MS,
    });
    // After a lost connection the server may be another one, which numbers versions differently.
    changes.listen((scope) => {
      if (scope === undefined) made.clear();
    });
    this.#kept.set(changes, made);
    return made;
  }
}

const isUnchanged = (changes: Changes, { asOf, scopes }: Kept<unknown>): boolean =>
  scopes.every((scope) => changes.unchangedSince(asOf, scope));

async function versionsIn(
  db: Database,
  versions: NonNullable<KeptReading<unknown>['versions']>,
): Promise<[id: number, versions: string][]> {
  const text = typeof versions === 'string' ? versions : await readVersions(db, versions);
  const all = text ? text.split(',') : [];
  return all.map((each) => {
    const gap = each.indexOf(' ');
    return [Number(each.slice(0, gap)), each.slice(gap + 1)];
  });
}

async function readVersions(db: Database, { statement, values }: { statement: Statement; values: readonly Value[] }) {
  return (await db.first<{ versions: string | null }>(statement, values))?.versions;
}
