/**
 * What browsers need of the package devalue, in whose format SvelteKit sends the data of pages: JSON with `undefined`, dates,
 * maps, sets and repeated values. The package also knows typed arrays, Temporal and more, which no page sends; it was a
 * twelfth of the scripts of a page. The service itself uses the package.
 */

type Revivers = Readonly<Record<string, (value: never) => unknown>>;

/** By the negative numbers that stand for them. */
const SPECIAL: Readonly<Record<string, unknown>> = {
  '-1': undefined,
  '-3': Number.NaN,
  '-4': Number.POSITIVE_INFINITY,
  '-5': Number.NEGATIVE_INFINITY,
  '-6': -0,
};
const SPECIALS = Object.entries(SPECIAL);
const HOLE = -2;

export const parse = (text: string, revivers?: Revivers): unknown => unflatten(JSON.parse(text), revivers);

/** Each value is in a list once, and refers to others by their places. */
export function unflatten(list: number | unknown[], revivers: Revivers = {}): unknown {
  if (typeof list === 'number') return SPECIAL[list];
  const made: unknown[] = [];
  const all = (places: readonly number[]) => places.map(at);
  const remember = <T>(place: number, value: T): T => {
    made[place] = value;
    return value;
  };

  function at(place: number): unknown {
    if (place < 0) return SPECIAL[place];
    if (place in made) return made[place];
    const value = list[place as never] as unknown;
    if (typeof value !== 'object' || value === null) return remember(place, value);
    if (!Array.isArray(value)) return filled(remember(place, {}), Object.entries(value as Record<string, number>));
    if (typeof value[0] === 'string') return named(place, value as [string, ...number[]]);
    const array = remember(place, new Array<unknown>(value.length));
    for (const [index, item] of (value as number[]).entries()) if (item !== HOLE) array[index] = at(item);
    return array;
  }

  function filled(object: Record<string, unknown>, entries: readonly (readonly [string, number])[]) {
    for (const [key, item] of entries) {
      if (key === '__proto__') throw new Error('A page sends no prototypes.');
      object[key] = at(item);
    }
    return object;
  }

  function named(place: number, [kind, ...rest]: [string, ...unknown[]]): unknown {
    const places = rest as number[];
    const revive = revivers[kind];
    if (revive) return remember(place, revive((typeof rest[0] === 'number' ? at(rest[0]) : rest[0]) as never));
    if (kind === 'Date') return remember(place, new Date(rest[0] as string));
    if (kind === 'Set') {
      const set = remember(place, new Set());
      for (const item of all(places)) set.add(item);
      return set;
    }
    if (kind === 'Map') {
      const map = remember(place, new Map());
      for (let index = 0; index < places.length; index += 2) map.set(at(places[index]!), at(places[index + 1]!));
      return map;
    }
    if (kind === 'null') {
      const entries = places.flatMap((_, index) =>
        index % 2 === 0 ? [[String(rest[index]), places[index + 1]!] as const] : [],
      );
      return filled(remember(place, Object.create(null)), entries);
    }
    throw new Error(`A page sends no ${kind}.`);
  }

  return at(0);
}

/** Browsers write the state of their own history alone, and read it themselves. */
export function stringify(value: unknown): string {
  const list: unknown[] = [];
  const put = (item: unknown): number => {
    const special = SPECIALS.find(([, each]) => Object.is(each, item));
    if (special) return Number(special[0]);
    const place = list.push(item) - 1;
    if (Array.isArray(item)) list[place] = item.map(put);
    else if (typeof item === 'object' && item !== null)
      list[place] = Object.fromEntries(Object.entries(item).map(([key, inner]) => [key, put(inner)]));
    return place;
  };
  const first = put(value);
  return JSON.stringify(first < 0 ? first : list);
}

/** The service writes pages, and no page calls remote functions. */
export function uneval(): never {
  throw new Error('Only the service writes scripts.');
}
export { uneval as stringifyAsync };
