import { LRUCache } from 'lru-cache';
import type { Changes, Database, Scope, Statement, Value } from './database.ts';

/** A value that was made of rows just read, under the id by which it is asked for. */
export interface Made<V> {
  readonly id: number;
  /** The versions of its rows on PostgreSQL. */
  readonly versions: string;
  /** What its rows change with. */
  readonly scopes: readonly Scope[];
  readonly value: V;
}

interface Kept<V> extends Omit<Made<V>, 'id'> {
  readonly surroundings: string;
  /** It was valid at this moment. */
  asOf: number;
}

type KeptValues<V> = LRUCache<number, Kept<V>>;

/** Reads `id versions` of each of these rows, separated by commas, as one text: rows would cost as much as the values. */
export type VersionsOf = (ids: readonly number[]) => {
  readonly statement: Statement;
  readonly values: readonly Value[];
};

export interface KeptReading<V> {
  readonly ids: readonly number[];
  /** Tells apart values that are made of the same rows, such as their language. */
  readonly variant: string;
  /** What the values say of things that neither versions nor scopes cover. */
  readonly surroundings: string;
  /** For PostgreSQL. Without it a value whose scopes have changed is made again. */
  readonly versions?: VersionsOf | undefined;
  /** On PostgreSQL some changes of these rows are announced late: the versions are read at every request. */
  readonly changesSilently?: true;
  readonly make: (ids: readonly number[]) => Promise<readonly Made<V>[]>;
}

const KEPT_BYTES_MAX = 16 * 1024 ** 2;
/** PostgreSQL reuses the numbers of versions after four billion transactions. */
const KEPT_MS = 3_600_000;
/** How often the cache asks for the time. */
const TTL_RESOLUTION_MS = 60_000;

/**
 * Values made of rows. One is valid until a scope of its rows changes, as a cached response is. A scope may be as large as a
 * game, so PostgreSQL, which gives every new version of a row another `xmin`, is asked then which rows did change: that
 * costs a third of reading them.
 */
export class KeptRows<V> {
  readonly #sizeOf: (value: V) => number;
  readonly #kept = new WeakMap<Changes, KeptValues<V>>();

  constructor(sizeOf: (value: V) => number) {
    this.#sizeOf = sizeOf;
  }

  /** The values of all rows that exist, by id, in no order. */
  async valuesOf(db: Database, reading: KeptReading<V>): Promise<Map<number, V>> {
    const { variant, surroundings, make } = reading;
    const kept = this.#keptOf(db.changes);
    const asOf = db.changes.now();
    const { found, unsure, stale } = sorted(db, kept, reading);
    for (const [id, versions] of unsure.size > 0 ? await versionsIn(db, reading, [...unsure.keys()]) : []) {
      const known = unsure.get(id)!;
      if (known.versions === versions) {
        known.asOf = asOf;
        found.set(id, known.value);
      } else stale.push(id);
    }
    for (const { id, ...made } of stale.length > 0 ? await make(stale) : []) {
      kept.set(keyOf(id, numberOf(variant)), { ...made, surroundings, asOf });
      found.set(id, made.value);
    }
    return found;
  }

  /** The value of one row on SQLite, which reads at once. */
  valueOf(db: Database, id: number, variant: string, make: () => Made<V> | undefined): V | undefined {
    const kept = this.#keptOf(db.changes);
    const key = keyOf(id, numberOf(variant));
    const known = kept.get(key);
    if (known && isUnchanged(db.changes, known)) return known.value;
    const asOf = db.changes.now();
    const made = make();
    if (made) kept.set(key, { ...made, surroundings: '', asOf });
    return made?.value;
  }

  #keptOf(changes: Changes): KeptValues<V> {
    const known = this.#kept.get(changes);
    if (known) return known;
    const made: KeptValues<V> = new LRUCache({
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

/** Of the wanted values: those that are current, those whose versions decide, and the ids of all others. */
function sorted<V>(db: Database, kept: KeptValues<V>, reading: KeptReading<V>) {
  const { ids, surroundings, versions, changesSilently } = reading;
  const variant = numberOf(reading.variant);
  const isVersioned = db.dialect === 'postgres' && versions !== undefined;
  const isAnnounced = !(isVersioned && changesSilently);
  const found = new Map<number, V>();
  const unsure = new Map<number, Kept<V>>();
  const stale: number[] = [];
  for (const id of ids) {
    const known = kept.get(keyOf(id, variant));
    if (known?.surroundings !== surroundings) stale.push(id);
    else if (isAnnounced && isUnchanged(db.changes, known)) found.set(id, known.value);
    else if (isVersioned) unsure.set(id, known);
    else stale.push(id);
  }
  return { found, unsure, stale };
}

function isUnchanged(changes: Changes, known: Kept<unknown>): boolean {
  const { asOf, scopes } = known;
  const isSo = scopes.every((scope) => changes.unchangedSince(asOf, scope));
  if (isSo) known.asOf = changes.now();
  return isSo;
}

/** More than languages and platforms make. */
const VARIANTS_MAX = 1_024;
const variants = new Map<string, number>();

function numberOf(variant: string): number {
  const known = variants.get(variant);
  if (known !== undefined) return known;
  const number = variants.size;
  if (number >= VARIANTS_MAX) throw new Error('too many variants of rows that are kept');
  variants.set(variant, number);
  return number;
}

/** A number, because making a text of each of a hundred ids costs a twentieth of a page. */
const keyOf = (id: number, variant: number): number => id * VARIANTS_MAX + variant;

async function versionsIn(
  db: Database,
  { versions }: KeptReading<unknown>,
  ids: readonly number[],
): Promise<[id: number, versions: string][]> {
  const { statement, values } = versions!(ids);
  const text = (await db.first<{ versions: string | null }>(statement, values))?.versions;
  const all = text ? text.split(',') : [];
  return all.map((each) => {
    const gap = each.indexOf(' ');
    return [Number(each.slice(0, gap)), each.slice(gap + 1)];
  });
}
